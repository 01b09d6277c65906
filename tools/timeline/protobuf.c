// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write events in Perfetto's own format (perfetto.proto, protocol buffers): a file of
 * packets, in blocks that are compressed with zlib. Within a sequence of packets, strings
 * are interned (written once, and then referred to by a number), and times are relative
 * to the previous packet:
 *
 *	| clocks, "state cleared" | event: +0 ns, 1 = "read" | event: +35 ns, 1 |
 */
#include <json.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "common/json-writer.h"
#include "protobuf.h"

typedef Perfetto__Protos__Trace Trace;
typedef Perfetto__Protos__TracePacketDefaults TracePacketDefaults;
typedef Perfetto__Protos__ClockSnapshot ClockSnapshot;
typedef Perfetto__Protos__ClockSnapshot__Clock Clock;
typedef Perfetto__Protos__TrackEvent TrackEvent;
typedef Perfetto__Protos__DebugAnnotation DebugAnnotation;
typedef Perfetto__Protos__InternedData InternedData;
typedef Perfetto__Protos__InternedString InternedString;

#define STATE_CLEARED PERFETTO__PROTOS__TRACE_PACKET__SEQUENCE_FLAGS__SEQ_INCREMENTAL_STATE_CLEARED
#define NEEDS_STATE PERFETTO__PROTOS__TRACE_PACKET__SEQUENCE_FLAGS__SEQ_NEEDS_INCREMENTAL_STATE
#define VALUE(name) PERFETTO__PROTOS__DEBUG_ANNOTATION__VALUE_##name

/*
 * Numbers of clocks. In Perfetto, 1 to 63 are clocks of the system, and 64 to 127 are clocks of a
 * sequence of packets. Corrected times are BOOTTIME, which viewers display. If the difference from
 * wall-clock time is known, wall-clock time is REALTIME, from which viewers compute the time of
 * day.
 */
enum {
	CLOCK_OF_DAY = TIMELINE_REALTIME,
	CLOCK_OF_TRACE = TIMELINE_BOOTTIME,
	CLOCK_DELTA = 64, /* clock of ns since the previous packet */
	CLOCK_BASE,	  /* clock of ns since sequence.base_ns */
};

/*
 * Maximum number of interned strings in a sequence. When the maximum is reached, all strings are
 * discarded to limit memory use. Chosen: they take some MB.
 */
#define MAX_STRINGS 32768

/*
 * Maximum number of bytes that are compressed together. Chosen: Perfetto requires less
 * than 512 KB.
 */
#define BLOCK 0x40000

/* Tables of interned strings. Each table has its own numbers. */
enum { CATEGORIES, NAMES, ARG_NAMES, ARG_VALUES, NUM_TABLES };

struct strings {
	struct lh_table *numbers;  /* maps text to its number */
	uint64_t last;		   /* last number that was assigned; numbers are never used again */
	InternedString *fresh;	   /* new strings, to be written with the next packet */
	InternedString **pointers; /* pointers to these strings, which protobuf-c needs */
	size_t num_fresh;
	size_t room; /* number of strings allocated */
};

struct sequence {
	uint32_t number;
	int64_t base_ns; /* zero of CLOCK_BASE, which is not negative */
	int64_t last_ns; /* time of CLOCK_DELTA, which is the time of the previous packet */
	struct strings strings[NUM_TABLES];
	DebugAnnotation *args; /* arguments of the current event */
	DebugAnnotation **arg_pointers;
	char **owned;	    /* texts that were converted to UTF-8; otherwise NULL */
	size_t room;	    /* number of args allocated */
	uint8_t *packed;    /* packets to be compressed */
	size_t num_packed;  /* number of bytes used */
	size_t packed_room; /* number of bytes allocated */
};

/* ---- writing ------------------------------------------------------------ */

/* Write a packet to @to, unless @to is NULL. Return the packet's size. */
static size_t pack_packet(TracePacket *packet, uint8_t *to)
{
	TracePacket *packets[] = { packet };
	Trace trace = PERFETTO__PROTOS__TRACE__INIT;

	/* If traces with one packet each are concatenated, the result is a trace of all packets. */
	trace.n_packet = 1;
	trace.packet = packets;
	return to ? perfetto__protos__trace__pack(&trace, to) :
		    perfetto__protos__trace__get_packed_size(&trace);
}

/* Compress the packed packets, and write them. Return false if out of memory. */
static bool put_compressed(struct timeline *timeline, const struct sequence *seq)
{
	TracePacket packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;
	uLongf size = compressBound(seq->num_packed);
	uint8_t *bytes = malloc(size), *packed = NULL;
	bool has_memory;
	/* Higher compression levels take far longer than everything else, and save little. */
	bool ok = bytes &&
		  compress2(bytes, &size, seq->packed, seq->num_packed, Z_BEST_SPEED) == Z_OK;

	packet.data_case = PERFETTO__PROTOS__TRACE_PACKET__DATA_COMPRESSED_PACKETS;
	packet.compressed_packets = (ProtobufCBinaryData){ size, bytes };
	if (ok)
		packed = malloc(pack_packet(&packet, NULL));
	has_memory = packed;
	/* If writing fails, closing the file reports the error. */
	if (packed)
		fwrite(packed, pack_packet(&packet, packed), 1, timeline->out);
	free(bytes);
	free(packed);
	return has_memory;
}

/* Write the packets that are to be compressed. */
static void flush_packed_packets(struct timeline *timeline)
{
	struct sequence *seq = timeline->own;

	if (!seq->num_packed)
		return;
	/* A single packet larger than a block is not compressed. */
	if (seq->num_packed > BLOCK)
		fwrite(seq->packed, seq->num_packed, 1, timeline->out);
	else if (!put_compressed(timeline, seq))
		timeline->failed = true;
	seq->num_packed = 0;
}

void protobuf_append_packet(struct timeline *timeline, TracePacket *packet)
{
	struct sequence *seq = timeline->own;
	const size_t size = pack_packet(packet, NULL);

	if (seq->num_packed + size > BLOCK)
		flush_packed_packets(timeline);
	if (seq->num_packed + size > seq->packed_room) {
		const size_t room = size > BLOCK ? size : BLOCK;
		uint8_t *more = realloc(seq->packed, room);

		if (!more) {
			timeline->failed = true;
			return;
		}
		seq->packed = more;
		seq->packed_room = room;
	}
	seq->num_packed += pack_packet(packet, seq->packed + seq->num_packed);
}

void protobuf_put_packet(struct timeline *timeline, TracePacket *packet)
{
	const struct sequence *seq = timeline->own;

	packet->has_trusted_packet_sequence_id = true;
	packet->trusted_packet_sequence_id = seq->number;
	packet->has_sequence_flags = true;
	if (!packet->sequence_flags)
		packet->sequence_flags = NEEDS_STATE;
	protobuf_append_packet(timeline, packet);
}

int64_t protobuf_shift_time(int64_t time_ns, int64_t shift_ns)
{
	int64_t shifted_ns;

	return __builtin_add_overflow(time_ns, shift_ns, &shifted_ns) ? INT64_MIN : shifted_ns;
}

static void set_packet_time(struct timeline *timeline, TracePacket *packet, int64_t time_ns)
{
	struct sequence *seq = timeline->own;

	time_ns = protobuf_shift_time(time_ns, timeline->shift_ns);
	packet->has_timestamp = true;
	/* Perfetto does not correct times without the number of a clock. */
	if (timeline->is_machine) {
		packet->timestamp = time_ns;
		return;
	}
	if (time_ns >= seq->last_ns) {
		packet->timestamp = time_ns - seq->last_ns;
		seq->last_ns = time_ns;
		return;
	}
	/* Relative times cannot be negative, so earlier times use another clock. */
	packet->has_timestamp_clock_id = true;
	packet->timestamp_clock_id = time_ns < seq->base_ns ? CLOCK_OF_TRACE : CLOCK_BASE;
	packet->timestamp = time_ns < seq->base_ns ? time_ns : time_ns - seq->base_ns;
}

/* ---- strings ------------------------------------------------------------ */

char *protobuf_make_text(const char *text, char **owned)
{
	json_object *string;

	*owned = NULL;
	for (const char *at = text; (signed char)*at > 0;)
		if (!*++at)
			return (char *)text;
	if (!*text)
		return (char *)text;
	string = new_json_string(text);
	if (string)
		*owned = strdup(json_object_get_string(string));
	json_object_put(string);
	return *owned;
}

static void free_string_entry(struct lh_entry *entry)
{
	free(lh_entry_k(entry));
}

static void forget_fresh_strings(struct strings *strings)
{
	while (strings->num_fresh)
		free(strings->fresh[--strings->num_fresh].str);
}

static bool add_new_string(struct strings *strings, const char *text)
{
	InternedString string = PERFETTO__PROTOS__INTERNED_STRING__INIT;
	char *owned;

	if (strings->num_fresh == strings->room) {
		const size_t room = strings->room * 2 + 8;
		InternedString *fresh = realloc(strings->fresh, room * sizeof(*fresh));
		InternedString **pointers;

		if (!fresh)
			return false;
		strings->fresh = fresh;
		pointers = realloc(strings->pointers, room * sizeof(*pointers));
		if (!pointers)
			return false;
		strings->pointers = pointers;
		strings->room = room;
		for (size_t i = 0; i < room; i++)
			pointers[i] = &fresh[i];
	}
	string.has_iid = true;
	string.iid = strings->last;
	string.str = protobuf_make_text(text, &owned);
	if (string.str && !owned)
		string.str = strdup(text);
	strings->fresh[strings->num_fresh] = string;
	strings->num_fresh += string.str != NULL;
	return string.str;
}

/* Return the number of a string. A new string is written with the next packet. */
static uint64_t intern_string(struct timeline *timeline, int table, const char *text)
{
	struct sequence *seq = timeline->own;
	struct strings *strings = &seq->strings[table];
	void *number;
	char *key;

	if (lh_table_lookup_ex(strings->numbers, text, &number))
		return (uintptr_t)number;
	key = strdup(text);
	strings->last++;
	if (!key || lh_table_insert(strings->numbers, key, (void *)(uintptr_t)strings->last)) {
		free(key);
		timeline->failed = true;
	} else if (!add_new_string(strings, text)) {
		timeline->failed = true;
	}
	return strings->last;
}

static bool make_string_tables(struct sequence *seq)
{
	for (int i = 0; i < NUM_TABLES; i++) {
		struct strings *strings = &seq->strings[i];

		if (strings->numbers)
			lh_table_free(strings->numbers);
		strings->numbers = lh_kchar_table_new(256, free_string_entry);
		if (!strings->numbers)
			return false;
	}
	return true;
}

/* ---- a sequence of packets ---------------------------------------------- */

static void set_snapshot_clock(Clock *clock, uint32_t id, int64_t time_ns)
{
	*clock = (Clock)PERFETTO__PROTOS__CLOCK_SNAPSHOT__CLOCK__INIT;
	clock->has_clock_id = true;
	clock->clock_id = id;
	clock->has_timestamp = true;
	clock->timestamp = time_ns;
	clock->has_is_incremental = id == CLOCK_DELTA;
	clock->is_incremental = id == CLOCK_DELTA;
}

static void put_state_cleared(struct timeline *timeline, TracePacket *packet, bool is_first)
{
	packet->sequence_flags = STATE_CLEARED;
	packet->has_first_packet_on_sequence = is_first;
	packet->first_packet_on_sequence = is_first;
	packet->has_previous_packet_dropped = is_first;
	packet->previous_packet_dropped = is_first;
	protobuf_put_packet(timeline, packet);
}

/* Put a packet that contains clocks and defaults, and resets strings and times. */
static void begin_clock_state(struct timeline *timeline, bool is_first)
{
	struct sequence *seq = timeline->own;
	TracePacketDefaults defaults = PERFETTO__PROTOS__TRACE_PACKET_DEFAULTS__INIT;
	ClockSnapshot snapshot = PERFETTO__PROTOS__CLOCK_SNAPSHOT__INIT;
	TracePacket packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;
	Clock clocks[4], *pointers[4];
	int64_t wall_ns = 0;
	const bool has_wall = timeline->has_wall &&
			      !__builtin_add_overflow(seq->last_ns, timeline->wall_shift_ns,
						      &wall_ns) &&
			      wall_ns >= 0;

	set_snapshot_clock(&clocks[0], CLOCK_OF_TRACE, seq->last_ns);
	set_snapshot_clock(&clocks[1], CLOCK_DELTA, seq->last_ns);
	set_snapshot_clock(&clocks[2], CLOCK_BASE, seq->last_ns - seq->base_ns);
	set_snapshot_clock(&clocks[3], CLOCK_OF_DAY, wall_ns);
	for (int i = 0; i < 4; i++)
		pointers[i] = &clocks[i];
	snapshot.n_clocks = has_wall ? 4 : 3;
	snapshot.clocks = pointers;
	defaults.has_timestamp_clock_id = true;
	defaults.timestamp_clock_id = CLOCK_DELTA;
	packet.data_case = PERFETTO__PROTOS__TRACE_PACKET__DATA_CLOCK_SNAPSHOT;
	packet.clock_snapshot = &snapshot;
	packet.trace_packet_defaults = &defaults;
	packet.has_timestamp = true;
	packet.timestamp = seq->last_ns;
	packet.has_timestamp_clock_id = true;
	packet.timestamp_clock_id = CLOCK_OF_TRACE;
	put_state_cleared(timeline, &packet, is_first);
}

/* Put a packet that resets strings and times. */
static void begin_sequence_state(struct timeline *timeline, bool is_first)
{
	TracePacket packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;

	/*
	 * If a file relates clocks, Perfetto converts its times only by these relations, and not by
	 * those in another file.
	 */
	if (timeline->is_machine)
		put_state_cleared(timeline, &packet, is_first);
	else
		begin_clock_state(timeline, is_first);
}

/* If there are MAX_STRINGS strings, discard all of them. */
static void limit_interned_strings(struct timeline *timeline)
{
	struct sequence *seq = timeline->own;
	int num = 0;

	for (int i = 0; i < NUM_TABLES; i++)
		num += lh_table_length(seq->strings[i].numbers);
	if (num < MAX_STRINGS)
		return;
	if (make_string_tables(seq))
		begin_sequence_state(timeline, false);
	else
		timeline->failed = true;
}

/* ---- events ------------------------------------------------------------- */

static bool reserve_annotations(struct sequence *seq, size_t num)
{
	DebugAnnotation *args;
	DebugAnnotation **pointers;
	char **owned;

	if (num <= seq->room)
		return true;
	args = realloc(seq->args, num * sizeof(*args));
	if (!args)
		return false;
	seq->args = args;
	pointers = realloc(seq->arg_pointers, num * sizeof(*pointers));
	if (!pointers)
		return false;
	seq->arg_pointers = pointers;
	owned = realloc(seq->owned, num * sizeof(*owned));
	if (!owned)
		return false;
	seq->owned = owned;
	for (size_t i = 0; i < num; i++)
		pointers[i] = &args[i];
	seq->room = num;
	return true;
}

static void set_annotation(struct timeline *timeline, const struct arg *arg, DebugAnnotation *to,
			   char **owned)
{
	*to = (DebugAnnotation)PERFETTO__PROTOS__DEBUG_ANNOTATION__INIT;
	*owned = NULL;
	to->has_name_iid = true;
	to->name_iid = intern_string(timeline, ARG_NAMES, arg->name);
	switch (arg->kind) {
	case ARG_TEXT:
		to->value_case = VALUE(STRING_VALUE);
		to->string_value = protobuf_make_text(arg->text, owned);
		timeline->failed = timeline->failed || !to->string_value;
		break;
	case ARG_LABEL:
		to->value_case = VALUE(STRING_VALUE_IID);
		to->string_value_iid = intern_string(timeline, ARG_VALUES, arg->text);
		break;
	case ARG_BOOL:
		to->value_case = VALUE(BOOL_VALUE);
		to->bool_value = arg->truth;
		break;
	case ARG_UNSIGNED:
		to->value_case = VALUE(UINT_VALUE);
		to->uint_value = arg->number;
		break;
	case ARG_SIGNED:
	case ARG_TIME:
		to->value_case = VALUE(INT_VALUE);
		to->int_value = arg->integer;
		break;
	case ARG_REAL:
		to->value_case = VALUE(DOUBLE_VALUE);
		to->double_value = arg->real;
		break;
	}
}

/* Put a packet with an event and its new strings. */
static void put_track_event(struct timeline *timeline, TrackEvent *event, struct track track,
			    int64_t time_ns)
{
	struct sequence *seq = timeline->own;
	TracePacket packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;
	InternedData data = PERFETTO__PROTOS__INTERNED_DATA__INIT;

	event->has_track_uuid = true;
	event->track_uuid = protobuf_make_uuid(track);
	event->has_type = true;
	packet.data_case = PERFETTO__PROTOS__TRACE_PACKET__DATA_TRACK_EVENT;
	packet.track_event = event;
	data.n_event_categories = seq->strings[CATEGORIES].num_fresh;
	data.event_categories = seq->strings[CATEGORIES].pointers;
	data.n_event_names = seq->strings[NAMES].num_fresh;
	data.event_names = seq->strings[NAMES].pointers;
	data.n_debug_annotation_names = seq->strings[ARG_NAMES].num_fresh;
	data.debug_annotation_names = seq->strings[ARG_NAMES].pointers;
	data.n_debug_annotation_string_values = seq->strings[ARG_VALUES].num_fresh;
	data.debug_annotation_string_values = seq->strings[ARG_VALUES].pointers;
	if (data.n_event_categories || data.n_event_names || data.n_debug_annotation_names ||
	    data.n_debug_annotation_string_values)
		packet.interned_data = &data;
	set_packet_time(timeline, &packet, time_ns);
	if (!timeline->failed)
		protobuf_put_packet(timeline, &packet);
	for (int i = 0; i < NUM_TABLES; i++)
		forget_fresh_strings(&seq->strings[i]);
}

/*
 * Put an event. @flow is 1 if the event begins the flow @flow_id, -1 if it ends the flow, and 0
 * without a flow.
 */
static void put_named_event(struct timeline *timeline, const struct timeline_event *event, int type,
			    int flow, uint64_t flow_id)
{
	struct sequence *seq = timeline->own;
	TrackEvent to = PERFETTO__PROTOS__TRACK_EVENT__INIT;
	uint64_t category;

	limit_interned_strings(timeline);
	if (!reserve_annotations(seq, event->num_args)) {
		timeline->failed = true;
		return;
	}
	category = intern_string(timeline, CATEGORIES, event->category);
	to.type = type;
	to.n_category_iids = 1;
	to.category_iids = &category;
	to.has_name_iid = true;
	to.name_iid = intern_string(timeline, NAMES, event->name);
	for (size_t i = 0; i < event->num_args; i++)
		set_annotation(timeline, &event->args[i], &seq->args[i], &seq->owned[i]);
	to.n_debug_annotations = event->num_args;
	to.debug_annotations = seq->arg_pointers;
	to.n_flow_ids = flow > 0;
	to.flow_ids = &flow_id;
	to.n_terminating_flow_ids = flow < 0;
	to.terminating_flow_ids = &flow_id;
	put_track_event(timeline, &to, event->track, event->time_ns);
	for (size_t i = 0; i < event->num_args; i++)
		free(seq->owned[i]);
}

/*
 * Return whether an event is before 1970. If so, count it. Such events are skipped, because times
 * in Perfetto are unsigned.
 */
static bool is_event_early(struct timeline *timeline, int64_t time_ns)
{
	const bool is_early = protobuf_shift_time(time_ns, timeline->shift_ns) < 0;

	timeline->num_early += is_early;
	return is_early;
}

static void put_track_instant(struct timeline *timeline, const struct timeline_event *event)
{
	if (!is_event_early(timeline, event->time_ns))
		put_named_event(timeline, event, PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_INSTANT,
				0, 0);
}

static void put_track_slice(struct timeline *timeline, const struct timeline_event *event,
			    int64_t end_ns)
{
	TrackEvent end = PERFETTO__PROTOS__TRACK_EVENT__INIT;

	if (is_event_early(timeline, event->time_ns))
		return;
	put_named_event(timeline, event, PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN, 0,
			0);
	end.type = PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_SLICE_END;
	put_track_event(timeline, &end, event->track, end_ns);
}

static void put_message_flow(struct timeline *timeline, const struct timeline_message *message)
{
	const struct arg to = { "to", ARG_LABEL, { message->to } };
	const struct arg from = { "from", ARG_LABEL, { message->from } };
	const struct timeline_event sent = {
		message->sent, message->sent_ns, "message", message->name, &to, 1,
	};
	const struct timeline_event received = {
		message->received, message->received_ns, "message", message->name, &from, 1,
	};

	if (is_event_early(timeline, message->sent_ns) ||
	    is_event_early(timeline, message->received_ns))
		return;
	put_named_event(timeline, &sent, PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_INSTANT, 1,
			message->id);
	put_named_event(timeline, &received, PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_INSTANT, -1,
			message->id);
}

/* ---- the format --------------------------------------------------------- */

static bool begin_sequence(struct timeline *timeline, uint32_t number)
{
	struct sequence *seq = timeline->own;

	seq->number = number + 1;
	seq->base_ns = timeline->base_ns < 0 ? 0 : timeline->base_ns;
	seq->last_ns = seq->base_ns;
	if (!make_string_tables(seq))
		return false;
	begin_sequence_state(timeline, true);
	return !timeline->failed;
}

static bool begin_protobuf(struct timeline *timeline, const char *reference)
{
	(void)reference;
	timeline->own = calloc(1, sizeof(struct sequence));
	return timeline->own && begin_sequence(timeline, 0);
}

bool protobuf_open_packets(struct timeline *timeline, FILE *out)
{
	*timeline = (struct timeline){ .format = &protobuf_format, .out = out };
	timeline->own = calloc(1, sizeof(struct sequence));
	return timeline->own;
}

static void release_sequence(struct timeline *timeline)
{
	struct sequence *seq = timeline->own;

	if (!seq)
		return;
	for (int i = 0; i < NUM_TABLES; i++) {
		forget_fresh_strings(&seq->strings[i]);
		if (seq->strings[i].numbers)
			lh_table_free(seq->strings[i].numbers);
		free(seq->strings[i].fresh);
		free(seq->strings[i].pointers);
	}
	free(seq->args);
	free(seq->arg_pointers);
	free(seq->owned);
	free(seq->packed);
	free(seq);
	timeline->own = NULL;
}

const struct timeline_format protobuf_format = {
	.begin = begin_protobuf,
	.begin_part = begin_sequence,
	.name = protobuf_name_track,
	.thread = protobuf_name_thread,
	.slice = put_track_slice,
	.instant = put_track_instant,
	.packet = put_track_instant,
	.message = put_message_flow,
	.sched = protobuf_put_sched,
	.flush = flush_packed_packets,
	.end = flush_packed_packets,
	.release = release_sequence,
};
