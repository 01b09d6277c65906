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

#include "io/ctf/direct/walk.h"

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

struct ctf_walk {
	const struct metadata *metadata;
	const struct stream_type *stream;
	const uint8_t *data;
	uint64_t size;		 /* bytes */
	uint64_t next;		 /* offset of the next packet (bytes) */
	uint64_t dropped;	 /* number of bytes at the beginning that have been released */
	struct ctf_walk *behind; /* reader of the next file, or NULL */
	bool in_packet;
	struct ctf_packet packet;
	struct bit_cursor at;
	uint64_t clock;
	uint64_t wanted_from; /* packets that end before this time are skipped */
	struct walk_counts counts;
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
static bool read_packet_header(const struct ctf_walk *walk, struct bit_cursor *c,
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
	if (!is_packet_of_trace(walk->metadata, *c) ||
	    !type_visit_integers(walk->metadata->packet_header, c, use_packet_integer, &header))
		return false;
	stream = metadata_find_stream(walk->metadata, packet->stream_id);
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
static bool does_counter_go_back(const struct ctf_walk *walk, const struct ctf_packet *packet)
{
	const struct ctf_packet *last = &walk->packet;

	return walk->counts.packets &&
	       (packet->discarded < last->discarded || packet->number < last->number ||
		(packet->number == last->number && packet->number != NOTHING));
}

/*
 * Count losses since the last packet in @lost. Return WALK_LOST, or WALK_EVENT if nothing was lost.
 */
static int count_packet_losses(struct ctf_walk *walk, const struct ctf_packet *packet,
			       uint64_t *lost)
{
	const struct ctf_packet *last = &walk->packet;
	struct walk_counts *counts = &walk->counts;
	const bool is_first = !counts->packets;

	if (packet->number != NOTHING && !is_first && packet->begin >= walk->wanted_from)
		counts->lost_packets += packet->number - last->number - 1;
	if (packet->discarded == NOTHING || packet->discarded == (is_first ? 0 : last->discarded))
		return WALK_EVENT;
	/* The number of events lost before the first packet is not known. */
	*lost = is_first ? 0 : packet->discarded - last->discarded;
	counts->lost_events += is_first ? 1 : *lost;
	return WALK_LOST;
}

static struct bit_cursor make_walk_cursor(const struct ctf_walk *walk, uint64_t byte)
{
	return (struct bit_cursor){ .data = walk->data + byte,
				    .end = (walk->size - byte) * BYTE,
				    .slots = (uint64_t *)walk->slots };
}

/* Release the pages that were read, so that memory use does not grow with the file. */
static void drop_read_pages(struct ctf_walk *walk)
{
	const uint64_t end = walk->next & ~(uint64_t)(DROP_SIZE - 1);

	if (end <= walk->dropped)
		return;
	madvise((void *)(walk->data + walk->dropped), end - walk->dropped, MADV_DONTNEED);
	walk->dropped = end;
}

static bool is_packet_before_window(const struct ctf_walk *walk, const struct ctf_packet *packet)
{
	return packet->end < walk->wanted_from && packet->begin <= packet->end;
}

/* Start the next packet. Return the same values as walk_read_event(). */
static int begin_walk_packet(struct ctf_walk *walk, uint64_t *lost)
{
	struct bit_cursor c = make_walk_cursor(walk, walk->next);
	struct ctf_packet packet = { 0 };
	int ret = WALK_EVENT;

	if (!read_packet_header(walk, &c, &packet) || packet.stream_id != walk->stream->id ||
	    packet.instance != walk->packet.instance || does_counter_go_back(walk, &packet))
		return -EILSEQ;
	if (is_packet_before_window(walk, &packet))
		c.at = packet.content_bits;
	else
		ret = count_packet_losses(walk, &packet, lost);
	drop_read_pages(walk);
	walk->counts.packets++;
	walk->counts.events = 0;
	walk->packet = packet;
	walk->clock = packet.begin;
	walk->next += packet.bits / BYTE;
	c.end = packet.content_bits;
	walk->at = c;
	walk->in_packet = true;
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

static bool read_walked_event(struct ctf_walk *walk, struct walked *event)
{
	const struct stream_type *stream = walk->stream;
	struct event_head head = { .clock = walk->clock };
	struct bit_cursor c = walk->at;
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
	event->cpu = walk->packet.cpu;
	event->clock = head.clock;
	event->fields = c;
	/* If an event had size 0, reading would never end. */
	if (!skip_optional_type(type->fields, &c) || c.at == walk->at.at)
		return false;
	walk->at = c;
	walk->clock = head.clock;
	walk->counts.events++;
	return true;
}

static void unmap_stream_file(struct ctf_walk *walk)
{
	if (walk->data)
		munmap((void *)walk->data, walk->size);
	walk->data = NULL;
}

/* Continue with the next file. Return false if there is no next file. */
static bool continue_with_next_file(struct ctf_walk *walk)
{
	struct ctf_walk *behind = walk->behind;

	if (!behind)
		return false;
	unmap_stream_file(walk);
	walk->data = behind->data;
	walk->size = behind->size;
	walk->next = 0;
	walk->dropped = 0;
	walk->behind = behind->behind;
	free(behind);
	return true;
}

int walk_read_event(struct ctf_walk *walk, struct walked *event)
{
	int ret;

	while (!walk->in_packet || walk->at.at == walk->at.end) {
		walk->in_packet = false;
		if (walk->next == walk->size && !continue_with_next_file(walk))
			return WALK_END;
		ret = begin_walk_packet(walk, &event->lost);
		if (ret != WALK_EVENT)
			return ret;
	}
	return read_walked_event(walk, event) ? WALK_EVENT : -EILSEQ;
}

/* ---- public functions --------------------------------------------------- */

static bool map_stream_file(struct ctf_walk *walk, const char *path)
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
	walk->data = data;
	walk->size = st.st_size;
	return true;
}

struct ctf_walk *walk_new(const struct metadata *metadata, const char *path)
{
	struct ctf_walk *walk = calloc(1, sizeof(*walk) +
						  metadata->num_slots * sizeof(walk->slots[0]));
	struct ctf_packet first = { 0 };
	struct bit_cursor c;

	if (!walk)
		return NULL;
	walk->metadata = metadata;
	if (map_stream_file(walk, path)) {
		c = make_walk_cursor(walk, 0);
		if (read_packet_header(walk, &c, &first)) {
			walk->stream = metadata_find_stream(metadata, first.stream_id);
			walk->packet.instance = first.instance;
			return walk;
		}
	}
	walk_free(walk);
	return NULL;
}

void walk_free(struct ctf_walk *walk)
{
	while (walk) {
		struct ctf_walk *behind = walk->behind;

		unmap_stream_file(walk);
		free(walk);
		walk = behind;
	}
}

void walk_append(struct ctf_walk *walk, struct ctf_walk *behind)
{
	walk->behind = behind;
}

bool walk_get_times(const struct ctf_walk *walk, uint64_t *first, uint64_t *last)
{
	uint64_t next = 0;

	while (next < walk->size) {
		struct bit_cursor c = make_walk_cursor(walk, next);
		struct ctf_packet packet = { 0 };

		if (!read_packet_header(walk, &c, &packet) || (next && packet.begin < *last))
			return false;
		*last = packet.begin;
		if (!next)
			*first = packet.begin;
		next += packet.bits / BYTE;
	}
	return next;
}

void walk_identify(const struct ctf_walk *walk, uint64_t *stream_id, uint64_t *instance)
{
	*stream_id = walk->stream->id;
	*instance = walk->packet.instance;
}

void walk_set_begin(struct ctf_walk *walk, uint64_t clock)
{
	walk->wanted_from = clock;
}

bool walk_skip_counted(struct walk_counts *left, bool is_packet, bool is_event)
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

const struct walk_counts *walk_get_counts(const struct ctf_walk *walk)
{
	return &walk->counts;
}
