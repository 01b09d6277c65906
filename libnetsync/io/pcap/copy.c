// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Copy a capture with corrected times. Units of time coarser than 1 ns are changed to 1 ns, in the
 * header of a pcap file and in interface blocks.
 */
#include <byteswap.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/io.h"
#include "io/pcap/copy.h"

#define NS_PER_S 1000000000 /* ns in a second */

struct capture_copy {
	struct copy_task task;
	netsync_io_time_func time;
	void *data;
	struct capture_file capture;
	/*
	 * A second descriptor of the file, to read block data that are not in memory. A
	 * decompressed file is read from front to back with this descriptor, independently of the
	 * capture's own position.
	 */
	struct unpacked rest;
	FILE *out;
	/* The current section, if its header contains its length. */
	uint64_t section_at; /* offset in the copy (bytes); 0 if there is none */
	uint64_t section_len;
	int64_t grown; /* bytes inserted in this section, minus bytes omitted */
	uint64_t written;
};

/* ---- writing ------------------------------------------------------------- */

static int fail_capture_write(struct capture_copy *copy)
{
	return io_fail_file(copy->task.io, copy->task.to, -errno);
}

static int put_capture_bytes(struct capture_copy *copy, const void *bytes, size_t len)
{
	copy->written += len;
	if (fwrite(bytes, 1, len, copy->out) == len)
		return 0;
	return fail_capture_write(copy);
}

/* Write the block from offset @at on, including data that are not in memory. */
static int put_rest_of_block(struct capture_copy *copy, const struct capture_block *block,
			     size_t at)
{
	uint8_t bytes[4096];
	uint64_t from = block->loaded;
	int ret = put_capture_bytes(copy, block->bytes + at, block->loaded - at);

	while (!ret && from < block->size) {
		size_t wanted = block->size - from < sizeof(bytes) ? (size_t)(block->size - from) :
								     sizeof(bytes);
		ssize_t len = unpacked_read(&copy->rest, bytes, wanted, block->at + from);

		if (len <= 0)
			return io_fail_file(copy->task.io, copy->task.from, len ? (int)len : -EIO);
		from += (uint64_t)len;
		ret = put_capture_bytes(copy, bytes, (size_t)len);
	}
	return ret;
}

static void put_capture_u16(const struct capture_copy *copy, uint8_t *to, uint16_t value)
{
	value = copy->capture.swapped ? bswap_16(value) : value;
	memcpy(to, &value, sizeof(value));
}

static void put_capture_u32(const struct capture_copy *copy, uint8_t *to, uint32_t value)
{
	value = copy->capture.swapped ? bswap_32(value) : value;
	memcpy(to, &value, sizeof(value));
}

/* ---- times --------------------------------------------------------------- */

int compute_corrected_time(const struct new_times *of, const struct capture_file *capture,
			   const struct capture_interface *interface, uint64_t ticks,
			   int64_t *time_ns)
{
	int ret = -ERANGE;

	if (capture_convert_ticks(interface, ticks, time_ns))
		ret = of->time(of->data, *time_ns, time_ns);
	if (ret == -ERANGE)
		return io_fail(of->io, ret,
			       "%s: the time of the packet at byte %llu cannot be corrected.",
			       of->path, (unsigned long long)capture->next);
	return ret < 0 ? io_fail(of->io, ret, "%s: copying was stopped.", of->path) : ret;
}

/*
 * Return whether the interface's unit of time must be changed, because it is coarser than 1 ns or
 * binary.
 */
static bool is_unit_coarse(const struct capture_interface *interface)
{
	return interface->resolution & 0x80 || interface->resolution < RESOLUTION_NS;
}

static int correct_packet_time(struct capture_copy *copy, const struct capture_interface *interface,
			       uint64_t ticks, int64_t *time_ns)
{
	const struct new_times of = { copy->task.io, copy->task.from, copy->time, copy->data };

	return compute_corrected_time(&of, &copy->capture, interface, ticks, time_ns);
}

/* Correct a time. Return the same values as correct_packet_time(). The result is in ticks. */
static int correct_packet_ticks(struct capture_copy *copy, const struct capture_block *block,
				uint64_t ticks, uint64_t *new)
{
	const struct capture_interface *interface = block->interface;
	unsigned __int128 units = 1, value;
	int64_t time_ns;
	__int128 ns;
	const int what = correct_packet_time(copy, interface, ticks, &time_ns);

	if (what < 0)
		return what;
	ns = (__int128)time_ns - (__int128)interface->offset_s * NS_PER_S;
	if (!is_unit_coarse(interface))
		for (unsigned int i = RESOLUTION_NS;
		     i < interface->resolution && units < UINT64_MAX; i++)
			units *= 10;
	value = (unsigned __int128)ns * units + ticks % units;
	*new = (uint64_t)value;
	if (ns >= 0 && ns <= UINT64_MAX && units < UINT64_MAX && value == *new)
		return what;
	return io_fail(
		copy->task.io, -ERANGE,
		"%s: a corrected time cannot be represented at the timestamp resolution of the capture.",
		copy->task.from);
}

/* ---- blocks -------------------------------------------------------------- */

static int copy_pcap_record(struct capture_copy *copy, const struct capture_block *block)
{
	uint8_t stamp[8];
	int64_t time_ns;
	int ret = correct_packet_time(copy, block->interface, block->ticks, &time_ns);

	if (ret)
		return ret;
	if (time_ns < 0 || time_ns / NS_PER_S > UINT32_MAX)
		return io_fail(
			copy->task.io, -ERANGE,
			"%s: a corrected time is outside the years 1970 to 2106, the range of pcap timestamps.",
			copy->task.from);
	put_capture_u32(copy, stamp, (uint32_t)(time_ns / NS_PER_S));
	put_capture_u32(copy, stamp + 4, (uint32_t)(time_ns % NS_PER_S));
	ret = put_capture_bytes(copy, stamp, sizeof(stamp));
	return ret ? ret : put_rest_of_block(copy, block, sizeof(stamp));
}

static int copy_file_header(struct capture_copy *copy, const struct capture_block *block)
{
	uint8_t magic[4];
	int ret;

	put_capture_u32(copy, magic, CAPTURE_PCAP_NS);
	ret = put_capture_bytes(copy, magic, sizeof(magic));
	return ret ? ret : put_rest_of_block(copy, block, sizeof(magic));
}

static void put_capture_ticks(const struct capture_copy *copy, uint8_t *to, uint64_t ticks)
{
	put_capture_u32(copy, to, (uint32_t)(ticks >> 32));
	put_capture_u32(copy, to + 4, (uint32_t)ticks);
}

static int copy_packet_block(struct capture_copy *copy, const struct capture_block *block)
{
	const size_t at = block->time_at;
	uint8_t stamp[8];
	uint64_t ticks;
	int ret = correct_packet_ticks(copy, block, block->ticks, &ticks);

	if (ret)
		return ret;
	put_capture_ticks(copy, stamp, ticks);
	ret = put_capture_bytes(copy, block->bytes, at);
	if (!ret)
		ret = put_capture_bytes(copy, stamp, sizeof(stamp));
	return ret ? ret : put_rest_of_block(copy, block, at + sizeof(stamp));
}

/*
 * Copy interface statistics. The block and two of its options contain times. Statistics are never
 * skipped, because they are about the whole capture.
 */
static int copy_statistics_block(struct capture_copy *copy, struct capture_block *block)
{
	uint8_t *bytes = malloc(block->loaded);
	struct capture_option option;
	size_t at = block->options;
	uint64_t ticks;
	int ret;

	if (!bytes)
		return io_fail_no_memory(copy->task.io);
	memcpy(bytes, block->bytes, block->loaded);
	ret = correct_packet_ticks(copy, block, block->ticks, &ticks);
	if (ret >= 0)
		put_capture_ticks(copy, bytes + block->time_at, ticks);
	while (ret >= 0 && capture_next_option(&copy->capture, block, &at, &option)) {
		if ((option.code != OPTION_ISB_START && option.code != OPTION_ISB_END) ||
		    option.len != 8)
			continue;
		ret = correct_packet_ticks(copy, block,
					   capture_read_ticks(&copy->capture, option.value),
					   &ticks);
		if (ret >= 0)
			put_capture_ticks(copy, bytes + (option.value - block->bytes), ticks);
	}
	block->bytes = bytes;
	if (ret >= 0)
		ret = put_rest_of_block(copy, block, 0);
	free(bytes);
	return ret;
}

/* Sizes of an interface block before and after its options (bytes). */
#define INTERFACE_HEAD 16
#define TAIL 4

/*
 * Make an interface block with a time unit of 1 ns. The block is up to 12 bytes longer than the
 * original.
 */
static size_t raise_interface_resolution(const struct capture_copy *copy,
					 const struct capture_block *block, uint8_t *room)
{
	const uint8_t unit[4] = { RESOLUTION_NS };
	struct capture_option option;
	size_t at = block->options, from = at, len = INTERFACE_HEAD;

	memcpy(room, block->bytes, INTERFACE_HEAD);
	put_capture_u16(copy, room + len, OPTION_IF_TSRESOL);
	put_capture_u16(copy, room + len + 2, 1);
	memcpy(room + len + 4, unit, sizeof(unit));
	len += 8;
	for (; capture_next_option(&copy->capture, block, &at, &option); from = at) {
		if (option.code == OPTION_IF_TSRESOL)
			continue;
		memcpy(room + len, block->bytes + from, at - from);
		len += at - from;
	}
	/* The end of options. */
	memset(room + len, 0, 4);
	len += 4 + TAIL;
	put_capture_u32(copy, room + 4, (uint32_t)len);
	put_capture_u32(copy, room + len - TAIL, (uint32_t)len);
	return len;
}

static int copy_interface_block(struct capture_copy *copy, const struct capture_block *block)
{
	uint8_t *room;
	size_t len;
	int ret;

	if (!is_unit_coarse(block->interface))
		return put_rest_of_block(copy, block, 0);
	if (block->loaded < block->size)
		return io_fail(copy->task.io, -E2BIG,
			       "%s: an interface description is too long to rewrite.",
			       copy->task.from);
	room = malloc(block->loaded + 12);
	if (!room)
		return io_fail_no_memory(copy->task.io);
	len = raise_interface_resolution(copy, block, room);
	ret = put_capture_bytes(copy, room, len);
	copy->grown += (int64_t)len - (int64_t)block->size;
	free(room);
	return ret;
}

/* ---- sections ------------------------------------------------------------ */

#define SECTION_LENGTH 16 /* offset in the section's header */

/* Correct the length of a section. The section's header was written when the size was not known
 * yet. */
static int end_copied_section(struct capture_copy *copy)
{
	uint64_t len = copy->section_len + (uint64_t)copy->grown;

	if (!copy->section_at || !copy->grown)
		return 0;
	if (copy->capture.swapped)
		len = bswap_64(len);
	if (!fseeko(copy->out, (off_t)copy->section_at, SEEK_SET) &&
	    fwrite(&len, sizeof(len), 1, copy->out) == 1 && !fseeko(copy->out, 0, SEEK_END))
		return 0;
	return fail_capture_write(copy);
}

static int copy_section_block(struct capture_copy *copy, const struct capture_block *block)
{
	const uint64_t len = capture_read_u64(&copy->capture, block->bytes + SECTION_LENGTH);

	copy->section_at = len == UINT64_MAX ? 0 : copy->written + SECTION_LENGTH;
	copy->section_len = len;
	copy->grown = 0;
	return put_rest_of_block(copy, block, 0);
}

static int copy_timed_block(struct capture_copy *copy, const struct capture_block *block)
{
	const int ret = copy->capture.ng ? copy_packet_block(copy, block) :
					   copy_pcap_record(copy, block);

	if (ret != NETSYNC_IO_LEFT_OUT)
		return ret;
	copy->grown -= (int64_t)block->size;
	return 0;
}

static int copy_capture_block(struct capture_copy *copy, struct capture_block *block)
{
	switch (block->kind) {
	case CAPTURE_HEADER:
		return copy->capture.ng ? copy_section_block(copy, block) :
					  copy_file_header(copy, block);
	case CAPTURE_INTERFACE:
		return copy_interface_block(copy, block);
	case CAPTURE_PACKET:
		if (!block->has_time)
			return put_rest_of_block(copy, block, 0);
		return copy_timed_block(copy, block);
	case CAPTURE_STATISTICS:
		return copy_statistics_block(copy, block);
	default:
		return put_rest_of_block(copy, block, 0);
	}
}

static int copy_capture_blocks(struct capture_copy *copy)
{
	struct capture_block block;
	bool swapped = false;
	int ret;

	while ((ret = capture_next_block(&copy->capture, &block)) > 0) {
		const bool next = copy->capture.swapped;

		/* The length of the previous section has that section's byte order. */
		if (copy->capture.ng && block.kind == CAPTURE_HEADER && block.at) {
			copy->capture.swapped = swapped;
			ret = end_copied_section(copy);
			copy->capture.swapped = next;
			if (ret)
				return ret;
		}
		swapped = next;
		ret = copy_capture_block(copy, &block);
		if (ret)
			return ret;
	}
	if (ret == -EILSEQ) {
		io_warn(copy->task.io, "%s: copied only up to byte %llu (%s).", copy->task.from,
			(unsigned long long)copy->capture.next, copy->capture.damage);
		ret = 0;
	}
	return ret ? io_fail_file(copy->task.io, copy->task.from, ret) : end_copied_section(copy);
}

static int open_original_capture(struct capture_copy *copy)
{
	struct disk_file *from[] = { io_open_file(copy->task.io, copy->task.from),
				     io_open_file(copy->task.io, copy->task.from) };
	int ret = from[0] && from[1] ? 0 : -errno;

	/* Each of these functions closes its file, even on failure. */
	copy->capture.file.from = from[0];
	copy->rest.from = from[1];
	if (!ret)
		ret = capture_open(&copy->capture, from[0], UINT64_MAX);
	if (!ret)
		ret = unpacked_open(&copy->rest, from[1]);
	return ret ? io_fail_file(copy->task.io, copy->task.from, ret) : 0;
}

static int open_original_and_copy(struct capture_copy *copy)
{
	int ret = open_original_capture(copy), fd;

	if (ret)
		return ret;
	fd = io_create_copy(&copy->task, copy->rest.from->st.st_mode);
	if (fd < 0)
		return fd;
	copy->out = fdopen(fd, "w");
	if (copy->out)
		return 0;
	ret = fail_capture_write(copy);
	close(fd);
	return ret;
}

int netsync_io_copy_capture(struct netsync_io *io, const char *from, const char *to,
			    netsync_io_time_func time, void *data)
{
	struct capture_copy copy = { .task = { io, from, to }, .time = time, .data = data };
	int ret = open_original_and_copy(&copy);

	if (!ret)
		ret = copy_capture_blocks(&copy);
	if (copy.out && fclose(copy.out) && !ret)
		ret = fail_capture_write(&copy);
	capture_close(&copy.capture);
	unpacked_close(&copy.rest);
	return ret;
}
