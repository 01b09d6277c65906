// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Read all events of a host's CTF traces in order of time. A graph of libbabeltrace2 has a source
 * for each trace, and one sink, which merges the streams by a heap. If a stream can be read
 * directly, the sink gets only the stream's first messages.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/ctf/event-stream.h"
#include "io/ctf/files.h"
#include "util/time-heap.h"

struct opened {
	struct trace trace; /* only its path is used, in messages */
	struct ctf_files files;
	struct event_trace events;
};

struct ctf_merging {
	const struct event_reading *reading;
	struct opened *traces;
	struct event_stream *streams;
	const bt_port_output **ports; /* ports of the streams */
	size_t num_streams;
	struct time_heap heap; /* heap of streams that have not ended */
	struct value_copies copies;
	bool begun;
	int error; /* error of a stream, or -ECANCELED */
};

/* ---- merging -------------------------------------------------------------- */

typedef bt_component_class_sink_consume_method_status consume_status;

#define OK BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_OK
#define END BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_END
#define FAILED BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_ERROR

/* Maximum number of events that one call of the sink reports. Chosen; a call takes little time. */
#define AT_ONCE 1000

static void begin_merged_streams(struct ctf_merging *merging)
{
	merging->begun = true;
	for (size_t i = 0; i < merging->num_streams && !merging->error; i++) {
		struct event_stream *stream = &merging->streams[i];
		const int ret = event_stream_find_next(stream);

		if (ret < 0)
			merging->error = ret;
		if (ret > 0)
			merging->heap.items[merging->heap.num++] = (struct time_heap_item){
				stream->key_ns, stream, 0
			};
	}
	time_heap_restore_order(&merging->heap);
}

static void report_next_merged_event(struct ctf_merging *merging)
{
	struct event_stream *stream = merging->heap.items[0].stream;
	int ret = event_stream_report(stream, &merging->copies, merging->reading);

	if (ret > 0)
		ret = -ECANCELED;
	if (!ret)
		ret = event_stream_find_next(stream);
	if (ret > 0)
		time_heap_advance_first(&merging->heap, stream->key_ns);
	else if (!ret)
		time_heap_end_first(&merging->heap);
	else
		merging->error = ret;
}

static consume_status consume_merged_events(bt_self_component_sink *self)
{
	struct ctf_merging *merging = bt_self_component_get_data(
		bt_self_component_sink_as_self_component(self));

	if (!merging->begun)
		begin_merged_streams(merging);
	for (int i = 0; i < AT_ONCE && merging->heap.num && !merging->error; i++)
		report_next_merged_event(merging);
	return merging->error ? FAILED : merging->heap.num ? OK : END;
}

/* ---- the sink's component class ------------------------------------------- */

static bt_component_class_get_supported_mip_versions_method_status
get_mip_versions(bt_self_component_class_sink *self, const bt_value *params, void *data,
		 bt_logging_level level, bt_integer_range_set_unsigned *versions)
{
	(void)self;
	(void)params;
	(void)data;
	(void)level;
	return bt_integer_range_set_unsigned_add_range(versions, 0, MAX_MIP) ?
		       BT_COMPONENT_CLASS_GET_SUPPORTED_MIP_VERSIONS_METHOD_STATUS_MEMORY_ERROR :
		       BT_COMPONENT_CLASS_GET_SUPPORTED_MIP_VERSIONS_METHOD_STATUS_OK;
}

static bt_component_class_initialize_method_status
initialize_merging_sink(bt_self_component_sink *self,
			bt_self_component_sink_configuration *configuration, const bt_value *params,
			void *data)
{
	struct ctf_merging *merging = data;
	char name[32];

	(void)configuration;
	(void)params;
	bt_self_component_set_data(bt_self_component_sink_as_self_component(self), merging);
	for (size_t i = 0; i < merging->num_streams; i++) {
		snprintf(name, sizeof(name), "in%zu", i);
		if (bt_self_component_sink_add_input_port(self, name, NULL, NULL))
			return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	}
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static bt_component_class_sink_graph_is_configured_method_status
open_merged_iterators(bt_self_component_sink *self)
{
	struct ctf_merging *merging = bt_self_component_get_data(
		bt_self_component_sink_as_self_component(self));

	for (size_t i = 0; i < merging->num_streams; i++)
		if (bt_message_iterator_create_from_sink_component(
			    self, bt_self_component_sink_borrow_input_port_by_index(self, i),
			    &merging->streams[i].iterator))
			return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_ERROR;
	return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_OK;
}

static void finalize_merging_sink(bt_self_component_sink *self)
{
	struct ctf_merging *merging = bt_self_component_get_data(
		bt_self_component_sink_as_self_component(self));

	for (size_t i = 0; i < merging->num_streams; i++)
		event_stream_release(&merging->streams[i]);
}

static bt_component_class_sink *make_merging_class(void)
{
	bt_component_class_sink *class = bt_component_class_sink_create("merge",
									consume_merged_events);

	if (class &&
	    !bt_component_class_sink_set_initialize_method(class, initialize_merging_sink) &&
	    !bt_component_class_sink_set_graph_is_configured_method(class, open_merged_iterators) &&
	    !bt_component_class_sink_set_finalize_method(class, finalize_merging_sink) &&
	    !bt_component_class_sink_set_get_supported_mip_versions_method(class, get_mip_versions))
		return class;
	bt_component_class_sink_put_ref(class);
	return NULL;
}

/* ---- the graph ------------------------------------------------------------ */

static int add_merged_streams(struct ctf_merging *merging, struct opened *opened,
			      const bt_component_source *source)
{
	const uint64_t more = bt_component_source_get_output_port_count(source);
	const size_t num = merging->num_streams + more;
	void *streams, *ports;

	streams = realloc(merging->streams, (num + 1) * sizeof(*merging->streams));
	if (streams)
		merging->streams = streams;
	ports = realloc(merging->ports, (num + 1) * sizeof(*merging->ports));
	if (ports)
		merging->ports = ports;
	if (!streams || !ports)
		return -ENOMEM;
	for (uint64_t i = 0; i < more; i++) {
		const bt_port_output *port = bt_component_source_borrow_output_port_by_index_const(
			source, i);

		merging->ports[merging->num_streams] = port;
		merging->streams[merging->num_streams++] = (struct event_stream){
			.trace = &opened->events,
			.cpu = NETSYNC_IO_NO_CPU,
			.key_ns = INT64_MIN,
		};
	}
	return 0;
}

/*
 * Add a trace to the graph. Return 0 or a negative errno value. -EILSEQ means that libbabeltrace2
 * cannot open the trace.
 */
static int add_merged_trace(struct ctf_merging *merging, bt_graph *graph, size_t number)
{
	struct opened *opened = &merging->traces[number];
	const bt_component_source *source;
	char name[32];

	/* Components of a graph must have different names. */
	snprintf(name, sizeof(name), "trace%zu", number);
	if (bt_graph_add_source_component(graph, opened->files.class, name, opened->files.params,
					  BT_LOGGING_LEVEL_NONE, &source))
		return -EILSEQ;
	return add_merged_streams(merging, opened, source);
}

static int add_merging_sink(struct ctf_merging *merging, bt_graph *graph)
{
	bt_component_class_sink *class = make_merging_class();
	const bt_component_sink *sink;
	bool ok;

	merging->heap.items = calloc(merging->num_streams + 1, sizeof(*merging->heap.items));
	ok = class && merging->heap.items &&
	     !bt_graph_add_sink_component_with_initialize_method_data(graph, class, "merge", NULL,
								      merging,
								      BT_LOGGING_LEVEL_NONE, &sink);
	for (size_t i = 0; i < merging->num_streams && ok; i++)
		ok = !bt_graph_connect_ports(
			graph, merging->ports[i],
			bt_component_sink_borrow_input_port_by_index_const(sink, i), NULL);
	bt_component_class_sink_put_ref(class);
	return ok ? 0 : -ENOMEM;
}

static int run_merging_graph(struct ctf_merging *merging)
{
	bt_graph *graph = bt_graph_create(MAX_MIP);
	int ret = graph ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < merging->reading->num && !ret; i++)
		ret = add_merged_trace(merging, graph, i);
	if (!ret && merging->num_streams) {
		ret = add_merging_sink(merging, graph);
		if (!ret && bt_graph_run(graph) != BT_GRAPH_RUN_STATUS_OK)
			ret = merging->error ? merging->error : -EILSEQ;
	}
	bt_graph_put_ref(graph);
	return ret;
}

/* ---- traces --------------------------------------------------------------- */

static struct direct *make_direct_for_events(const struct ctf_files *files)
{
	const char *text;
	const bt_value *info = ctf_read_metadata(files, &text);
	struct direct *direct = info ? direct_new(files->folder, text) : NULL;

	bt_value_put_ref(info);
	bt_current_thread_clear_error();
	return direct;
}

/* Open a trace. Return 0. On failure, call io_fail() and return a negative value. */
static int open_merged_trace(const struct ctf_merging *merging, size_t number)
{
	const struct netsync_io_source *source = &merging->reading->sources[number];
	struct opened *opened = &merging->traces[number];
	struct trace *trace = &opened->trace;
	int ret;

	trace->io = merging->reading->io;
	trace->path = strdup(source->path);
	trace->real_path = realpath(source->path, NULL);
	if (!trace->path || !trace->real_path)
		return io_fail_no_memory(trace->io);
	ret = ctf_files_open(&opened->files, trace);
	if (ret < 0)
		return ret;
	opened->events.shift_ns = source->shift_ns;
	opened->events.direct = make_direct_for_events(&opened->files);
	return 0;
}

static void close_trace(struct opened *opened)
{
	for (size_t i = 0; i < opened->events.num_classes; i++)
		event_classes_release(&opened->events.classes[i]);
	free(opened->events.classes);
	direct_free(opened->events.direct);
	ctf_files_close(&opened->files);
	free(opened->trace.path);
	free(opened->trace.real_path);
}

static int explain_merging_error(const struct ctf_merging *merging, int error)
{
	struct netsync_io *io = merging->reading->io;
	char *reason = ctf_take_error_reason();
	int ret;

	if (error == -ECANCELED)
		ret = event_fail_stopped(merging->reading);
	else if (error == -ENOMEM)
		ret = io_fail_no_memory(io);
	else
		ret = io_fail(io, error, "%s%s: cannot be read to the end (%s).",
			      merging->traces[0].trace.path,
			      merging->reading->num > 1 ? " and others" : "", reason);
	free(reason);
	return ret;
}

int ctf_read_events(const struct event_reading *reading)
{
	struct ctf_merging merging = {
		.reading = reading,
		.traces = calloc(reading->num, sizeof(*merging.traces)),
	};
	int ret = merging.traces ? 0 : io_fail_no_memory(reading->io);

	for (uint32_t i = 0; i < reading->num && !ret; i++)
		ret = open_merged_trace(&merging, i);
	if (!ret) {
		ret = run_merging_graph(&merging);
		if (ret)
			ret = explain_merging_error(&merging, ret);
		bt_current_thread_clear_error();
	}
	for (uint32_t i = 0; i < reading->num && merging.traces; i++)
		close_trace(&merging.traces[i]);
	free(merging.traces);
	free(merging.streams);
	free(merging.ports);
	free(merging.heap.items);
	value_copies_free(&merging.copies);
	return ret;
}
