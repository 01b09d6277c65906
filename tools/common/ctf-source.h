/* SPDX-License-Identifier: GPL-2.0-only */
/* The component of Babeltrace 2 that reads CTF traces. */
#ifndef NETSYNC_CTF_SOURCE_H
#define NETSYNC_CTF_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include <babeltrace2/babeltrace.h>

/*
 * To be called in a child process: for a damaged trace, libbabeltrace2 may call abort()
 * or take any memory. This limits memory, dumps no core, and discards stderr; how the
 * child ends is the only sign.
 */
void prepare_ctf_child(void);

/*
 * The plug-in "ctf", which the caller puts (bt_plugin_put_ref()); NULL: it is not there.
 */
const bt_plugin *find_ctf_plugin(void);

/*
 * The class source.ctf.fs, and its parameters for the trace of a folder (NULL: no
 * memory).
 */
const bt_component_class_source *ctf_source_class(const bt_plugin *ctf);
bt_value *ctf_source_params(const char *path);

/* Add a source of a folder's trace to a graph. NULL: the trace cannot be read. */
const bt_component_source *add_ctf_source(bt_graph *graph, const bt_plugin *ctf,
					  const char *path);

/* A trace that is read. */
struct ctf_input {
	const char *path;	/* its folder */
	int64_t shift_ns;	/* added to its times */
};

/* An event message, or one of discarded events. */
struct ctf_message {
	const bt_message *message;
	uint32_t input;		/* index of its trace */
	uint32_t stream;	/* number of its stream, among all that are read */
	bool has_time;		/* an event of a stream with a clock */
	int64_t time_ns;	/* of the event, with the shift of its trace, ns */
};

enum ctf_next { CTF_FAILED, CTF_GO_ON, CTF_ENOUGH };

/* Called for each message. Return: what to do then. */
typedef enum ctf_next ctf_message_func(void *data,
				       const struct ctf_message *message);

/*
 * Read the traces of several folders together, in the order of the times of events; the
 * times of packets can be wrong in damaged traces and those of old tracers. False: a
 * trace cannot be read to its end, or @take returned CTF_FAILED.
 */
bool read_ctf(const struct ctf_input *inputs, uint32_t num,
	      ctf_message_func *take, void *data);

#endif
