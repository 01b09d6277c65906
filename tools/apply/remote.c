// SPDX-License-Identifier: GPL-2.0-only
/* Send a result file to each host. The host's agent uses the file to copy the host's traces. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/complain.h"
#include "common/exit-status.h"
#include "common/json-value.h"
#include "common/signal.h"
#include "remote.h"
#include "remote/protocol.h"
#include "remote/remote.h"
#include "remote/traces.h"

struct hosts {
	struct remotes all;
	char **names;		     /* names of the hosts as given */
	struct json_object **traces; /* [NAME=]PATH arguments of each host */
};

/* ---- whose traces these are --------------------------------------------------- */

/*
 * Return the number of a host. Add the host if it is new. This function takes ownership of @host.
 * On failure, print a message and return -1.
 */
static int find_or_add_apply_host(struct hosts *hosts, char *host)
{
	const unsigned int num = hosts->all.num;

	for (unsigned int i = 0; i < num; i++)
		if (!strcmp(hosts->names[i], host)) {
			free(host);
			return (int)i;
		}
	if (!remotes_add(&hosts->all, host)) {
		free(host);
		return -1;
	}
	hosts->names[num] = host;
	hosts->traces[num] = json_object_new_array();
	return (int)num;
}

static bool add_remote_trace(struct hosts *hosts, const char *argument)
{
	char *host, *name, *trace = NULL;
	const char *path;
	int number;

	if (!remote_trace_split(argument, &host, &name, &path))
		return false;
	number = find_or_add_apply_host(hosts, host);
	/* The agent would take a relative path that contains '=' for NAME=PATH. */
	if (number >= 0 && asprintf(&trace, "%s%s%s%s", name ? name : "", name ? "=" : "",
				    name || *path == '/' || *path == '~' ? "" : "./", path) < 0)
		trace = NULL;
	if (trace)
		json_object_array_add(hosts->traces[number], json_object_new_string(trace));
	free(trace);
	free(name);
	return number >= 0 && (trace || complain_no_memory());
}

static bool find_apply_hosts(struct hosts *hosts, char *const *traces, int num)
{
	hosts->names = calloc((size_t)num + 1, sizeof(*hosts->names));
	hosts->traces = calloc((size_t)num + 1, sizeof(struct json_object *));
	if (!hosts->names || !hosts->traces)
		return complain_no_memory();
	for (int i = 0; i < num; i++)
		if (is_remote_trace(traces[i]) && !add_remote_trace(hosts, traces[i]))
			return false;
	return true;
}

static void free_apply_hosts(struct hosts *hosts)
{
	for (unsigned int i = 0; i < hosts->all.num; i++) {
		free(hosts->names[i]);
		json_object_put(hosts->traces[i]);
	}
	free(hosts->names);
	free(hosts->traces);
	remotes_free(&hosts->all);
}

/* ---- requests to the machines ------------------------------------------------------- */

static void send_result_piece(struct hosts *hosts, const struct apply_remote *how,
			      const char *piece)
{
	for (unsigned int i = 0; i < hosts->all.num; i++) {
		struct json_object *request;

		if (!hosts->all.list[i]->ready)
			continue;
		request = request_create("result");
		json_object_object_add(request, "name", json_object_new_string(how->model));
		json_object_object_add(request, "text", json_object_new_string(piece));
		remote_ask(hosts->all.list[i], request);
	}
	remotes_wait(&hosts->all, 0);
	/* A host that has not accepted every part of the file has no result. */
	for (unsigned int i = 0; i < hosts->all.num; i++)
		if (hosts->all.list[i]->ready && !hosts->all.list[i]->answer)
			remote_give_up(hosts->all.list[i]);
}

/*
 * Send the result file to all hosts. If the file cannot be read, print a message and
 * return false.
 */
static bool send_result_file(struct hosts *hosts, const struct apply_remote *how, FILE *file)
{
	char piece[PROTOCOL_PIECE + 1];
	size_t size;

	while (!interrupted && (size = fread(piece, 1, PROTOCOL_PIECE, file)) > 0) {
		piece[size] = '\0';
		send_result_piece(hosts, how, piece);
	}
	if (!ferror(file))
		return true;
	return complain_about_path(how->model);
}

static void request_apply(struct hosts *hosts, const struct apply_remote *how, unsigned int which)
{
	struct json_object *request = request_create("apply");

	json_object_object_add(request, "traces", json_object_get(hosts->traces[which]));
	if (how->output)
		json_object_object_add(request, "output", json_object_new_string(how->output));
	json_object_object_add(request, "metadata_only",
			       json_object_new_boolean(how->metadata_only));
	json_object_object_add(request, "extrapolate", json_object_new_boolean(how->extrapolate));
	if (how->jobs)
		json_object_object_add(request, "jobs", json_object_new_int64(how->jobs));
	if (how->part.begin_ns != INT64_MIN)
		json_object_object_add(request, "begin_ns",
				       json_object_new_int64(how->part.begin_ns));
	if (how->part.end_ns != INT64_MAX)
		json_object_object_add(request, "end_ns", json_object_new_int64(how->part.end_ns));
	remote_ask(hosts->all.list[which], request);
}

/* Return the overall exit status. A host that has not answered has copied nothing. */
static int compute_overall_status(const struct hosts *hosts)
{
	unsigned int whole = 0, part = 0;

	for (unsigned int i = 0; i < hosts->all.num; i++) {
		struct json_object *answer = hosts->all.list[i]->answer;
		const int64_t status = answer && value_get_member(answer, "status") ?
					       member_get_int(answer, "status") :
					       EXIT_BAD;

		whole += status == EXIT_DONE;
		part += status == EXIT_PARTIAL;
	}
	return whole == hosts->all.num ? EXIT_DONE : whole || part ? EXIT_PARTIAL : EXIT_BAD;
}

static int apply_on_connected(struct hosts *hosts, const struct apply_remote *how, FILE *file)
{
	int status = EXIT_BAD;

	if (remotes_connect(&hosts->all) && send_result_file(hosts, how, file) && !interrupted) {
		for (unsigned int i = 0; i < hosts->all.num; i++)
			if (hosts->all.list[i]->ready)
				request_apply(hosts, how, i);
		remotes_wait(&hosts->all, 0);
		status = compute_overall_status(hosts);
	}
	remotes_close(&hosts->all);
	return interrupted ? EXIT_BAD : status;
}

int apply_remotely(const struct apply_remote *how, char *const *traces, int num)
{
	struct hosts hosts = {
		.all = { .netsync = how->netsync, .stop = &interrupted },
	};
	FILE *file = fopen(how->model, "re");
	int status = EXIT_BAD;

	catch_signal(SIGINT);
	catch_signal(SIGTERM);
	catch_signal(SIGHUP);
	if (!file)
		complain_about_path(how->model);
	else if (find_apply_hosts(&hosts, traces, num))
		status = apply_on_connected(&hosts, how, file);
	if (file)
		fclose(file);
	free_apply_hosts(&hosts);
	return status;
}
