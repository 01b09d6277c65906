// SPDX-License-Identifier: GPL-2.0-only
/* Read traces that are given as [NAME=][USER@]HOST:PATH, by an agent on each host. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../libnetsync/util/array.h"
#include "common/argument.h"
#include "common/complain.h"
#include "common/value.h"
#include "protocol.h"
#include "traces.h"

/* Traces on one machine for which the user gave the same NAME or no NAME. */
struct remote_group {
	char *host; /* host, as the user gave it */
	char *name; /* name, or NULL to use the names in the traces */
	struct json_object *paths;
	size_t size; /* total size of the paths, bytes */
	char *lost;  /* reason why nothing was read, or NULL */
};

/*
 * Maximum size of a group's paths, bytes. More paths form another group, which has another agent.
 * All paths of a group are in one line, and each byte takes at most six bytes in JSON.
 */
#define MAX_GROUP_SIZE (PROTOCOL_LINE / 8)

/* Return the colon after [USER@]HOST, or NULL for a path on this machine. */
static const char *find_end_of_host(const char *text)
{
	const char *at = text + strcspn(text, "@/[:");

	/* An IPv6 address contains colons. */
	if (*at == '@')
		at++;
	else
		at = text;
	if (*at == '[') {
		at = strchr(at, ']');
		return at && at[1] == ':' ? at + 1 : NULL;
	}
	at += strcspn(at, "/:");
	return *at == ':' && at > text ? at : NULL;
}

static const char *skip_argument_name(const char *argument)
{
	const size_t length = argument_get_name_length(argument);

	return length ? argument + length + 1 : argument;
}

bool is_remote_trace(const char *argument)
{
	const char *path = skip_argument_name(argument);

	return find_end_of_host(path) && access(path, F_OK);
}

static bool are_texts_equal(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* Return the group for a trace whose path has @size bytes. */
static struct remote_group *find_or_add_remote_group(struct remote_traces *traces, char *host,
						     char *name, size_t size)
{
	struct remote_group *group;

	for (unsigned int i = 0; i < traces->num; i++)
		if (are_texts_equal(traces->groups[i].host, host) &&
		    are_texts_equal(traces->groups[i].name, name) &&
		    traces->groups[i].size + size <= MAX_GROUP_SIZE) {
			traces->groups[i].size += size;
			free(host);
			free(name);
			return &traces->groups[i];
		}
	group = array_add(&traces->groups, traces->num, sizeof(*group));
	if (!group) {
		free(host);
		free(name);
		return NULL;
	}
	traces->num++;
	*group = (struct remote_group){ host, name, json_object_new_array(), size, NULL };
	return group;
}

bool remote_trace_split(const char *argument, char **host, char **name, const char **path)
{
	const size_t length = argument_get_name_length(argument);
	const char *text = skip_argument_name(argument), *colon = find_end_of_host(text);

	*path = colon[1] ? colon + 1 : ".";
	*host = strndup(text, colon - text);
	*name = length ? strndup(argument, length) : NULL;
	if (*host && (*name || !length))
		return true;
	free(*host);
	free(*name);
	return complain_no_memory();
}

bool remote_traces_add(struct remote_traces *traces, const char *argument)
{
	struct remote_group *group;
	char *host, *name;
	const char *path;

	if (!remote_trace_split(argument, &host, &name, &path))
		return false;
	group = find_or_add_remote_group(traces, host, name, strlen(path));
	return group && !json_object_array_add(group->paths, json_object_new_string(path)) ?
		       true :
		       complain_no_memory();
}

/* Return [USER@]HOST[:PORT] for remotes_add(), or NULL if out of memory. */
static char *format_remote_host(const struct remote *remote)
{
	const char *at = strrchr(remote->destination, '@');
	const char *bare = at ? at + 1 : remote->destination;
	const bool is_ipv6 = strchr(bare, ':');
	char *host;

	return asprintf(&host, "%.*s%s%s%s%s%s", (int)(bare - remote->destination),
			remote->destination, is_ipv6 ? "[" : "", bare, is_ipv6 ? "]" : "",
			remote->port ? ":" : "", remote->port ? remote->port : "") < 0 ?
		       NULL :
		       host;
}

bool remote_traces_add_host(struct remote_traces *traces, const struct remote *remote,
			    const char *path)
{
	char *host = format_remote_host(remote), *name = strdup(remote->name);
	struct remote_group *group = host && name ? find_or_add_remote_group(traces, host, name,
									     strlen(path)) :
						    NULL;

	if (!host || !name) {
		free(host);
		free(name);
	}
	return group && !json_object_array_add(group->paths, json_object_new_string(path)) ?
		       true :
		       complain_no_memory();
}

/* ---- reading ----------------------------------------------------------------- */

static void request_traces(struct remote_traces *traces, unsigned int which)
{
	struct json_object *request = request_create("serve");

	json_object_object_add(request, "paths", json_object_get(traces->groups[which].paths));
	json_object_object_add(request, "timeout", json_object_new_int64(traces->timeout_ns));
	remote_ask(traces->all.list[which], request);
}

static void note_lost_group(struct remote_traces *traces, unsigned int which, const char *why)
{
	traces->lost++;
	traces->groups[which].lost = strdup(why ? why : "It could not be reached.");
}

static void open_remote_group(struct remote_traces *traces, unsigned int which,
			      struct netsync_io *io)
{
	struct remote *remote = traces->all.list[which];
	int in, out;

	if (!remote->answer || !remote_hand_over(remote, &in, &out)) {
		note_lost_group(traces, which, remote->last_said);
		return;
	}
	if (netsync_io_add_served(io, remote->name, traces->groups[which].name, in, out) > 0)
		return;
	complain("%s", netsync_io_error(io));
	note_lost_group(traces, which, netsync_io_error(io));
	remote_give_up(remote);
}

void remote_traces_open(struct remote_traces *traces, struct netsync_io *io)
{
	struct remotes *all = &traces->all;

	/* A machine can be in several groups, with different names. */
	all->repeats = true;
	for (unsigned int i = 0; i < traces->num; i++)
		if (!remotes_add(all, traces->groups[i].host)) {
			traces->lost = traces->num;
			return;
		}
	remotes_connect(all);
	for (unsigned int i = 0; i < traces->num; i++)
		if (all->list[i]->ready)
			request_traces(traces, i);
	remotes_wait(all, 0);
	/*
	 * All machines open their traces at the same time. Then the traces are added to the reader,
	 * machine by machine.
	 */
	for (unsigned int i = 0; i < traces->num; i++)
		open_remote_group(traces, i, io);
}

const char *remote_traces_get_lost(const struct remote_traces *traces, unsigned int which,
				   const char **why)
{
	*why = traces->groups[which].lost;
	return *why ? traces->groups[which].host : NULL;
}

unsigned int remote_traces_end(struct remote_traces *traces, const struct netsync_io *io)
{
	char came[VALUE_SIZE], stored[VALUE_SIZE];

	for (uint32_t i = 0; i < netsync_io_num_served(io); i++) {
		struct netsync_io_served info = { .size = sizeof(info) };

		netsync_io_get_served(io, i, &info);
		traces->lost += info.ended || info.left_out;
		complain("%s: received %s, for traces of %s.", info.label,
			 format_bytes(came, info.received_bytes),
			 format_bytes(stored, info.stored_bytes));
	}
	remotes_close(&traces->all);
	return traces->lost;
}

void remote_traces_free(struct remote_traces *traces)
{
	for (unsigned int i = 0; i < traces->num; i++) {
		free(traces->groups[i].host);
		free(traces->groups[i].name);
		free(traces->groups[i].lost);
		json_object_put(traces->groups[i].paths);
	}
	free(traces->groups);
	remotes_free(&traces->all);
}
