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

/* A trace that is read. */
struct ctf_input {
	const char *path;	/* its folder */
	int64_t shift_ns;	/* added to its times */
};

/* An event, or how many were discarded. */
struct ctf_message {
	const bt_message *message;
	uint32_t input;		/* the trace that it is of */
	uint32_t stream;	/* a number, of all that are read */
	bool has_time;		/* it is an event, and of a stream with a clock */
	int64_t time_ns;	/* when, with the shift of its trace */
};

enum ctf_next { CTF_FAILED, CTF_GO_ON, CTF_ENOUGH };

/* Told of a message. Return: what to do then. */
typedef enum ctf_next ctf_message_func(void *data,
				       const struct ctf_message *message);

/*
 * Read the traces of folders, all of them together in the order of time: that of
 * events, as what damaged traces and old tracers say of their packets can be wrong.
 * False: one cannot be read, or not up to its end, or @take failed.
 */
bool read_ctf(const struct ctf_input *inputs, uint32_t num,
	      ctf_message_func *take, void *data);

#endif
