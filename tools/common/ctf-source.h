/* SPDX-License-Identifier: GPL-2.0-only */
/* Create the component of Babeltrace 2 that reads CTF traces. */
#ifndef NETSYNC_CTF_SOURCE_H
#define NETSYNC_CTF_SOURCE_H

#include <babeltrace2/babeltrace.h>

/*
 * Prepare a child process for reading. For a damaged trace, libbabeltrace2 may call abort() or use
 * unlimited memory. Limit the memory, disable core dumps and discard stderr. Only the exit status
 * of the child then reveals a failure.
 */
void prepare_ctf_child(void);

/*
 * Find the plug-in "ctf". The caller releases it with bt_plugin_put_ref(). Return NULL if it is
 * not installed.
 */
const bt_plugin *find_ctf_plugin(void);

/*
 * Return the class source.ctf.fs, or its parameters for the trace in a directory. Return NULL if
 * out of memory.
 */
const bt_component_class_source *ctf_source_get_class(const bt_plugin *ctf);
bt_value *ctf_source_make_params(const char *path);

/* Add a source for the trace in a directory to a graph. Return NULL if the trace cannot be read. */
const bt_component_source *add_ctf_source(bt_graph *graph, const bt_plugin *ctf, const char *path);

#endif
