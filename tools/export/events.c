// SPDX-License-Identifier: GPL-2.0-only
/*
 * All events of CTF traces, as instants on a thread for each CPU. Of every stream
 * of a trace a sink of its own takes the events: their order does not matter.
 */
#include <babeltrace2/babeltrace.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ctf-source.h"
#include "perfetto.h"

/* What a double holds exactly. */
#define MAX_EXACT (INT64_C(1) << 53)

struct reader {
	struct perfetto *p;
	const struct netsync_io_trace *trace;
	bt_graph *graph;
};

struct stream {
	struct reader *reader;
	uint32_t named;		/* the last thread that has a name */
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
		perfetto_text(out, bt_field_string_get_value(field));
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

static void put_event(struct stream *stream, const bt_event *event, int64_t t)
{
	const uint32_t host = stream->reader->trace->host;
	const uint32_t thread = thread_of(event);
	struct perfetto *p = stream->reader->p;
	const char *name;
	char cpu[24];

	if (stream->named != thread) {
		snprintf(cpu, sizeof(cpu), "CPU %u", thread - THREAD_CPU);
		perfetto_name_thread(p, host, thread, cpu);
		stream->named = thread;
	}
	name = bt_event_class_get_name(bt_event_borrow_class_const(event));
	perfetto_begin_at(p, 'i', host, thread, t);
	fputs(",\"s\":\"t\",\"cat\":\"event\",\"name\":", p->out);
	perfetto_text(p->out, name ? name : "event");
	put_args(p->out, bt_event_borrow_payload_field_const(event));
	perfetto_end(p);
}

static void take_message(struct stream *stream, const bt_message *message)
{
	const struct reader *reader = stream->reader;
	const bt_event *event;
	int64_t t;

	if (bt_message_get_type(message) != BT_MESSAGE_TYPE_EVENT)
		return;
	event = bt_message_event_borrow_event_const(message);
	if (!bt_stream_class_borrow_default_clock_class_const(
		    bt_stream_borrow_class_const(
			    bt_event_borrow_stream_const(event))))
		return;
	if (bt_clock_snapshot_get_ns_from_origin(
		    bt_message_event_borrow_default_clock_snapshot_const(
			    message), &t)) {
		bt_current_thread_clear_error();
		return;
	}
	if (!__builtin_add_overflow(t, reader->trace->shift_ns, &t) &&
	    export_time(&reader->p->export->hosts[reader->trace->host], t, &t))
		put_event(stream, event, t);
}

/* ---- reading ----------------------------------------------------------- */

static bt_graph_simple_sink_component_initialize_func_status
begin_stream(bt_message_iterator *iterator, void *data)
{
	(void)iterator;
	(void)data;
	return BT_GRAPH_SIMPLE_SINK_COMPONENT_INITIALIZE_FUNC_STATUS_OK;
}

static bt_graph_simple_sink_component_consume_func_status
take_messages(bt_message_iterator *iterator, void *data)
{
	struct stream *stream = data;
	bt_message_array_const messages;
	uint64_t num;

	switch (bt_message_iterator_next(iterator, &messages, &num)) {
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_OK:
		break;
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_END:
		return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_END;
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN:
		return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_AGAIN;
	default:
		return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_ERROR;
	}
	for (uint64_t i = 0; i < num; i++) {
		take_message(stream, messages[i]);
		bt_message_put_ref(messages[i]);
	}
	if (!ferror(stream->reader->p->out))
		return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_OK;
	return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_ERROR;
}

static void end_stream(void *data)
{
	free(data);
}

/* Each stream has an output of its own. */
static bool add_stream(struct reader *reader, const bt_port_output *port)
{
	struct stream *stream = calloc(1, sizeof(*stream));
	const bt_component_sink *sink;

	if (!stream)
		return false;
	stream->reader = reader;
	/* The stream belongs to the sink. */
	return !bt_graph_add_simple_sink_component(reader->graph,
			bt_port_get_name(bt_port_output_as_port_const(port)),
			begin_stream, take_messages, end_stream, stream, &sink) &&
	       !bt_graph_connect_ports(reader->graph, port,
			bt_component_sink_borrow_input_port_by_index_const(sink, 0),
			NULL);
}

static bool make_graph(struct reader *reader)
{
	const bt_plugin *ctf = find_ctf_plugin();
	const bt_component_source *source = NULL;
	uint64_t num;
	bool ok;

	reader->graph = bt_graph_create(0);
	if (ctf && reader->graph)
		source = add_ctf_source(reader->graph, ctf, reader->trace->path);
	num = source ? bt_component_source_get_output_port_count(source) : 0;
	ok = source;
	for (uint64_t i = 0; i < num && ok; i++)
		ok = add_stream(reader,
			bt_component_source_borrow_output_port_by_index_const(
				source, i));
	bt_plugin_put_ref(ctf);
	return ok;
}

static bool read_trace(struct perfetto *p, const struct netsync_io_trace *trace)
{
	struct reader reader = { .p = p, .trace = trace };
	bool ok = make_graph(&reader) &&
		  bt_graph_run(reader.graph) == BT_GRAPH_RUN_STATUS_OK;

	bt_graph_put_ref(reader.graph);
	bt_current_thread_clear_error();
	if (!ok && !ferror(p->out))
		complain("%s: Babeltrace 2 cannot read its events.", trace->path);
	return ok;
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
