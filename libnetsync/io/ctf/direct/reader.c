// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Read the events of CTF 1.8 stream files (specification, 5 and 6) in order, using the types of
 * their packets and events. Only the usual packet layout is supported. If another layout is found,
 * this reader ends, and libbabeltrace2 reports the error.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/ctf/direct/reader.h"

/* Magic number of a packet (CTF 1.8, 5.1). */
#define PACKET_MAGIC UINT32_C(0xC1FC1FC1)
#define BYTE 8 /* bits */
/* Number of bytes that are released at a time. A multiple of all page sizes. Chosen. */
#define DROP_SIZE (1 << 18)
#define NOTHING UINT64_MAX /* stands for a missing field */

/* Fields of a packet's header and context. */
struct ctf_packet {
	uint64_t magic, stream_id, instance;
	uint64_t content_bits, bits;
	uint64_t begin, end; /* cycles of the clock */
	uint64_t number, discarded;
	uint64_t cpu;
};

struct direct_reader {
	const struct metadata *metadata;
	const struct stream_type *stream;
	const uint8_t *data;
	uint64_t size;		      /* bytes */
	uint64_t next;		      /* offset of the next packet (bytes) */
	uint64_t dropped;	      /* number of bytes at the beginning that have been released */
	struct direct_reader *behind; /* reader of the next file, or NULL */
	bool in_packet;
	struct ctf_packet packet;
	struct bit_cursor at;
	uint64_t clock;
	uint64_t wanted_from; /* packets that end before this time are skipped */
	struct direct_counts counts;
	uint64_t slots[]; /* array of metadata.num_slots */
};

/* ---- packets ------------------------------------------------------------- */

/* Names of fields in a header or context, and the members that they set. */
struct named {
	const char *name;
	size_t at; /* offset of the member in struct ctf_packet */
	bool may_be_clock;
};

#define NAMED(name_, field_, clock_)                                                             \
	{                                                                                        \
		.name = name_, .at = offsetof(struct ctf_packet, field_), .may_be_clock = clock_ \
	}

static const struct named header_names[] = {
	NAMED("magic", magic, false),
	NAMED("stream_id", stream_id, false),
	NAMED("stream_instance_id", instance, false),
	{ NULL, 0, false },
};

static const struct named context_names[] = {
	NAMED("timestamp_begin", begin, true),
	NAMED("content_size", content_bits, false),
	NAMED("packet_size", bits, false),
	NAMED("packet_seq_num", number, false),
	NAMED("events_discarded", discarded, false),
	NAMED("cpu_id", cpu, false),
	/* libbabeltrace2 removes a leading underscore. */
	NAMED("_cpu_id", cpu, false),
	{ NULL, 0, false },
};

struct packet_taking {
	struct ctf_packet *packet;
	const struct named *names;
};

static bool use_packet_integer(void *data, const char *name, const struct ctf_type *type,
			       uint64_t value)
{
	const struct packet_taking *t = data;

	for (const struct named *n = t->names; n->name; n++) {
		if (strcmp(name, n->name))
			continue;
		memcpy((char *)t->packet + n->at, &value, sizeof(value));
		/* A clock with few bits would have to be completed from earlier packets. */
		return !type->is_signed &&
		       (n->may_be_clock ? type->is_clock && type->size == 64 : !type->is_clock);
	}
	if (strcmp(name, "timestamp_end"))
		return !type->is_clock;
	/* An end time with few bits is not needed. */
	if (type->is_clock && !type->is_signed && type->size == 64)
		t->packet->end = value;
	return true;
}

/* Return whether a packet has the uuid of the trace. */
static bool is_packet_of_trace(const struct metadata *metadata, struct bit_cursor c)
{
	const struct ctf_type *header = metadata->packet_header;
	size_t i = 0;

	while (i < header->num_members && strcmp(header->members[i].name, "uuid"))
		i++;
	if (i == header->num_members || !metadata->has_uuid)
		return true;
	if (header->members[i].type->kind != TYPE_ARRAY ||
	    header->members[i].type->size != UUID_SIZE * BYTE ||
	    !type_skip_to_member(header, &c, i) || c.end - c.at < UUID_SIZE * BYTE)
		return false;
	return !memcmp(c.data + c.at / BYTE, metadata->uuid, UUID_SIZE);
}

/* Read the header and context of the packet that begins at the cursor. */
static bool read_packet_header(const struct direct_reader *reader, struct bit_cursor *c,
			       struct ctf_packet *packet)
{
	struct packet_taking header = { packet, header_names };
	struct packet_taking context = { packet, context_names };
	const struct stream_type *stream;

	*packet = (struct ctf_packet){ .magic = PACKET_MAGIC,
				       .instance = NOTHING,
				       .content_bits = NOTHING,
				       .begin = NOTHING,
				       .end = NOTHING,
				       .number = NOTHING,
				       .discarded = NOTHING,
				       .cpu = NOTHING };
	if (!is_packet_of_trace(reader->metadata, *c) ||
	    !type_visit_integers(reader->metadata->packet_header, c, use_packet_integer, &header))
		return false;
	stream = metadata_find_stream(reader->metadata, packet->stream_id);
	return stream && packet->magic == PACKET_MAGIC &&
	       type_visit_integers(stream->packet_context, c, use_packet_integer, &context) &&
	       packet->begin != NOTHING && packet->bits % BYTE == 0 &&
	       packet->content_bits <= packet->bits && packet->bits <= c->end &&
	       c->at <= packet->content_bits;
}

/*
 * Return whether a counter decreases or a packet number occurs twice. If so, libbabeltrace2 reads
 * the rest.
 */
static bool does_counter_go_back(const struct direct_reader *reader,
				 const struct ctf_packet *packet)
{
	const struct ctf_packet *last = &reader->packet;

	return reader->counts.packets &&
	       (packet->discarded < last->discarded || packet->number < last->number ||
		(packet->number == last->number && packet->number != NOTHING));
}

/*
 * Count the losses between the last packet and @packet. Set *@lost to the number of lost events.
 * Return DIRECT_LOST if events were lost, otherwise DIRECT_EVENT.
 */
static int count_packet_losses(struct direct_reader *reader, const struct ctf_packet *packet,
			       uint64_t *lost)
{
	const struct ctf_packet *last = &reader->packet;
	struct direct_counts *counts = &reader->counts;
	const bool is_first = !counts->packets;

	if (packet->number != NOTHING && !is_first && packet->begin >= reader->wanted_from)
		counts->lost_packets += packet->number - last->number - 1;
	if (packet->discarded == NOTHING || packet->discarded == (is_first ? 0 : last->discarded))
		return DIRECT_EVENT;
	/* The number of events lost before the first packet is not known. */
	*lost = is_first ? 0 : packet->discarded - last->discarded;
	counts->lost_events += is_first ? 1 : *lost;
	return DIRECT_LOST;
}

static struct bit_cursor make_packet_cursor(const struct direct_reader *reader, uint64_t byte)
{
	return (struct bit_cursor){ .data = reader->data + byte,
				    .end = (reader->size - byte) * BYTE,
				    .slots = (uint64_t *)reader->slots };
}

/* Release the pages that were read, so that memory use does not grow with the file. */
static void drop_read_pages(struct direct_reader *reader)
{
	const uint64_t end = reader->next & ~(uint64_t)(DROP_SIZE - 1);

	if (end <= reader->dropped)
		return;
	madvise((void *)(reader->data + reader->dropped), end - reader->dropped, MADV_DONTNEED);
	reader->dropped = end;
}

static bool is_packet_before_window(const struct direct_reader *reader,
				    const struct ctf_packet *packet)
{
	return packet->end < reader->wanted_from && packet->begin <= packet->end;
}

/* Start the next packet. Return the same values as direct_reader_read_event(). */
static int begin_direct_packet(struct direct_reader *reader, uint64_t *lost)
{
	struct bit_cursor c = make_packet_cursor(reader, reader->next);
	struct ctf_packet packet = { 0 };
	int ret = DIRECT_EVENT;

	if (!read_packet_header(reader, &c, &packet) || packet.stream_id != reader->stream->id ||
	    packet.instance != reader->packet.instance || does_counter_go_back(reader, &packet))
		return -EILSEQ;
	if (is_packet_before_window(reader, &packet))
		c.at = packet.content_bits;
	else
		ret = count_packet_losses(reader, &packet, lost);
	drop_read_pages(reader);
	reader->counts.packets++;
	reader->counts.events = 0;
	reader->packet = packet;
	reader->clock = packet.begin;
	reader->next += packet.bits / BYTE;
	c.end = packet.content_bits;
	reader->at = c;
	reader->in_packet = true;
	return ret;
}

/* ---- events -------------------------------------------------------------- */

struct event_head {
	uint64_t id;
	uint64_t clock;
};

/* Complete a clock value, of which the low @bits were recorded. The clock never goes back. */
static uint64_t extend_partial_clock(uint64_t clock, uint64_t part, uint64_t bits)
{
	uint64_t mask;

	if (bits == 64)
		return part;
	mask = (UINT64_C(1) << bits) - 1;
	return (clock & ~mask) + (part < (clock & mask) ? mask + 1 : 0) + part;
}

static bool use_event_head_integer(void *data, const char *name, const struct ctf_type *type,
				   uint64_t value)
{
	struct event_head *head = data;

	if (!strcmp(name, "id"))
		head->id = value;
	if (type->is_clock)
		head->clock = extend_partial_clock(head->clock, value, type->size);
	return !(type->is_clock && type->is_signed);
}

static bool skip_optional_type(const struct ctf_type *type, struct bit_cursor *c)
{
	return !type || type_skip(type, c);
}

static bool read_direct_event(struct direct_reader *reader, struct direct_event *event)
{
	const struct stream_type *stream = reader->stream;
	struct event_head head = { .clock = reader->clock };
	struct bit_cursor c = reader->at;
	const struct ctf_event_type *type;

	if (!type_visit_integers(stream->event_header, &c, use_event_head_integer, &head) ||
	    head.id >= stream->num_events || !stream->events[head.id])
		return false;
	type = stream->events[head.id];
	event->context = c;
	if (!skip_optional_type(stream->event_context, &c))
		return false;
	event->specific = c;
	if (!skip_optional_type(type->context, &c))
		return false;
	event->type = type;
	event->common = stream->event_context;
	event->cpu = reader->packet.cpu;
	event->clock = head.clock;
	event->fields = c;
	/* If an event had size 0, reading would never end. */
	if (!skip_optional_type(type->fields, &c) || c.at == reader->at.at)
		return false;
	reader->at = c;
	reader->clock = head.clock;
	reader->counts.events++;
	return true;
}

static void unmap_stream_file(struct direct_reader *reader)
{
	if (reader->data)
		munmap((void *)reader->data, reader->size);
	reader->data = NULL;
}

/* Continue with the next file. Return false if there is no next file. */
static bool continue_with_next_file(struct direct_reader *reader)
{
	struct direct_reader *behind = reader->behind;

	if (!behind)
		return false;
	unmap_stream_file(reader);
	reader->data = behind->data;
	reader->size = behind->size;
	reader->next = 0;
	reader->dropped = 0;
	reader->behind = behind->behind;
	free(behind);
	return true;
}

int direct_reader_read_event(struct direct_reader *reader, struct direct_event *event)
{
	int ret;

	while (!reader->in_packet || reader->at.at == reader->at.end) {
		reader->in_packet = false;
		if (reader->next == reader->size && !continue_with_next_file(reader))
			return DIRECT_END;
		ret = begin_direct_packet(reader, &event->lost);
		if (ret != DIRECT_EVENT)
			return ret;
	}
	return read_direct_event(reader, event) ? DIRECT_EVENT : -EILSEQ;
}

/* ---- public functions --------------------------------------------------- */

static bool map_stream_file(struct direct_reader *reader, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *data = MAP_FAILED;

	if (fd < 0)
		return false;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0 &&
	    (uint64_t)st.st_size <= SIZE_MAX / BYTE)
		data = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (data == MAP_FAILED)
		return false;
	/* The page cache may have the file in pages of 2 MiB, of which parts cannot be released. */
	madvise(data, st.st_size, MADV_NOHUGEPAGE);
	reader->data = data;
	reader->size = st.st_size;
	return true;
}

struct direct_reader *direct_reader_new(const struct metadata *metadata, const char *path)
{
	struct direct_reader *reader = calloc(
		1, sizeof(*reader) + metadata->num_slots * sizeof(reader->slots[0]));
	struct ctf_packet first = { 0 };
	struct bit_cursor c;

	if (!reader)
		return NULL;
	reader->metadata = metadata;
	if (map_stream_file(reader, path)) {
		c = make_packet_cursor(reader, 0);
		if (read_packet_header(reader, &c, &first)) {
			reader->stream = metadata_find_stream(metadata, first.stream_id);
			reader->packet.instance = first.instance;
			return reader;
		}
	}
	direct_reader_free(reader);
	return NULL;
}

void direct_reader_free(struct direct_reader *reader)
{
	while (reader) {
		struct direct_reader *behind = reader->behind;

		unmap_stream_file(reader);
		free(reader);
		reader = behind;
	}
}

void direct_reader_append(struct direct_reader *reader, struct direct_reader *behind)
{
	reader->behind = behind;
}

bool direct_reader_get_times(const struct direct_reader *reader, uint64_t *first, uint64_t *last)
{
	uint64_t next = 0;

	while (next < reader->size) {
		struct bit_cursor c = make_packet_cursor(reader, next);
		struct ctf_packet packet = { 0 };

		if (!read_packet_header(reader, &c, &packet) || (next && packet.begin < *last))
			return false;
		*last = packet.begin;
		if (!next)
			*first = packet.begin;
		next += packet.bits / BYTE;
	}
	return next;
}

void direct_reader_identify(const struct direct_reader *reader, uint64_t *stream_id,
			    uint64_t *instance)
{
	*stream_id = reader->stream->id;
	*instance = reader->packet.instance;
}

void direct_reader_set_begin(struct direct_reader *reader, uint64_t clock)
{
	reader->wanted_from = clock;
}

bool direct_counts_skip(struct direct_counts *left, bool is_packet, bool is_event)
{
	if (left->packets) {
		left->packets -= is_packet;
		return true;
	}
	if (!left->events)
		return false;
	left->events -= is_event;
	return true;
}

const struct direct_counts *direct_reader_get_counts(const struct direct_reader *reader)
{
	return &reader->counts;
}
