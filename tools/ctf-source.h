/* SPDX-License-Identifier: GPL-2.0-only */
/* The component of Babeltrace 2 that reads CTF traces. */
#ifndef NETSYNC_CTF_SOURCE_H
#define NETSYNC_CTF_SOURCE_H

#include <babeltrace2/babeltrace.h>

/* The plug-in "ctf", to be given back; NULL: it is not there. */
const bt_plugin *find_ctf_plugin(void);

/* Add source.ctf.fs for the trace of a folder; NULL: it cannot be read. */
const bt_component_source *add_ctf_source(bt_graph *graph, const bt_plugin *ctf,
					  const char *path);

#endif
