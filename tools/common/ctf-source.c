// SPDX-License-Identifier: GPL-2.0-only
/*
 * CTF traces -> all their messages in the order of time, through libbabeltrace2: a graph of
 * a source for each trace and one sink, which merges the streams by a heap.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../../libnetsync/util/time-heap.h"
#include "babeltrace/mip.h"
#include "ctf-source.h"

/* The most data of a child process, bytes. Chosen: above what any whole trace takes. */
#define MAX_MEMORY (UINT64_C(4) << 30)

/* A stream of a trace, and messages that were read and not yet handed on. */
struct stream {
	const bt_port_output *port;	/* of the source component */
	uint32_t input;		/* index of the trace */
	bt_message_iterator *iterator;
	bt_message_array_const messages;
	uint64_t num;
	uint64_t at;
	bool has_time;		/* of the next message */
	int64_t time_ns;
	int64_t key_ns;		/* the latest time so far, by which streams are merged */
};

/* The sink of all streams: hands on next the messages of its heap's first stream. */
struct merge {
	const struct ctf_input *inputs;
	ctf_message_func *take;
	void *data;
	struct stream *streams;
	uint32_t num_streams;
	struct time_heap heap;	/* of streams that have not ended */
	bool begun;
};

void prepare_ctf_child(void)
{
	const struct rlimit no_core = { 0 };
	const struct rlimit memory = { MAX_MEMORY, MAX_MEMORY };
	const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	setrlimit(RLIMIT_CORE, &no_core);
	setrlimit(RLIMIT_DATA, &memory);
	dup2(null, STDERR_FILENO);
}

const bt_plugin *find_ctf_plugin(void)
{
	const bt_plugin *plugin;

	return bt_plugin_find("ctf", BT_TRUE, BT_TRUE, BT_TRUE, BT_TRUE, BT_FALSE,
			      &plugin) == BT_PLUGIN_FIND_STATUS_OK ? plugin : NULL;
}

const bt_component_class_source *ctf_source_class(const bt_plugin *ctf)
{
	return bt_plugin_borrow_source_component_class_by_name_const(ctf, "fs");
}

bt_value *ctf_source_params(const char *path)
{
	bt_value *params = bt_value_map_create(), *inputs;

	if (params &&
	    !bt_value_map_insert_empty_array_entry(params, "inputs", &inputs) &&
	    !bt_value_array_append_string_element(inputs, path))
		return params;
	bt_value_put_ref(params);
	return NULL;
}

const bt_component_source *add_ctf_source(bt_graph *graph, const bt_plugin *ctf,
					  const char *path)
{
	bt_value *params = ctf_source_params(path);
	const bt_component_source *source = NULL;

	/* Two components of a graph have different names. */
	if (params &&
	    bt_graph_add_source_component(graph, ctf_source_class(ctf), path,
					  params, BT_LOGGING_LEVEL_NONE, &source))
		source = NULL;
	bt_value_put_ref(params);
	return source;
}

/* ---- reading a stream --------------------------------------------------- */

typedef bt_component_class_sink_consume_method_status consume_status;

#define OK BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_OK
#define END BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_END
#define FAILED BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_ERROR

static bool event_time(const struct merge *merge, const struct stream *stream,
		       const bt_message *message, int64_t *time_ns)
{
	const bt_event *event;

	if (bt_message_get_type(message) != BT_MESSAGE_TYPE_EVENT)
		return false;
	event = bt_message_event_borrow_event_const(message);
	if (!bt_stream_class_borrow_default_clock_class_const(
		    bt_stream_borrow_class_const(
			    bt_event_borrow_stream_const(event))))
		return false;
	if (bt_clock_snapshot_get_ns_from_origin(
		    bt_message_event_borrow_default_clock_snapshot_const(
			    message), time_ns)) {
		bt_current_thread_clear_error();
		return false;
	}
	return !__builtin_add_overflow(*time_ns,
				       merge->inputs[stream->input].shift_ns,
				       time_ns);
}

static bool is_wanted(const bt_message *message)
{
	const bt_message_type type = bt_message_get_type(message);

	return type == BT_MESSAGE_TYPE_EVENT ||
	       type == BT_MESSAGE_TYPE_DISCARDED_EVENTS;
}

/* Go to the next wanted message among those that were read. False: there is none. */
static bool find_message(const struct merge *merge, struct stream *stream)
{
	for (; stream->at < stream->num; stream->at++) {
		const bt_message *message = stream->messages[stream->at];

		if (is_wanted(message)) {
			stream->has_time = event_time(merge, stream, message,
						      &stream->time_ns);
			if (stream->has_time && stream->time_ns > stream->key_ns)
				stream->key_ns = stream->time_ns;
			return true;
		}
		bt_message_put_ref(message);
	}
	return false;
}

/* Read up to the next wanted message of a stream. END: there is none. */
static consume_status read_stream(const struct merge *merge,
				  struct stream *stream)
{
	consume_status status;

	while (!find_message(merge, stream)) {
		status = (int)bt_message_iterator_next(stream->iterator,
						       &stream->messages,
						       &stream->num);
		stream->at = 0;
		if (status) {
			stream->num = 0;
			return status;
		}
	}
	return OK;
}

/* ---- merging ------------------------------------------------------------ */

static consume_status begin_streams(struct merge *merge)
{
	merge->begun = true;
	for (uint32_t i = 0; i < merge->num_streams; i++) {
		const consume_status status =
			read_stream(merge, &merge->streams[i]);

		if (status && status != END)
			return status;
		if (!status)
			merge->heap.items[merge->heap.num++] =
				(struct time_heap_item){ merge->streams[i].key_ns,
							 &merge->streams[i] };
	}
	time_heap_order(&merge->heap);
	return OK;
}

static enum ctf_next hand_on(const struct merge *merge, struct stream *stream)
{
	const struct ctf_message message = {
		.message = stream->messages[stream->at],
		.input = stream->input,
		.stream = stream - merge->streams,
		.has_time = stream->has_time,
		.time_ns = stream->time_ns,
	};
	const enum ctf_next next = merge->take(merge->data, &message);

	bt_message_put_ref(stream->messages[stream->at++]);
	return next;
}

static consume_status consume(bt_self_component_sink *self)
{
	struct merge *merge = bt_self_component_get_data(
		bt_self_component_sink_as_self_component(self));
	consume_status status = merge->begun ? OK : begin_streams(merge);

	if (status)
		return status;
	/* 1000 messages a call: chosen; each call costs a little. */
	for (int i = 0; i < 1000 && merge->heap.num; i++) {
		struct stream *stream = merge->heap.items[0].stream;

		switch (hand_on(merge, stream)) {
		case CTF_FAILED:
			return FAILED;
		case CTF_ENOUGH:
			return END;
		case CTF_GO_ON:
			break;
		}
		status = read_stream(merge, stream);
		if (status && status != END)
			return status;
		if (status)
			time_heap_end_first(&merge->heap);
		else
			time_heap_go_on(&merge->heap, stream->key_ns);
	}
	return merge->heap.num ? OK : END;
}

/* ---- the sink's component class ----------------------------------------- */

static bt_component_class_get_supported_mip_versions_method_status
get_mip_versions(bt_self_component_class_sink *self, const bt_value *params,
		 void *data, bt_logging_level level,
		 bt_integer_range_set_unsigned *versions)
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
initialize(bt_self_component_sink *self,
	   bt_self_component_sink_configuration *configuration,
	   const bt_value *params, void *data)
{
	struct merge *merge = data;
	char name[16];

	(void)configuration;
	(void)params;
	bt_self_component_set_data(bt_self_component_sink_as_self_component(self),
				   merge);
	for (uint32_t i = 0; i < merge->num_streams; i++) {
		snprintf(name, sizeof(name), "in%u", i);
		if (bt_self_component_sink_add_input_port(self, name, NULL, NULL))
			return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	}
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static bt_component_class_sink_graph_is_configured_method_status
open_streams(bt_self_component_sink *self)
{
	struct merge *merge = bt_self_component_get_data(
		bt_self_component_sink_as_self_component(self));

	for (uint32_t i = 0; i < merge->num_streams; i++)
		if (bt_message_iterator_create_from_sink_component(self,
			    bt_self_component_sink_borrow_input_port_by_index(
				    self, i), &merge->streams[i].iterator))
			return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_ERROR;
	return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_OK;
}

static void finalize(bt_self_component_sink *self)
{
	struct merge *merge = bt_self_component_get_data(
		bt_self_component_sink_as_self_component(self));

	for (uint32_t i = 0; i < merge->num_streams; i++) {
		struct stream *stream = &merge->streams[i];

		while (stream->at < stream->num)
			bt_message_put_ref(stream->messages[stream->at++]);
		bt_message_iterator_put_ref(stream->iterator);
	}
}

static bt_component_class_sink *merge_class(void)
{
	bt_component_class_sink *class =
		bt_component_class_sink_create("merge", consume);

	if (class &&
	    !bt_component_class_sink_set_initialize_method(class, initialize) &&
	    !bt_component_class_sink_set_graph_is_configured_method(
		    class, open_streams) &&
	    !bt_component_class_sink_set_finalize_method(class, finalize) &&
	    !bt_component_class_sink_set_get_supported_mip_versions_method(
		    class, get_mip_versions))
		return class;
	bt_component_class_sink_put_ref(class);
	return NULL;
}

/* ---- reading ------------------------------------------------------------ */

static bool add_streams(struct merge *merge, uint32_t input,
			const bt_component_source *source)
{
	const uint64_t num = bt_component_source_get_output_port_count(source);
	struct stream *more = realloc(merge->streams,
		(merge->num_streams + num + 1) * sizeof(*more));

	if (!more)
		return false;
	merge->streams = more;
	for (uint64_t i = 0; i < num; i++)
		more[merge->num_streams++] = (struct stream){
			.port = bt_component_source_borrow_output_port_by_index_const(
				source, i),
			.input = input,
			.key_ns = INT64_MIN,
		};
	return true;
}

static bool add_merge(bt_graph *graph, struct merge *merge)
{
	bt_component_class_sink *class = merge_class();
	const bt_component_sink *sink;
	bool ok;

	merge->heap.items = calloc(merge->num_streams + 1,
				   sizeof(*merge->heap.items));
	ok = class && merge->heap.items &&
	     !bt_graph_add_sink_component_with_initialize_method_data(graph,
			class, "merge", NULL, merge, BT_LOGGING_LEVEL_NONE, &sink);
	for (uint32_t i = 0; i < merge->num_streams && ok; i++)
		ok = !bt_graph_connect_ports(graph, merge->streams[i].port,
			bt_component_sink_borrow_input_port_by_index_const(sink, i),
			NULL);
	bt_component_class_sink_put_ref(class);
	return ok;
}

static bool run(bt_graph *graph, const bt_plugin *ctf, struct merge *merge,
		uint32_t num)
{
	for (uint32_t i = 0; i < num; i++) {
		const bt_component_source *source =
			add_ctf_source(graph, ctf, merge->inputs[i].path);

		if (!source || !add_streams(merge, i, source))
			return false;
	}
	return !merge->num_streams ||
	       (add_merge(graph, merge) &&
		bt_graph_run(graph) == BT_GRAPH_RUN_STATUS_OK);
}

bool read_ctf(const struct ctf_input *inputs, uint32_t num,
	      ctf_message_func *take, void *data)
{
	struct merge merge = { .inputs = inputs, .take = take, .data = data };
	const bt_plugin *ctf = find_ctf_plugin();
	bt_graph *graph = bt_graph_create(MAX_MIP);
	const bool ok = ctf && graph && run(graph, ctf, &merge, num);

	bt_graph_put_ref(graph);
	bt_plugin_put_ref(ctf);
	bt_current_thread_clear_error();
	free(merge.streams);
	free(merge.heap.items);
	return ok;
}
