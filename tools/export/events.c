// SPDX-License-Identifier: GPL-2.0-only
/*
 * All events of CTF traces, as instants on a thread for each CPU. Their order does
 * not matter.
 */
#include <babeltrace2/babeltrace.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "babeltrace/fields.h"
#include "ctf-source.h"
#include "perfetto.h"

/* What a double holds exactly. */
#define MAX_EXACT (INT64_C(1) << 53)

/* How who reads a trace ends: so, or with the errno of writing, or 0. */
#define CANNOT_READ 255

struct reader {
	struct perfetto *p;
	const struct netsync_io_trace *trace;
};

/* ---- fields ------------------------------------------------------------ */

static void put_integer(FILE *out, bool negative, uint64_t magnitude)
{
	const char *quote = magnitude > MAX_EXACT ? "\"" : "";

	fprintf(out, "%s%s%" PRIu64 "%s", quote, negative ? "-" : "", magnitude,
		quote);
}

static bool is_real(bt_field_class_type type)
{
	return bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_REAL);
}

static double real_value(const bt_field *field)
{
	return bt_field_get_class_type(field) ==
	       BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL ?
	       bt_field_real_single_precision_get_value(field) :
	       bt_field_real_double_precision_get_value(field);
}

/* What has parts is left out, and what JSON has no number for. */
static bool has_value(const bt_field *field)
{
	const bt_field_class_type type = bt_field_get_class_type(field);

	return type == BT_FIELD_CLASS_TYPE_BOOL ||
	       type == BT_FIELD_CLASS_TYPE_STRING ||
	       bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_INTEGER) ||
	       (is_real(type) && isfinite(real_value(field)));
}

static void put_value(FILE *out, const bt_field *field)
{
	const bt_field_class_type type = bt_field_get_class_type(field);
	int64_t number;

	if (type == BT_FIELD_CLASS_TYPE_BOOL) {
		fputs(bt_field_bool_get_value(field) ? "true" : "false", out);
	} else if (type == BT_FIELD_CLASS_TYPE_STRING) {
		perfetto_text(out, field_string(field));
	} else if (is_real(type)) {
		fprintf(out, "%.17g", real_value(field));
	} else if (bt_field_class_type_is(type,
					  BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER)) {
		put_integer(out, false,
			    bt_field_integer_unsigned_get_value(field));
	} else {
		number = bt_field_integer_signed_get_value(field);
		put_integer(out, number < 0,
			    number < 0 ? -(uint64_t)number : (uint64_t)number);
	}
}

static void put_args(FILE *out, const bt_field *payload)
{
	const bt_field_class *class = payload ?
		bt_field_borrow_class_const(payload) : NULL;
	uint64_t num = class ?
		bt_field_class_structure_get_member_count(class) : 0;
	const char *comma = "";

	fputs(",\"args\":{", out);
	for (uint64_t i = 0; i < num; i++) {
		const bt_field *field =
			bt_field_structure_borrow_member_field_by_index_const(
				payload, i);

		if (!has_value(field))
			continue;
		fputs(comma, out);
		perfetto_text(out, bt_field_class_structure_member_get_name(
			bt_field_class_structure_borrow_member_by_index_const(
				class, i)));
		putc(':', out);
		put_value(out, field);
		comma = ",";
	}
	putc('}', out);
}

/* ---- events ------------------------------------------------------------ */

static uint32_t thread_of(const bt_event *event)
{
	const bt_stream *stream = bt_event_borrow_stream_const(event);
	const bt_field *context = NULL, *cpu = NULL;

	if (bt_stream_class_supports_packets(
		    bt_stream_borrow_class_const(stream)))
		context = bt_packet_borrow_context_field_const(
			bt_event_borrow_packet_const(event));
	if (context)
		cpu = bt_field_structure_borrow_member_field_by_name_const(
			context, "cpu_id");
	if (!cpu || !bt_field_class_type_is(bt_field_get_class_type(cpu),
					    BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER))
		return THREAD_CPU;
	return THREAD_CPU + (uint32_t)bt_field_integer_unsigned_get_value(cpu);
}

/* @named: the last thread of the stream that has a name */
static void put_event(const struct reader *reader, uint32_t *named,
		      const bt_event *event, int64_t t)
{
	const uint32_t host = reader->trace->host;
	const uint32_t thread = thread_of(event);
	struct perfetto *p = reader->p;
	const char *name;
	char cpu[24];

	if (*named != thread) {
		snprintf(cpu, sizeof(cpu), "CPU %u", thread - THREAD_CPU);
		perfetto_name_thread(p, host, thread, cpu);
		*named = thread;
	}
	name = bt_event_class_get_name(bt_event_borrow_class_const(event));
	perfetto_begin_at(p, 'i', host, thread, t);
	fputs(",\"s\":\"t\",\"cat\":\"event\",\"name\":", p->out);
	perfetto_text(p->out, name ? name : "event");
	put_args(p->out, bt_event_borrow_payload_field_const(event));
	perfetto_end(p);
}

static bool take_message(void *data, uint32_t *named, const bt_message *message)
{
	const struct reader *reader = data;
	const bt_event *event;
	int64_t t;

	if (bt_message_get_type(message) != BT_MESSAGE_TYPE_EVENT)
		return true;
	event = bt_message_event_borrow_event_const(message);
	if (!bt_stream_class_borrow_default_clock_class_const(
		    bt_stream_borrow_class_const(
			    bt_event_borrow_stream_const(event))))
		return true;
	if (bt_clock_snapshot_get_ns_from_origin(
		    bt_message_event_borrow_default_clock_snapshot_const(
			    message), &t)) {
		bt_current_thread_clear_error();
		return true;
	}
	if (!__builtin_add_overflow(t, reader->trace->shift_ns, &t) &&
	    export_time(&reader->p->export->hosts[reader->trace->host], t, &t))
		put_event(reader, named, event, t);
	return !ferror(reader->p->out);
}

/* ---- reading ----------------------------------------------------------- */

static int read_in_child(struct reader *reader)
{
	FILE *out = reader->p->out;

	prepare_ctf_child();
	errno = 0;
	if (!read_ctf(reader->trace->path, take_message, reader) && !ferror(out))
		return CANNOT_READ;
	return ferror(out) || fflush(out) ? errno : 0;
}

/*
 * Some damaged streams make libbabeltrace2 end its process: what that wrote of the
 * trace is taken back then. False: errno says why the result cannot be written.
 */
static bool read_trace(struct perfetto *p, const struct netsync_io_trace *trace)
{
	struct reader reader = { .p = p, .trace = trace };
	int status = -1;
	off_t begin;
	pid_t child;

	if (fflush(p->out))
		return false;
	begin = ftello(p->out);
	child = fork();
	if (!child)
		_exit(read_in_child(&reader));
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (!status)
		return begin < 0 || !fseeko(p->out, 0, SEEK_END);
	if (WIFEXITED(status) && WEXITSTATUS(status) != CANNOT_READ) {
		errno = WEXITSTATUS(status);
		return false;
	}
	complain("warning: %s: Babeltrace 2 cannot read its other events, which are left out.",
		 trace->path);
	return begin >= 0 && !ftruncate(fileno(p->out), begin) &&
	       !fseeko(p->out, begin, SEEK_SET);
}

bool perfetto_events(struct perfetto *p)
{
	const uint32_t num = netsync_io_num_traces(p->export->io);
	bool ok = true;

	for (uint32_t i = 0; i < num && ok; i++) {
		const struct netsync_io_trace trace =
			trace_info(p->export->io, i);

		if (strcmp(trace.format, "ctf"))
			continue;
		/* Of these libbabeltrace2 may end this process. */
		if (trace.damaged)
			complain("warning: %s: it is damaged, so that its other events are left out.",
				 trace.path);
		else
			ok = read_trace(p, &trace);
	}
	return ok;
}
