// SPDX-License-Identifier: GPL-2.0-only
/* What netsync record does on all hosts at once. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/agent.h"
#include "record.h"
#include "tool.h"

#define LIVE_US 1000000

/* ---- asking ------------------------------------------------------------ */

static void ask_recording(struct record *rec, const char *what)
{
	for (unsigned int i = 0; i < rec->all.num; i++)
		if (rec->hosts[i].recording && rec->hosts[i].remote->ready)
			remote_ask(rec->hosts[i].remote, request_new(what));
}

/* Those that gave no answer do not record. Return: how many do. */
static unsigned int check_answers(struct record *rec)
{
	unsigned int num = 0;

	for (unsigned int i = 0; i < rec->all.num; i++) {
		struct host *host = &rec->hosts[i];

		if (host->recording && !host->remote->answer) {
			host->recording = false;
			rec->partial = true;
		}
		num += host->recording;
	}
	return num;
}

static void add_text(struct json_object *request, const char *key,
		     const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void add_text(struct json_object *request, const char *key,
		     const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	json_object_object_add(request, key, json_object_new_string(text));
}

/* The name that the next session of a host gets: unique wherever it arrives. */
static const char *name_session(const struct record *rec, struct host *host)
{
	char **names = realloc(host->sessions,
			       (host->num_sessions + 1) * sizeof(*names));

	if (!names)
		return "netsync";
	host->sessions = names;
	if (asprintf(&names[host->num_sessions], "netsync-%s-%.100s-%u",
		     rec->stamp, host->remote->folder,
		     host->num_sessions + 1) < 0)
		return "netsync";
	return names[host->num_sessions++];
}

/* ---- beginning --------------------------------------------------------- */

static void ask_create(struct record *rec, struct host *host)
{
	static const int kinds[] = { RELAY_CONTROL, RELAY_DATA };
	static const char *const keys[] = { "control", "data" };
	struct json_object *request = request_new("create");
	const struct remote *remote = host->remote;

	add_text(request, "session", "%s", name_session(rec, host));
	json_object_object_add(request, "events",
			       json_object_get(rec->events.patterns));
	json_object_object_add(request, "syscalls",
			       json_object_new_boolean(rec->events.syscalls));
	json_object_object_add(request, "ust",
			       json_object_new_boolean(rec->events.user));
	if (rec->live)
		json_object_object_add(request, "live_us",
				       json_object_new_int64(LIVE_US));
	if (rec->url)
		add_text(request, "control", "%s", rec->url);
	for (int i = 0; i < 2 && !rec->url && !host->pull; i++)
		add_text(request, keys[i], "tcp://127.0.0.1:%u",
			 remote->destination ? remote->ports[i] :
			 rec->relay.ports[kinds[i]]);
	host->recording = true;
	remote_ask(host->remote, request);
}

/* Where ssh may not forward ports, there is another way. */
static void choose_way(struct record *rec, struct host *host)
{
	const struct remote *remote = host->remote;

	host->pull = rec->pull;
	if (rec->url || rec->pull || !remote->destination ||
	    (remote->ports[0] && remote->ports[1]))
		return;
	if (rec->live)
		complain("%s: its ssh server refuses to forward ports, so that it cannot be seen live; its trace is copied at the end, as with --pull.",
			 remote->name);
	else
		complain("%s: its ssh server refuses to forward ports: recording to its disk, and copying at the end, as with --pull.",
			 remote->name);
	host->pull = true;
}

unsigned int hosts_create(struct record *rec)
{
	unsigned int num;

	for (unsigned int i = 0; i < rec->all.num; i++) {
		struct host *host = &rec->hosts[i];

		if (!host->remote->ready) {
			rec->partial = true;
			continue;
		}
		choose_way(rec, host);
		ask_create(rec, host);
	}
	remotes_wait(&rec->all, 0);
	num = check_answers(rec);
	for (unsigned int i = 0; i < rec->all.num; i++)
		if (rec->hosts[i].recording)
			rec->hosts[i].folder = strdup(answer_text(
				rec->hosts[i].remote->answer, "folder"));
	return num;
}

unsigned int hosts_start(struct record *rec)
{
	ask_recording(rec, "start");
	remotes_wait(&rec->all, 0);
	rec->started_ns = now_ns();
	return check_answers(rec);
}

/* ---- while it runs ----------------------------------------------------- */

/* What nobody takes is not waited for. */
static void ask_finish(struct host *host)
{
	struct json_object *request = request_new("finish");

	json_object_object_add(request, "lost",
			       json_object_new_boolean(host->cut_ns));
	remote_ask(host->remote, request);
}

/* LTTng's sessions do not connect again to a relay daemon that was lost. */
static void ask_renew(struct record *rec, struct host *host)
{
	ask_finish(host);
	ask_create(rec, host);
	if (host->remote->ready)
		remote_ask(host->remote, request_new("start"));
}

static void say_gap(const struct record *rec, const struct host *host)
{
	char from[VALUE_SIZE], to[VALUE_SIZE];

	complain("%s: missing is what was recorded from %s after the start, and up to two seconds before that, to %s.",
		 host->remote->name,
		 format_duration(from, host->cut_ns - rec->started_ns),
		 format_duration(to, now_ns() - rec->started_ns));
}

unsigned int hosts_renew(struct record *rec)
{
	unsigned int num;

	for (unsigned int i = 0; i < rec->all.num; i++) {
		struct host *host = &rec->hosts[i];

		if (host->recording && host->renew && host->remote->ready)
			ask_renew(rec, host);
	}
	remotes_wait(&rec->all, 0);
	num = check_answers(rec);
	for (unsigned int i = 0; i < rec->all.num; i++) {
		struct host *host = &rec->hosts[i];

		if (!host->renew)
			continue;
		if (host->recording)
			say_gap(rec, host);
		host->cut_ns = 0;
		host->renew = false;
	}
	return num;
}

void host_ask_status(const struct record *rec, const struct host *host)
{
	struct json_object *request = request_new("status");

	/* What nobody sees is not worth the time of the machine that is traced. */
	json_object_object_add(request, "events",
			       json_object_new_boolean(rec->is_terminal));
	remote_ask(host->remote, request);
}

/* How much the relay daemon has of a host. */
static void count_incoming(const struct record *rec, struct host *host)
{
	struct recorded sum = { 0 };
	char *path;

	for (unsigned int i = 0; i < host->num_sessions; i++) {
		if (asprintf(&path, "%s/%s", rec->relay.folder,
			     host->sessions[i]) < 0)
			continue;
		count_folder(&sum, path);
		free(path);
	}
	host->size = sum.bytes;
	host->events = sum.is_unclear ? 0 : sum.events;
}

static void take_cut(struct record *rec, struct host *host)
{
	complain("%s: it lost the relay daemon at %s: nothing is recorded until that is there again.",
		 host->remote->name, rec->url);
	host->cut_ns = now_ns();
	rec->partial = true;
}

bool host_take_status(struct record *rec, struct host *host)
{
	struct json_object *answer = host->remote->answer;
	struct json_object *channels;
	size_t num;

	channels = json_object_object_get(answer, "channels");
	num = channels ? json_object_array_length(channels) : 0;
	host->discarded = 0;
	for (size_t i = 0; i < num; i++)
		host->discarded += answer_number(
			json_object_array_get_idx(channels, i), "discarded");
	if (host->pull) {
		host->size = answer_number(answer, "size");
		host->events = answer_number(answer, "events");
	} else if (rec->relay.folder) {
		count_incoming(rec, host);
	}
	if (json_object_object_get(answer, "connected") &&
	    !answer_number(answer, "connected") && rec->url) {
		if (!host->cut_ns)
			take_cut(rec, host);
		host->renew = answer_number(answer, "reachable");
	}
	return !json_object_object_get(answer, "room") ||
	       answer_number(answer, "room") > MIN_ROOM;
}

/* ---- the end ----------------------------------------------------------- */

/* Loudly: what is missing cannot be seen in what is there. */
static void say_losses(struct record *rec, const struct host *host)
{
	struct json_object *channels = json_object_object_get(
					host->remote->answer, "channels");
	size_t num = channels ? json_object_array_length(channels) : 0;

	for (size_t i = 0; i < num; i++) {
		struct json_object *channel =
			json_object_array_get_idx(channels, i);
		const int64_t discarded = answer_number(channel, "discarded");
		const int64_t lost = answer_number(channel, "lost");

		if (!discarded && !lost)
			continue;
		complain("%s: EVENTS ARE MISSING: channel %s discarded %lld events and lost %lld packets of them.",
			 host->remote->name, answer_text(channel, "name"),
			 (long long)discarded, (long long)lost);
		rec->partial = true;
	}
}

/* The trace changes what it shows: by how much, of the machines' traffic. */
static void say_traffic(const struct record *rec)
{
	char part[VALUE_SIZE], all[VALUE_SIZE];
	uint64_t streams = 0;

	for (unsigned int i = 0; i < rec->all.num; i++)
		streams += answer_number(rec->all.list[i]->answer,
					 "traffic_trace");
	for (unsigned int i = 0; i < rec->all.num; i++) {
		const struct remote *remote = rec->all.list[i];
		const uint64_t sum = answer_number(remote->answer, "traffic");
		/* What all others send comes here. */
		const uint64_t trace = remote->destination ?
			(uint64_t)answer_number(remote->answer, "traffic_trace") :
			streams;

		if (rec->hosts[i].recording && trace && trace <= sum)
			complain("%s: %.1f %% of its network traffic was the trace itself, %s of %s.",
				 remote->name, 100. * trace / sum,
				 format_bytes(part, trace),
				 format_bytes(all, sum));
	}
}

void hosts_stop(struct record *rec)
{
	ask_recording(rec, "stop");
	remotes_wait(&rec->all, 0);
	for (unsigned int i = 0; i < rec->all.num; i++)
		if (rec->hosts[i].recording && rec->hosts[i].remote->ready)
			ask_finish(&rec->hosts[i]);
	remotes_wait(&rec->all, 0);
	check_answers(rec);
	for (unsigned int i = 0; i < rec->all.num; i++)
		if (rec->hosts[i].recording)
			say_losses(rec, &rec->hosts[i]);
	say_traffic(rec);
}

void hosts_pull(struct record *rec)
{
	bool any = false;

	for (unsigned int i = 0; i < rec->all.num; i++) {
		struct host *host = &rec->hosts[i];
		struct json_object *request;

		if (!host->pull || !host->recording || !host->remote->ready)
			continue;
		if (!any)
			complain("copying the traces.");
		any = true;
		request = request_new("pull");
		add_text(request, "folder", "%s", host->folder);
		remote_ask(host->remote, request);
	}
	remotes_wait(&rec->all, 0);
	check_answers(rec);
}
