/* SPDX-License-Identifier: GPL-2.0-only */
/* The component of Babeltrace 2 that reads CTF traces. */
#ifndef NETSYNC_CTF_SOURCE_H
#define NETSYNC_CTF_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include <babeltrace2/babeltrace.h>

/*
 * In a child process, as libbabeltrace2 may call abort(), or take any memory, for
 * a damaged trace: that it does is not seen but by how it ends.
 */
void prepare_ctf_child(void);

/* The plug-in "ctf", to be given back; NULL: it is not there. */
const bt_plugin *find_ctf_plugin(void);

/* source.ctf.fs, and what it takes for the trace of a folder (NULL: no memory). */
const bt_component_class_source *ctf_source_class(const bt_plugin *ctf);
bt_value *ctf_source_params(const char *path);

/* Add it to a graph. NULL: the trace cannot be read. */
const bt_component_source *add_ctf_source(bt_graph *graph, const bt_plugin *ctf,
					  const char *path);

/*
 * Told of a message of a trace. @mark: of its stream, 0 at first, to be used as
 * one likes. False: to read no more of it.
 */
typedef bool ctf_message_func(void *data, uint32_t *mark,
			      const bt_message *message);

/*
 * Read the trace of a folder, every stream by itself. False: it cannot be read,
 * or not up to its end.
 */
bool read_ctf(const char *path, ctf_message_func *take, void *data);

#endif
