// SPDX-License-Identifier: GPL-2.0-only
/* Serves the packet events in traces of this machine to the netsync that requested them. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <netsync-io.h>
#include <netsync.h>

#include "agent.h"
#include "common/json-value.h"
#include "common/signal.h"

/* The last request, or NULL if there was none. */
static struct json_object *asked;

/* Expand "~" only where scp does: at the beginning, and without a user name. */
char *agent_expand(const char *path)
{
	const char *home = getenv("HOME");
	char *whole;

	if (path[0] != '~' || (path[1] && path[1] != '/') || !home)
		return strdup(path);
	return asprintf(&whole, "%s%s", home, path + 1) < 0 ? NULL : whole;
}

static const char **read_served_paths(uint32_t *num)
{
	struct json_object *paths = value_get_member(asked, "paths");
	const char **what = calloc(value_get_length(paths) + 1, sizeof(*what));

	for (*num = 0; what && *num < value_get_length(paths); ++*num) {
		what[*num] = agent_expand(value_get_text(value_get_element(paths, *num), PATH_MAX));
		if (!what[*num])
			break;
	}
	return what;
}

struct json_object *agent_serve(struct json_object *request)
{
	if (!value_get_length(value_get_member(request, "paths")))
		return agent_make_error("no traces to read.");
	json_object_put(asked);
	asked = json_object_get(request);
	return json_object_new_object();
}

bool agent_stream(void)
{
	struct netsync *ns = netsync_new();
	struct netsync_io *io = ns ? netsync_io_new(ns) : NULL;
	int64_t timeout_ns = 0;
	uint32_t num = 0;
	const char **what = asked && io ? read_served_paths(&num) : NULL;

	/* Signals can end the agent immediately, because there is nothing to undo. */
	set_ending_handlers(SIG_DFL);
	value_get_int(value_get_member(asked, "timeout"), 0, INT64_MAX, &timeout_ns);
	if (io)
		netsync_io_set_timeout(io, timeout_ns);
	if (what)
		netsync_io_serve(io, what, num, STDIN_FILENO, STDOUT_FILENO);
	for (uint32_t i = 0; i < num; i++)
		free((char *)what[i]);
	free(what);
	netsync_io_free(io);
	netsync_free(ns);
	json_object_put(asked);
	asked = NULL;
	return false;
}
