/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Traces that stay on their machines: [NAME=][USER@]HOST:PATH, in scp's syntax. An agent
 * there reads them (netsync_io_serve()), and only packet events are transferred.
 */
#ifndef NETSYNC_REMOTE_TRACES_H
#define NETSYNC_REMOTE_TRACES_H

#include <stdbool.h>

#include <netsync-io.h>

#include "remote.h"

struct remote_group;

struct remote_traces {
	struct remotes all;
	struct remote_group *groups; /* each belongs to one of these machines */
	unsigned int num;
	unsigned int lost;  /* machines that could not be read completely */
	int64_t timeout_ns; /* as in netsync_io_set_timeout() */
};

/*
 * Is the argument a trace on another machine? A path that exists here is not, even if it
 * contains colons; "./" excludes a path that does not exist yet.
 */
bool is_remote_trace(const char *argument);

/*
 * Split an argument: the HOST, the NAME or NULL, and the PATH, which points into
 * @argument. Return false if out of memory. Otherwise the caller frees the first two.
 */
bool remote_trace_split(const char *argument, char **host, char **name, const char **path);

/* Add an argument. If it is invalid, print a message and return false. */
bool remote_traces_add(struct remote_traces *traces, const char *argument);

/* Add @path of a host that was already reached, with the host's name. */
bool remote_traces_add_host(struct remote_traces *traces, const struct remote *remote,
			    const char *path);

/*
 * Connect to all machines, and add their traces to a reader. A machine that cannot be
 * reached or read is lost; a message was printed.
 */
void remote_traces_open(struct remote_traces *traces, struct netsync_io *io);
/*
 * If nothing was read from the machine with a number below @num, return its name as given, and
 * a sentence with the reason. Otherwise return NULL.
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
