// SPDX-License-Identifier: GPL-2.0-only
/* Create a component of libbabeltrace2 that reads the CTF trace in a directory. */
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "ctf-source.h"

/* Memory limit of a child process, in bytes. Chosen: undamaged traces need less. */
#define MAX_MEMORY (UINT64_C(4) << 30)

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

	return bt_plugin_find("ctf", BT_TRUE, BT_TRUE, BT_TRUE, BT_TRUE, BT_FALSE, &plugin) ==
			       BT_PLUGIN_FIND_STATUS_OK ?
		       plugin :
		       NULL;
}

const bt_component_class_source *ctf_source_get_class(const bt_plugin *ctf)
{
	return bt_plugin_borrow_source_component_class_by_name_const(ctf, "fs");
}

bt_value *ctf_source_make_params(const char *path)
{
	bt_value *params = bt_value_map_create(), *inputs;

	if (params && !bt_value_map_insert_empty_array_entry(params, "inputs", &inputs) &&
	    !bt_value_array_append_string_element(inputs, path))
		return params;
	bt_value_put_ref(params);
	return NULL;
}

const bt_component_source *add_ctf_source(bt_graph *graph, const bt_plugin *ctf, const char *path)
{
	bt_value *params = ctf_source_make_params(path);
	const bt_component_source *source = NULL;

	/* Components of a graph must have different names. */
	if (params && bt_graph_add_source_component(graph, ctf_source_get_class(ctf), path, params,
						    BT_LOGGING_LEVEL_NONE, &source))
		source = NULL;
	bt_value_put_ref(params);
	return source;
}
