/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Traces that stay on their machines, given as [NAME=][USER@]HOST:PATH, which is the syntax of scp.
 * An agent on the machine reads the traces (netsync_io_serve()) and transfers only packet events.
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
 * Return whether the argument is a trace on another machine. A path that exists on this machine is
 * not, even if it contains colons. A path that does not exist yet can begin with "./" to say that
 * it is on this machine.
 */
bool is_remote_trace(const char *argument);

/*
 * Split an argument into HOST, NAME (NULL if there is none) and PATH. PATH points into @argument.
 * The caller frees HOST and NAME. Return false if out of memory.
 */
bool remote_trace_split(const char *argument, char **host, char **name, const char **path);

/* Add an argument. If the argument is invalid, print a message and return false. */
bool remote_traces_add(struct remote_traces *traces, const char *argument);

/*
 * Add @path on a host to which netsync was already connected. The traces get the name of the host.
 */
bool remote_traces_add_host(struct remote_traces *traces, const struct remote *remote,
			    const char *path);

/*
 * Connect to all machines, and add their traces to a reader. If a machine cannot be reached or
 * read, print a message, and count the machine as lost.
 */
void remote_traces_open(struct remote_traces *traces, struct netsync_io *io);
/*
 * If nothing was read from machine number @which, return the machine's name as the user gave it,
 * and set *@why to a sentence with the reason. Otherwise, return NULL.
 */
const char *remote_traces_get_lost(const struct remote_traces *traces, unsigned int which,
				   const char **why);
/*
 * After reading, print how much data were transferred. Return the number of machines that were not
 * read completely.
 */
unsigned int remote_traces_end(struct remote_traces *traces, const struct netsync_io *io);
void remote_traces_free(struct remote_traces *traces);

#endif
