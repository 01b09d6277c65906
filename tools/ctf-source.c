// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "babeltrace/mip.h"
#include "ctf-source.h"

/* More than any trace that is whole takes. */
#define MAX_MEMORY (UINT64_C(4) << 30)

struct stream {
	ctf_message_func *take;
	void *data;
	uint32_t mark;
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

	if (params &&
	    bt_graph_add_source_component(graph, ctf_source_class(ctf), "trace",
					  params, BT_LOGGING_LEVEL_NONE, &source))
		source = NULL;
	bt_value_put_ref(params);
	return source;
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
	bool goes_on = true;
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
		goes_on = goes_on &&
			  stream->take(stream->data, &stream->mark, messages[i]);
		bt_message_put_ref(messages[i]);
	}
	if (goes_on)
		return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_OK;
	return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_ERROR;
}

static void end_stream(void *data)
{
	free(data);
}

/* Each stream has a sink of its own. */
static bool add_stream(bt_graph *graph, const bt_port_output *port,
		       ctf_message_func *take, void *data)
{
	struct stream *stream = calloc(1, sizeof(*stream));
	const bt_component_sink *sink;

	if (!stream)
		return false;
	stream->take = take;
	stream->data = data;
	/* The stream belongs to the sink. */
	return !bt_graph_add_simple_sink_component(graph,
			bt_port_get_name(bt_port_output_as_port_const(port)),
			begin_stream, take_messages, end_stream, stream, &sink) &&
	       !bt_graph_connect_ports(graph, port,
			bt_component_sink_borrow_input_port_by_index_const(sink, 0),
			NULL);
}

bool read_ctf(const char *path, ctf_message_func *take, void *data)
{
	const bt_plugin *ctf = find_ctf_plugin();
	bt_graph *graph = bt_graph_create(MAX_MIP);
	const bt_component_source *source = NULL;
	uint64_t num;
	bool ok;

	if (ctf && graph)
		source = add_ctf_source(graph, ctf, path);
	num = source ? bt_component_source_get_output_port_count(source) : 0;
	ok = source;
	for (uint64_t i = 0; i < num && ok; i++)
		ok = add_stream(graph,
			bt_component_source_borrow_output_port_by_index_const(
				source, i), take, data);
	ok = ok && bt_graph_run(graph) == BT_GRAPH_RUN_STATUS_OK;
	bt_graph_put_ref(graph);
	bt_plugin_put_ref(ctf);
	bt_current_thread_clear_error();
	return ok;
}
