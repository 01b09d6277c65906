/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Traces that stay on their machines: [NAME=][USER@]HOST:PATH, as scp writes it. An
 * agent there reads them (netsync_io_serve()), and only packet events travel.
 */
#ifndef NETSYNC_REMOTE_TRACES_H
#define NETSYNC_REMOTE_TRACES_H

#include <stdbool.h>

#include <netsync-io.h>

#include "remote.h"

struct remote_group;

struct remote_traces {
	struct remotes all;
	struct remote_group *groups;	/* each is of one of these machines */
	unsigned int num;
	unsigned int lost;	/* machines that could not be read wholly */
	int64_t timeout_ns;	/* as of netsync_io_set_timeout() */
};

/*
 * Is it one of another machine? What exists on this machine is not, whatever colons its
 * name has; "./" says so of what does not exist yet.
 */
bool is_remote_trace(const char *argument);

/*
 * Take one apart: the HOST, the NAME, or NULL, and the PATH, which lies in @argument. False:
 * there is not enough memory; else the first two are to be released.
 */
bool remote_trace_parts(const char *argument, char **host, char **name, const char **path);

/* One more. False: it was said what is wrong with it. */
bool remote_traces_add(struct remote_traces *traces, const char *argument);

/* Add @path of a host that was reached before, with the host's name. */
bool remote_traces_add_of(struct remote_traces *traces, const struct remote *remote,
			  const char *path);

/*
 * Reach all machines, and add what is there to a reader; who cannot be reached, or read,
 * is lost, which was said.
 */
void remote_traces_open(struct remote_traces *traces, struct netsync_io *io);
/*
 * The machine, by its number below @num, as it was given, if nothing was read of it, and a
 * sentence that says why; NULL: something was.
 */
const char *remote_traces_lost(const struct remote_traces *traces, unsigned int which,
			       const char **why);
/* They were read: say what travelled. Return: how many machines were not read wholly. */
unsigned int remote_traces_end(struct remote_traces *traces, const struct netsync_io *io);
void remote_traces_free(struct remote_traces *traces);

#endif
