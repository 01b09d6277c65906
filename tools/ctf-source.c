// SPDX-License-Identifier: GPL-2.0-only
#include "ctf-source.h"

const bt_plugin *find_ctf_plugin(void)
{
	const bt_plugin *plugin;

	return bt_plugin_find("ctf", BT_TRUE, BT_TRUE, BT_TRUE, BT_TRUE, BT_FALSE,
			      &plugin) == BT_PLUGIN_FIND_STATUS_OK ? plugin : NULL;
}

const bt_component_source *add_ctf_source(bt_graph *graph, const bt_plugin *ctf,
					  const char *path)
{
	bt_value *params = bt_value_map_create(), *inputs;
	const bt_component_source *source = NULL;

	if (params &&
	    !bt_value_map_insert_empty_array_entry(params, "inputs", &inputs) &&
	    !bt_value_array_append_string_element(inputs, path) &&
	    bt_graph_add_source_component(graph,
		    bt_plugin_borrow_source_component_class_by_name_const(ctf,
									  "fs"),
		    "trace", params, BT_LOGGING_LEVEL_NONE, &source))
		source = NULL;
	bt_value_put_ref(params);
	return source;
}
