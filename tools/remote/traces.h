/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Traces that stay on their machines, given in the syntax of scp, [NAME=][USER@]HOST:PATH. An
 * agent on the machine reads them (netsync_io_serve()), and only packet events are transferred.
 */
#ifndef NETSYNC_REMOTE_TRACES_H
#define NETSYNC_REMOTE_TRACES_H

#include <stdbool.h>

#include <netsync-io.h>

#include "remote.h"

struct remote_group;

struct remote_traces {
	struct remotes all;
	struct remote_group *groups; /* each group belongs to one of these machines */
	unsigned int num;
	unsigned int lost;  /* number of machines that could not be read completely */
	int64_t timeout_ns; /* as in netsync_io_set_timeout() */
};

/*
 * Is the argument a trace on another machine? A path that exists on this machine is not, even if
 * it contains colons. A path that does not exist yet can be marked with "./".
 */
bool is_remote_trace(const char *argument);

/*
 * Split an argument into HOST, NAME (NULL if there is none) and PATH, which points into
 * @argument. Return false if out of memory. Otherwise, the caller frees HOST and NAME.
 */
bool remote_trace_split(const char *argument, char **host, char **name, const char **path);

/* Add an argument. If it is invalid, print a message and return false. */
bool remote_traces_add(struct remote_traces *traces, const char *argument);

/*
 * Add @path of a host to which a connection was already made. The traces get the name of the
 * host.
 */
bool remote_traces_add_host(struct remote_traces *traces, const struct remote *remote,
			    const char *path);

/*
 * Connect to all machines, and add their traces to a reader. For a machine that cannot be
 * reached or read, a message is printed, and the machine counts as lost.
 */
void remote_traces_open(struct remote_traces *traces, struct netsync_io *io);
/*
 * If nothing was read from machine number @which, return its name as the user gave it, and set
 * *@why to a sentence with the reason. Otherwise return NULL.
 */
const char *remote_traces_get_lost(const struct remote_traces *traces, unsigned int which,
				   const char **why);
/*
 * After reading, print the amount of transferred data. Return the number of machines that were
 * not read completely.
 */
unsigned int remote_traces_end(struct remote_traces *traces, const struct netsync_io *io);
void remote_traces_free(struct remote_traces *traces);

#endif
