// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write events in Trace Event Format (JSON), for Perfetto and Chrome. Hosts are processes
 * ("pid"), and their tracks are threads ("tid"). Times are us since a base, because viewers store
 * them in a double:
 *
 *	{"ph":"X","pid":1,"tid":42,"ts":1.500,"dur":0.250,"cat":"...","name":"...","args":{}}
 *
 * The "ph" is X for a slice, i for an instant, s and f for the begin and end of a flow, and M for
 * the name of a track.
 */
#include <inttypes.h>
#include <json.h>
#include <string.h>

#include "common/json-writer.h"
#include "timeline.h"

/*
 * Duration of a packet, ns. A packet is a slice, because the ends of flows must be inside of
 * slices. The slice of a packet is the shortest possible one, so that packets never overlap,
 * whatever their order is.
 */
#define PACKET_NS 1

/* Integers up to this limit are exact in a double. Larger integers are written as text. */
#define MAX_EXACT (INT64_C(1) << 53)

/* Values of "tid" for tracks that do not belong to threads. Tracks of threads have track.number. */
enum {
	TID_STATE = TRACK_NUMBERS,
	TID_CPU = TRACK_NUMBERS * 2,
	TID_OUT = TRACK_NUMBERS * 3,
	TID_IN,
};

static uint32_t make_json_tid(struct track track)
{
	switch (track.kind) {
	case TRACK_OUT:
	case TRACK_SENT:
		return TID_OUT;
	case TRACK_IN:
	case TRACK_RECEIVED:
		return TID_IN;
	case TRACK_CPU:
		return TID_CPU + track.number;
	case TRACK_STATE:
		return TID_STATE + track.number;
	case TRACK_THREAD:
	case TRACK_OBJECT:
	case TRACK_HOST:
		break;
	}
	return track.number;
}

/* ---- writing ------------------------------------------------------------ */

static bool needs_no_escape(const char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~' || *text == '"' || *text == '\\')
			return false;
	return true;
}

/* Put a JSON string. */
static void put_json_text(FILE *out, const char *text)
{
	json_object *string;

	if (needs_no_escape(text)) {
		fprintf(out, "\"%s\"", text);
		return;
	}
	string = new_json_string(text);
	fputs(string ? json_object_to_json_string_ext(string, JSON_C_TO_STRING_NOSLASHESCAPE) :
		       "\"\"",
	      out);
	json_object_put(string);
}

static void put_json_integer(FILE *out, bool negative, uint64_t magnitude)
{
	const char *quote = magnitude > MAX_EXACT ? "\"" : "";

	fprintf(out, "%s%s%" PRIu64 "%s", quote, negative ? "-" : "", magnitude, quote);
}

static uint64_t get_magnitude(int64_t number)
{
	return number < 0 ? -(uint64_t)number : (uint64_t)number;
}

static void put_json_value(FILE *out, const struct arg *arg)
{
	switch (arg->kind) {
	case ARG_TEXT:
	case ARG_LABEL:
		put_json_text(out, arg->text);
		break;
	case ARG_BOOL:
		fputs(arg->truth ? "true" : "false", out);
		break;
	case ARG_UNSIGNED:
		put_json_integer(out, false, arg->number);
		break;
	case ARG_SIGNED:
		put_json_integer(out, arg->integer < 0, get_magnitude(arg->integer));
		break;
	case ARG_TIME:
		fprintf(out, "\"%" PRId64 "\"", arg->integer);
		break;
	case ARG_REAL:
		fprintf(out, "%.17g", arg->real);
		break;
	}
}

static void begin_json_event(struct timeline *timeline, char phase, struct track track)
{
	fprintf(timeline->out, "%s{\"ph\":\"%c\",\"pid\":%u,\"tid\":%u",
		timeline->own ? ",\n" : "\n", phase, track.host + 1, make_json_tid(track));
	/* If own is not NULL, a comma is needed before the next event. */
	timeline->own = timeline;
}

/* Put ns as us with three decimals. */
static void put_json_time(FILE *out, const char *key, bool negative, uint64_t ns)
{
	fprintf(out, ",\"%s\":%s%" PRIu64 ".%03u", key, negative ? "-" : "", ns / 1000,
		(unsigned int)(ns % 1000));
}

static void begin_json_event_at(struct timeline *timeline, char phase, struct track track,
				int64_t time_ns)
{
	const int64_t base = timeline->base_ns;
	const bool negative = time_ns < base;

	begin_json_event(timeline, phase, track);
	/* The difference between two times may need all 64 bits. */
	put_json_time(timeline->out, "ts", negative,
		      negative ? (uint64_t)base - (uint64_t)time_ns :
				 (uint64_t)time_ns - (uint64_t)base);
}

static void end_json_event(struct timeline *timeline, const struct timeline_event *event)
{
	FILE *out = timeline->out;

	fputs(",\"cat\":", out);
	put_json_text(out, event->category);
	fputs(",\"name\":", out);
	put_json_text(out, event->name);
	fputs(",\"args\":{", out);
	for (size_t i = 0; i < event->num_args; i++) {
		if (i)
			putc(',', out);
		put_json_text(out, event->args[i].name);
		putc(':', out);
		put_json_value(out, &event->args[i]);
	}
	fputs("}}", out);
}

/* ---- the format --------------------------------------------------------- */

static bool begin_json(struct timeline *timeline, const char *reference)
{
	fprintf(timeline->out,
		"{\"displayTimeUnit\":\"ns\",\"otherData\":{\"base_ns\":\"%" PRId64
		"\",\"reference\":",
		timeline->base_ns);
	put_json_text(timeline->out, reference);
	fputs(",\"made_by\":\"netsync " NETSYNC_VERSION "\"},\"traceEvents\":[", timeline->out);
	return true;
}

static bool begin_json_part(struct timeline *timeline, uint32_t number)
{
	(void)timeline;
	(void)number;
	return true;
}

static void name_json_track(struct timeline *timeline, struct track track, const char *name)
{
	if (track.kind == TRACK_SENT || track.kind == TRACK_RECEIVED)
		return;
	begin_json_event(timeline, 'M', track);
	fprintf(timeline->out, ",\"name\":\"%s\",\"args\":{\"name\":",
		track.kind == TRACK_HOST ? "process_name" : "thread_name");
	put_json_text(timeline->out, name);
	fputs("}}", timeline->out);
}

static void name_json_thread(struct timeline *timeline, const struct timeline_thread *thread)
{
	char name[TIMELINE_THREAD_NAME_SIZE];

	timeline_format_thread_name(name, thread);
	name_json_track(timeline, thread->track, name);
}

static void put_json_slice(struct timeline *timeline, const struct timeline_event *event,
			   int64_t end_ns)
{
	begin_json_event_at(timeline, 'X', event->track, event->time_ns);
	put_json_time(timeline->out, "dur", false, (uint64_t)end_ns - (uint64_t)event->time_ns);
	end_json_event(timeline, event);
}

static void put_json_instant(struct timeline *timeline, const struct timeline_event *event)
{
	begin_json_event_at(timeline, 'i', event->track, event->time_ns);
	fputs(",\"s\":\"t\"", timeline->out);
	end_json_event(timeline, event);
}

static void put_json_packet(struct timeline *timeline, const struct timeline_event *event)
{
	begin_json_event_at(timeline, 'X', event->track, event->time_ns);
	put_json_time(timeline->out, "dur", false, PACKET_NS);
	end_json_event(timeline, event);
}

/* Put a flow from the sent packet to the received packet. */
static void put_json_flow(struct timeline *timeline, const struct timeline_message *message)
{
	static const char flow[] = ",\"cat\":\"message\",\"name\":\"message\",\"id\":%" PRIu64
				   "%s}";

	begin_json_event_at(timeline, 's', message->sent, message->sent_ns);
	fprintf(timeline->out, flow, message->id, "");
	begin_json_event_at(timeline, 'f', message->received, message->received_ns);
	fprintf(timeline->out, flow, message->id, ",\"bp\":\"e\"");
}

static void flush_json(struct timeline *timeline)
{
	(void)timeline;
}

static void end_json(struct timeline *timeline)
{
	fputs("\n]}\n", timeline->out);
}

static void release_json(struct timeline *timeline)
{
	timeline->own = NULL;
}

const struct timeline_format trace_event_format = {
	.begin = begin_json,
	.begin_part = begin_json_part,
	.name = name_json_track,
	.thread = name_json_thread,
	.slice = put_json_slice,
	.instant = put_json_instant,
	.packet = put_json_packet,
	.message = put_json_flow,
	.flush = flush_json,
	.end = end_json,
	.release = release_json,
};
