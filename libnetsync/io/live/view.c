// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The processes that read live sessions: source.ctf.lttng-live of libbabeltrace2 delivers the
 * events of all streams of a session in time order.
 */
#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "io/ctf/files.h"
#include "io/ctf/stream.h"
#include "io/live/view.h"
#include "util/array.h"

/* Interval (ms) at which a lister asks for sessions, and an idle viewer for data. Chosen. */
#define PAUSE_MS 100
/* Maximum number of runs of the graph between two reports of a viewer's state. Chosen. */
#define ROUNDS 64

struct view_stream {
	const bt_stream *bt;
	size_t trace;
	struct ctf_stream s;
};

/* A trace of the session. A session can have several (kernel, user space). */
struct view_trace {
	const bt_trace *bt; /* NULL if all of its streams have ended */
	size_t num_streams;
	struct ctf_streams streams;
	struct trace found; /* the trace to which the records sent belong */
	/* The reported identity; has_clock is false until it is reported. */
	struct ctf_identity logged;
	struct range span; /* time span of the events; if hi < lo, there are none */
	struct range reported_span;
};

struct live_viewer {
	struct netsync_io *io;
	const char *url;
	struct view_trace **traces;
	size_t num_traces;
	void *streams; /* tsearch() tree of struct view_stream */
	bool time_is_new;
	int64_t time_ns;
	const char *failure;
};

/* ---- writing ----------------------------------------------------------- */

/* Wait a short time. End this process if the process that started it is gone. */
static void pause_between_polls(void)
{
	worker_flush();
	if (worker_is_alone(PAUSE_MS))
		_exit(0);
}

static void __attribute__((noreturn)) fail_live_worker(const char *text)
{
	worker_put_text(STREAM_ERROR, 0, text);
	worker_flush();
	_exit(1);
}

static void __attribute__((noreturn)) fail_with_reason(void)
{
	fail_live_worker(ctf_take_error_reason());
}

static void __attribute__((noreturn)) end_without_memory(void)
{
	worker_flush();
	_exit(WORKER_NO_MEMORY);
}

static const bt_component_class_source *find_live_source_class(void)
{
	const bt_component_class_source *class = NULL;
	const bt_plugin *plugin;

	if (bt_plugin_find("ctf", BT_TRUE, BT_TRUE, BT_TRUE, BT_TRUE, BT_FALSE, &plugin) ==
	    BT_PLUGIN_FIND_STATUS_OK)
		class = bt_plugin_borrow_source_component_class_by_name_const(plugin, "lttng-live");
	if (!class)
		fail_live_worker(
			"Babeltrace 2 lacks its plug-in to read live sessions (source.ctf.lttng-live); check that it is installed completely.");
	return class;
}

/* ---- list of sessions -------------------------------------------------- */

static const char *get_map_text(const bt_value *map, const char *key)
{
	const bt_value *value = bt_value_map_borrow_entry_value_const(map, key);

	return value && bt_value_is_string(value) ? bt_value_string_get(value) : "";
}

static uint64_t get_map_number(const bt_value *map, const char *key)
{
	const bt_value *value = bt_value_map_borrow_entry_value_const(map, key);

	if (value && bt_value_is_signed_integer(value))
		return bt_value_integer_signed_get(value);
	return value && bt_value_is_unsigned_integer(value) ? bt_value_integer_unsigned_get(value) :
							      0;
}

static void put_listed_session(const bt_value *entry)
{
	struct live_session session = {
		.clients = get_map_number(entry, "client-count"),
		.streams = get_map_number(entry, "stream-count"),
		.timer_us = get_map_number(entry, "timer-us"),
	};

	snprintf(session.host, sizeof(session.host), "%s", get_map_text(entry, "target-hostname"));
	snprintf(session.name, sizeof(session.name), "%s", get_map_text(entry, "session-name"));
	snprintf(session.url, sizeof(session.url), "%s", get_map_text(entry, "url"));
	worker_put(LIVE_SESSION, 0, &session, sizeof(session));
}

static void put_session_list(const bt_component_class_source *class, const bt_value *params)
{
	bt_query_executor *executor = bt_query_executor_create(
		bt_component_class_source_as_component_class_const(class), "sessions", params);
	const bt_value *list = NULL;
	char *reason;

	if (executor && !bt_query_executor_query(executor, &list) && list) {
		for (uint64_t i = 0; i < bt_value_array_get_length(list); i++)
			put_listed_session(bt_value_array_borrow_element_by_index_const(list, i));
		worker_put(LIVE_LISTED, 0, "", 0);
	} else {
		reason = ctf_take_error_reason();
		worker_put_text(LIVE_NO_ANSWER, 0, reason);
		free(reason);
	}
	bt_value_put_ref(list);
	bt_query_executor_put_ref(executor);
}

static void list_live_sessions(const void *data)
{
	const struct live_task *task = data;
	const bt_component_class_source *class = find_live_source_class();
	bt_value *params = bt_value_map_create();

	if (!params || bt_value_map_insert_string_entry(params, "url", task->url))
		fail_live_worker("Out of memory.");
	for (;;) {
		put_session_list(class, params);
		pause_between_polls();
	}
}

const struct worker_task live_list = {
	.run = list_live_sessions,
	.limits = {
		.timer = ITIMER_REAL,
		.seconds = LIVE_PATIENCE_S,
		.memory = LIVE_MEMORY,
	},
};

/* ---- traces and streams ------------------------------------------------ */

/* Find a trace of the session, or add it. Return NULL if out of memory. */
static struct view_trace *find_or_add_view_trace(struct live_viewer *view, const bt_trace *bt,
						 size_t *number)
{
	struct view_trace *trace, **last;

	for (size_t i = view->num_traces; i-- > 0;) {
		*number = i;
		if (view->traces[i]->bt == bt)
			return view->traces[i];
	}
	*number = view->num_traces;
	trace = calloc(1, sizeof(*trace));
	last = array_add(&view->traces, *number, sizeof(*last));
	if (!trace || !last)
		return NULL;
	*last = trace;
	view->num_traces++;
	trace->bt = bt;
	bt_trace_get_ref(bt);
	trace->span.hi = trace->reported_span.hi = -1;
	trace->found.io = view->io;
	trace->found.window = RANGE_ALL;
	trace->streams = (struct ctf_streams){
		.io = view->io, .path = view->url, .real_path = view->url, .window = RANGE_ALL
	};
	return trace;
}

/* Report a trace when its first stream with a clock begins, and when its event classes change. */
static void report_view_trace(struct view_trace *trace, size_t number)
{
	const struct ctf_identity *is = &trace->streams.is;

	if (!is->has_clock ||
	    (trace->logged.has_clock && trace->logged.has_network == is->has_network &&
	     trace->logged.has_unusable == is->has_unusable))
		return;
	worker_put(LIVE_TRACE, number, is, sizeof(*is));
	trace->logged = *is;
}

static int compare_streams(const void *a, const void *b)
{
	const struct view_stream *p = a, *q = b;

	return p->bt < q->bt ? -1 : p->bt > q->bt;
}

static struct view_stream *find_view_stream(struct live_viewer *view, const bt_stream *bt)
{
	const struct view_stream key = { .bt = bt };
	struct view_stream **found = tfind(&key, &view->streams, compare_streams);

	return found ? *found : NULL;
}

static int begin_view_stream(struct live_viewer *view, const bt_message *message)
{
	const bt_stream *bt = bt_message_stream_beginning_borrow_stream_const(message);
	struct view_stream *stream;
	struct view_trace *trace;
	int ret;

	if (view->num_traces == LIVE_MAX_TRACES)
		return -E2BIG;
	stream = calloc(1, sizeof(*stream));
	trace = stream ? find_or_add_view_trace(view, bt_stream_borrow_trace_const(bt),
						&stream->trace) :
			 NULL;
	if (stream)
		stream->bt = bt;
	if (!trace || !tsearch(stream, &view->streams, compare_streams)) {
		free(stream);
		return -ENOMEM;
	}
	stream->s.all = &trace->streams;
	stream->s.span.hi = -1;
	trace->num_streams++;
	ret = ctf_stream_begin(&stream->s, message);
	if (!ret)
		report_view_trace(trace, stream->trace);
	return ret;
}

static void report_view_state(struct live_viewer *view);

static int end_view_stream(struct live_viewer *view, struct view_stream *stream)
{
	struct view_trace *trace = view->traces[stream->trace];

	if (!--trace->num_streams) {
		report_view_state(view);
		bt_trace_put_ref(trace->bt);
		trace->bt = NULL;
	}
	tdelete(stream, &view->streams, compare_streams);
	ctf_stream_release(&stream->s);
	free(stream);
	return 0;
}

/* ---- messages ---------------------------------------------------------- */

static void set_view_time(struct live_viewer *view, int64_t time_ns)
{
	if (view->time_is_new && time_ns <= view->time_ns)
		return;
	view->time_ns = time_ns;
	view->time_is_new = true;
}

static int use_stream_message(struct live_viewer *view, const bt_message *message,
			      const bt_stream *bt)
{
	struct view_stream *stream = find_view_stream(view, bt);
	struct view_trace *trace = view->traces[stream->trace];
	struct event_seen seen;
	int ret = ctf_stream_use(&stream->s, message, &seen);

	if (ret < 0)
		return ret;
	stream_begin_trace(&trace->found, stream->trace, !trace->logged.has_clock);
	if (ret)
		io_add_event(&trace->found, &seen);
	if (stream->s.any) {
		range_extend(&trace->span, stream->s.span.lo, stream->s.span.hi);
		set_view_time(view, stream->s.last_ns);
	}
	return 0;
}

static int use_inactivity_message(struct live_viewer *view, const bt_message *message)
{
	int64_t time_ns;

	if (bt_clock_snapshot_get_ns_from_origin(
		    bt_message_message_iterator_inactivity_borrow_clock_snapshot_const(message),
		    &time_ns))
		bt_current_thread_clear_error();
	else
		set_view_time(view, time_ns);
	return 0;
}

static int use_view_message(struct live_viewer *view, const bt_message *message)
{
	switch (bt_message_get_type(message)) {
	case BT_MESSAGE_TYPE_STREAM_BEGINNING:
		return begin_view_stream(view, message);
	case BT_MESSAGE_TYPE_STREAM_END:
		return end_view_stream(
			view,
			find_view_stream(view, bt_message_stream_end_borrow_stream_const(message)));
	case BT_MESSAGE_TYPE_EVENT:
		return use_stream_message(view, message,
					  bt_event_borrow_stream_const(
						  bt_message_event_borrow_event_const(message)));
	case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
		return use_stream_message(view, message,
					  bt_message_discarded_events_borrow_stream_const(message));
	case BT_MESSAGE_TYPE_DISCARDED_PACKETS:
		return use_stream_message(
			view, message, bt_message_discarded_packets_borrow_stream_const(message));
	case BT_MESSAGE_TYPE_MESSAGE_ITERATOR_INACTIVITY:
		return use_inactivity_message(view, message);
	default:
		return 0;
	}
}

/* Send all changes except packets. */
static void report_view_state(struct live_viewer *view)
{
	for (size_t i = 0; i < view->num_traces; i++) {
		struct view_trace *t = view->traces[i];

		if (!t->logged.has_clock || !t->bt)
			continue;
		report_view_trace(t, i);
		stream_begin_trace(&t->found, i, false);
		if (memcmp(&t->span, &t->reported_span, sizeof(t->span)))
			io_add_span(&t->found, t->span.lo, t->span.hi);
		t->reported_span = t->span;
		t->found.info.lost_events = t->streams.counts.lost_events;
		t->found.info.lost_packets = t->streams.counts.lost_packets;
		t->found.out_of_range = t->streams.counts.out_of_range;
		stream_put_state();
	}
	if (view->time_is_new)
		worker_put(LIVE_TIME, 0, &view->time_ns, sizeof(view->time_ns));
	view->time_is_new = false;
}

/* ---- the graph --------------------------------------------------------- */

static bt_graph_simple_sink_component_consume_func_status
consume_live_messages(bt_message_iterator *iterator, void *data)
{
	struct live_viewer *view = data;
	bt_message_array_const messages;
	uint64_t num;
	int ret = 0;
	bt_message_iterator_next_status status = bt_message_iterator_next(iterator, &messages,
									  &num);

	/* Both enumerations have the same values for these statuses. */
	if (status != BT_MESSAGE_ITERATOR_NEXT_STATUS_OK)
		return (int)status;
	for (uint64_t i = 0; i < num; i++) {
		if (!ret)
			ret = use_view_message(view, messages[i]);
		bt_message_put_ref(messages[i]);
	}
	if (!ret)
		return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_OK;
	view->failure = ret == -ERANGE ? "its clock is more than 292 years from the epoch" :
			ret == -E2BIG  ? "it has more traces than a session can have" :
					 "out of memory";
	return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_ERROR;
}

static bt_value *make_live_params(const char *url)
{
	bt_value *params = bt_value_map_create(), *inputs;

	if (!params || bt_value_map_insert_empty_array_entry(params, "inputs", &inputs) ||
	    bt_value_array_append_string_element(inputs, url) ||
	    bt_value_map_insert_string_entry(params, "session-not-found-action", "end"))
		fail_live_worker("Out of memory.");
	return params;
}

static bt_graph *make_live_graph(struct live_viewer *view)
{
	const bt_component_class_source *class = find_live_source_class();
	const bt_value *params = make_live_params(view->url);
	bt_graph *graph = bt_graph_create(MAX_MIP);
	const bt_component_source *source;
	const bt_component_sink *sink;

	if (!graph ||
	    bt_graph_add_source_component(graph, class, "session", params, BT_LOGGING_LEVEL_NONE,
					  &source) ||
	    bt_graph_add_simple_sink_component(graph, "sink", NULL, consume_live_messages, NULL,
					       view, &sink) ||
	    bt_graph_connect_ports(graph,
				   bt_component_source_borrow_output_port_by_index_const(source, 0),
				   bt_component_sink_borrow_input_port_by_index_const(sink, 0),
				   NULL))
		fail_with_reason();
	bt_value_put_ref(params);
	return graph;
}

static void view_live_session(const void *data)
{
	const struct live_task *task = data;
	struct live_viewer view = { .io = task->io, .url = task->url };
	bt_graph *graph;

	stream_begin(view.io);
	graph = make_live_graph(&view);
	for (unsigned int rounds = 1;; rounds++) {
		bt_graph_run_once_status status = bt_graph_run_once(graph);

		if (status < 0 && view.failure)
			fail_live_worker(view.failure);
		if (status == BT_GRAPH_RUN_ONCE_STATUS_MEMORY_ERROR)
			end_without_memory();
		if (status < 0)
			fail_with_reason();
		if (status != BT_GRAPH_RUN_ONCE_STATUS_OK || rounds % ROUNDS == 0) {
			report_view_state(&view);
			worker_flush();
		}
		if (status == BT_GRAPH_RUN_ONCE_STATUS_END)
			break;
		if (status == BT_GRAPH_RUN_ONCE_STATUS_AGAIN)
			pause_between_polls();
	}
}

const struct worker_task live_view = {
	.run = view_live_session,
	.limits = {
		.timer = ITIMER_REAL,
		.seconds = LIVE_PATIENCE_S,
		.memory = LIVE_MEMORY,
	},
};
