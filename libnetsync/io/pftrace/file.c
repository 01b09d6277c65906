// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Read the packets of a file in Perfetto's format. The file is one message, Trace, whose only field
 * are the packets. A packet may contain other packets, which are compressed:
 *
 *	| 1: packet | 1: packet { 50: zlib of | 1: packet | 1: packet | } | 1: packet
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/pftrace/file.h"
#include "io/pftrace/wire.h"

/* Number of the field Trace.packet. */
#define TRACE_PACKET 1
/* Size of the key and the length that precede a packet, at most, in bytes. */
#define MAX_PREFIX (2 * LEB128_MAX)
/* Initial size of buffers, in bytes. Chosen. */
#define FIRST_ROOM (1 << 16)

static const char ends_early[] = "it ends within a packet";

int pftrace_open(struct pftrace_file *file, struct netsync_io *io, const char *path)
{
	*file = (struct pftrace_file){ 0 };
	return io_open_unpacked(io, path, &file->file);
}

void pftrace_close(struct pftrace_file *file)
{
	unpacked_close(&file->file);
	free(file->buffer);
	free(file->inner);
	*file = (struct pftrace_file){ 0 };
}

static int fail_pftrace(struct pftrace_file *file, const char *problem)
{
	file->problem = problem;
	return -EILSEQ;
}

/* ---- bytes ------------------------------------------------------------------ */

static bool grow_bytes(uint8_t **bytes, size_t *room, size_t size)
{
	size_t more = *room ? *room : FIRST_ROOM;
	uint8_t *bigger;

	if (size <= *room)
		return true;
	while (more < size)
		more *= 2;
	bigger = realloc(*bytes, more);
	if (!bigger)
		return false;
	*bytes = bigger;
	*room = more;
	return true;
}

/*
 * Make @size unused bytes available, if the file has that many. Return the number of available
 * bytes, or a negative errno value.
 */
static ssize_t fill_pftrace_buffer(struct pftrace_file *file, size_t size)
{
	if (file->have - file->used >= size)
		return (ssize_t)(file->have - file->used);
	if (file->used)
		memmove(file->buffer, file->buffer + file->used, file->have - file->used);
	file->at += file->used;
	file->have -= file->used;
	file->used = 0;
	if (!grow_bytes(&file->buffer, &file->room, size))
		return -ENOMEM;
	while (file->have < size) {
		const ssize_t len = unpacked_read(&file->file, file->buffer + file->have,
						  file->room - file->have, file->at + file->have);

		if (len == -EILSEQ)
			return fail_pftrace(file, file->file.damage);
		if (len < 0)
			return len;
		if (!len)
			break;
		file->have += (size_t)len;
	}
	return (ssize_t)file->have;
}

/* ---- compressed packets ------------------------------------------------------ */

/* Decompress packets. Return 0, -EILSEQ, -ENOSYS or -ENOMEM. */
static int unpack_packets(struct pftrace_file *file, const struct wire_field *field)
{
	struct decoding d = { .in = field->bytes, .in_size = field->value, .is_last = true };
	void *decoder;
	size_t size = 0;
	int ret = 0;

	if (!gzip_compression.begin)
		return -ENOSYS;
	decoder = gzip_compression.begin();
	if (!decoder)
		return -ENOMEM;
	while (!ret) {
		const size_t before = d.in_size;

		if (!grow_bytes(&file->inner, &file->inner_room, size + FIRST_ROOM)) {
			ret = -ENOMEM;
			break;
		}
		d.out = file->inner + size;
		d.out_size = file->inner_room - size;
		ret = gzip_compression.decode(decoder, &d);
		if (!ret && (size + FIRST_ROOM > PFTRACE_MAX_PACKET ||
			     (d.in_size == before && d.out == file->inner + size)))
			ret = -EILSEQ;
		size = (size_t)(d.out - file->inner);
	}
	gzip_compression.end(decoder);
	file->rest = bytes_take_all(file->inner, ret > 0 ? size : 0);
	if (ret == -EILSEQ)
		return fail_pftrace(file, "packets cannot be decompressed");
	return ret < 0 ? ret : 0;
}

/* If a packet contains compressed packets, decompress them. Return 1 if it does; 0; or an error. */
static int open_compressed_packet(struct pftrace_file *file, struct bytes_take packet)
{
	struct wire_field field;
	int ret;

	while (wire_take_field(&packet, &field)) {
		if (!wire_is_bytes(&field, PFTRACE_COMPRESSED))
			continue;
		ret = unpack_packets(file, &field);
		return ret ? ret : 1;
	}
	return 0;
}

/* ---- packets ---------------------------------------------------------------- */

/* Get the next packet of those that were decompressed. Return 1; 0; or -EILSEQ. */
static int next_inner_packet(struct pftrace_file *file, struct bytes_take *packet)
{
	struct wire_field field;

	while (wire_take_field(&file->rest, &field)) {
		if (!wire_is_bytes(&field, TRACE_PACKET))
			continue;
		*packet = wire_open_message(&field);
		return 1;
	}
	return file->rest.bad ? fail_pftrace(file, "its compressed packets are invalid") : 0;
}

/* Get the next packet of the file itself. */
static int next_outer_packet(struct pftrace_file *file, struct bytes_take *packet)
{
	const ssize_t have = fill_pftrace_buffer(file, MAX_PREFIX);
	struct bytes_take prefix;
	uint64_t key, size;
	size_t length;

	if (have <= 0)
		return (int)have;
	prefix = bytes_take_all(file->buffer + file->used, (size_t)have);
	key = bytes_take_number(&prefix);
	size = bytes_take_number(&prefix);
	if (prefix.bad)
		return fail_pftrace(file, ends_early);
	if (key != (TRACE_PACKET << 3 | WIRE_BYTES))
		return fail_pftrace(file, "no packet begins there");
	if (size > PFTRACE_MAX_PACKET)
		return fail_pftrace(file, "a packet there has more than 16 MiB");
	length = (size_t)(prefix.at - (file->buffer + file->used)) + size;
	if (fill_pftrace_buffer(file, length) < 0)
		return file->problem ? -EILSEQ : -ENOMEM;
	if (file->have - file->used < length)
		return fail_pftrace(file, ends_early);
	*packet = bytes_take_all(file->buffer + file->used + length - size, size);
	file->used += length;
	return 1;
}

int pftrace_next_packet(struct pftrace_file *file, struct bytes_take *packet)
{
	int ret = next_inner_packet(file, packet);

	while (!ret) {
		ret = next_outer_packet(file, packet);
		if (ret <= 0)
			return ret;
		ret = open_compressed_packet(file, *packet);
		if (ret < 0)
			return ret;
		if (!ret)
			return 1;
		ret = next_inner_packet(file, packet);
	}
	return ret;
}

/*
 * Return whether the fields of a packet of @length bytes fit into it, as far as the bytes are known.
 * Set @take->bad if the packet ends after the known bytes.
 */
static bool has_packet_fields(struct bytes_take *take, uint64_t length)
{
	const uint8_t *begin = take->at;

	while (!take->bad && (uint64_t)(take->at - begin) < length) {
		const uint64_t left = length - (uint64_t)(take->at - begin);
		struct bytes_take all = *take;
		struct wire_field field;
		uint64_t key, size;

		if (wire_take_field(take, &field))
			continue;
		/* The field exceeds the known bytes, or is invalid. */
		key = bytes_take_number(&all);
		size = bytes_take_number(&all);
		return all.bad || ((key & 7) == WIRE_BYTES && key >> 3 && size < left);
	}
	return take->bad || (uint64_t)(take->at - begin) == length;
}

bool pftrace_is_head(const uint8_t *head, size_t size)
{
	/* First fields of TracePacket in the first packet of a file. */
	static const uint16_t known[] = { 6, 8, 10, 11, 33, 36, 45, 50, 60, 89 };
	struct bytes_take take = bytes_take_all(head, size), first;
	const uint64_t key = bytes_take_number(&take);
	const uint64_t length = bytes_take_number(&take);
	uint64_t number;
	bool is_known = false;

	first = take;
	number = bytes_take_number(&first) >> 3;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		is_known |= number == known[i];
	if (first.bad || !is_known || key != (TRACE_PACKET << 3 | WIRE_BYTES) ||
	    !has_packet_fields(&take, length))
		return false;
	/* Another packet follows, or the file ends. */
	return take.bad || take.at == take.end || *take.at == key;
}
