// SPDX-License-Identifier: GPL-2.0-only
/* The steps of a recording (create, start, status, stop, pull) as requests to all agents. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../libnetsync/util/array.h"
#include "common/complain.h"
#include "common/folders.h"
#include "common/json-value.h"
#include "common/now.h"
#include "common/progress.h"
#include "common/signal.h"
#include "common/value.h"
#include "record.h"
#include "record/agent/agent.h"

/*
 * Period in which LTTng flushes its buffers for viewers, us. Chosen, because it is LTTng's
 * default.
 */
#define LIVE_US 1000000
/*
 * Fraction 1/QUOTA_SLACK of the quota by which a host may exceed it, because its buffers may
 * still have contents when it is asked to stop. Chosen.
 */
#define QUOTA_SLACK 8
/* Period of checking quotas while the last data arrives, ns. Chosen, like STATUS_NS. */
#define LOOK_NS NS_PER_S

/* ---- requests ---------------------------------------------------------- */

static void ask_recording(struct record_run *rec, const char *what)
{
	for (unsigned int i = 0; i < rec->all.num; i++)
		if (rec->hosts[i].recording && rec->hosts[i].remote->ready)
			remote_ask(rec->hosts[i].remote, request_create(what));
}

/* Stop using hosts that have not answered. Return the number of hosts that still record. */
static unsigned int drop_failed_hosts(struct record_run *rec)
{
	unsigned int num = 0;

	for (unsigned int i = 0; i < rec->all.num; i++) {
		struct recorded_host *host = &rec->hosts[i];

		if (host->recording && !host->remote->answer) {
			host->recording = false;
			rec->partial = true;
		}
		num += host->recording;
	}
	return num;
}

static void add_formatted_member(struct json_object *request, const char *key, const char *format,
				 ...) __attribute__((format(printf, 3, 4)));

static void add_formatted_member(struct json_object *request, const char *key, const char *format,
				 ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	json_object_object_add(request, key, json_object_new_string(text));
}

/* Return a new name for the next session of a host, which is unique on any relay daemon. */
static const char *name_session(const struct record_run *rec, struct recorded_host *host)
{
	char **name = array_add(&host->sessions, host->num_sessions, sizeof(*name));

	if (!name || asprintf(name, "netsync-%s-%.100s-%u", rec->stamp, host->remote->folder,
			      host->num_sessions + 1) < 0)
		return "netsync";
	host->num_sessions++;
	return *name;
}

/* ---- beginning --------------------------------------------------------- */

static void ask_host_to_create(struct record_run *rec, struct recorded_host *host)
{
	static const int kinds[] = { RELAY_CONTROL, RELAY_DATA };
	static const char *const keys[] = { "control", "data" };
	struct json_object *request = request_create("create");
	const struct remote *remote = host->remote;

	add_formatted_member(request, "session", "%s", name_session(rec, host));
	json_object_object_add(request, "events", json_object_get(rec->events.patterns));
	json_object_object_add(request, "syscalls", json_object_new_boolean(rec->events.syscalls));
	json_object_object_add(request, "ust", json_object_new_boolean(rec->events.user));
	if (rec->buffers)
		json_object_object_add(request, "buffers", json_object_get(rec->buffers));
	if (rec->live)
		json_object_object_add(request, "live_us", json_object_new_int64(LIVE_US));
	if (rec->stay)
		add_formatted_member(request, "stay", "%s", rec->stay);
	if (rec->url)
		add_formatted_member(request, "control", "%s", rec->url);
	for (int i = 0; i < 2 && !rec->url && !host->pull; i++)
		add_formatted_member(request, keys[i], "tcp://127.0.0.1:%u",
				     remote->destination ? remote->ports[i] :
							   rec->relay.ports[kinds[i]]);
	host->recording = true;
	remote_ask(host->remote, request);
}

/*
 * Decide how a host's trace is transferred. It is streamed while recording or, if ssh refuses to
 * forward ports, copied at the end.
 */
static void choose_transfer(struct record_run *rec, struct recorded_host *host)
{
	const struct remote *remote = host->remote;

	host->pull = rec->pull;
	if (rec->url || rec->pull || !remote->destination || (remote->ports[0] && remote->ports[1]))
		return;
	if (rec->live)
		complain(
			"%s: the ssh server refuses port forwarding, so the trace cannot be followed live; it is copied at the end, as with --pull.",
			remote->name);
	else
		complain(
			"%s: the ssh server refuses port forwarding, so the trace is recorded to the disk of the host, and copied at the end, as with --pull.",
			remote->name);
	host->pull = true;
}

unsigned int hosts_create_sessions(struct record_run *rec)
{
	for (unsigned int i = 0; i < rec->all.num; i++) {
		struct recorded_host *host = &rec->hosts[i];

		if (!host->remote->ready) {
			rec->partial = true;
			continue;
		}
		choose_transfer(rec, host);
		ask_host_to_create(rec, host);
	}
	remotes_wait(&rec->all, 0);
	return drop_failed_hosts(rec);
}

unsigned int hosts_start_sessions(struct record_run *rec)
{
	ask_recording(rec, "start");
	remotes_wait(&rec->all, 0);
	return drop_failed_hosts(rec);
}

/* ---- while it runs ----------------------------------------------------- */

/*
 * Ask a host to finish. With "lost", the agent does not wait until a lost relay daemon has
 * received all data.
 */
static void ask_host_to_finish(struct recorded_host *host)
{
	struct json_object *request = request_create("finish");

	json_object_object_add(request, "lost", json_object_new_boolean(host->cut_ns));
	remote_ask(host->remote, request);
}

/* Ask a host for a new session, because LTTng's sessions do not reconnect to a relay daemon. */
static void ask_host_to_renew(struct record_run *rec, struct recorded_host *host)
{
	ask_host_to_finish(host);
	ask_host_to_create(rec, host);
	if (host->remote->ready)
		remote_ask(host->remote, request_create("start"));
}

static void report_gap(const struct record_run *rec, const struct recorded_host *host)
{
	char from[VALUE_SIZE], to[VALUE_SIZE];

	complain("%s: data is missing from %s (or up to two seconds earlier) to %s after the start.",
		 host->remote->name, format_duration(from, host->cut_ns - rec->started_ns),
		 format_duration(to, now_ns() - rec->started_ns));
}

unsigned int hosts_renew_sessions(struct record_run *rec)
{
	unsigned int num;

	for (unsigned int i = 0; i < rec->all.num; i++) {
		struct recorded_host *host = &rec->hosts[i];

		if (host->recording && host->renew && host->remote->ready)
			ask_host_to_renew(rec, host);
	}
	remotes_wait(&rec->all, 0);
	num = drop_failed_hosts(rec);
	for (unsigned int i = 0; i < rec->all.num; i++) {
		struct recorded_host *host = &rec->hosts[i];

		if (!host->renew)
			continue;
		if (host->recording)
			report_gap(rec, host);
		host->cut_ns = 0;
		host->renew = false;
	}
	return num;
}

void host_ask_status(const struct record_run *rec, const struct recorded_host *host)
{
	struct json_object *request = request_create("status");

	/*
	 * Request the number of events only if it is displayed, because counting takes time on
	 * the traced machine.
	 */
	json_object_object_add(request, "events",
			       json_object_new_boolean(rec->is_terminal || rec->is_losing));
	remote_ask(host->remote, request);
}

/* Measure a host's trace in the relay daemon's directory. */
static void count_incoming_trace(const struct record_run *rec, struct recorded_host *host)
{
	struct recorded sum = { 0 };
	char *path;

	for (unsigned int i = 0; i < host->num_sessions; i++) {
		if (asprintf(&path, "%s/%s", rec->relay.folder, host->sessions[i]) < 0)
			continue;
		count_recorded_folder(&sum, path);
		free(path);
	}
	host->size = sum.bytes;
	host->room = sum.room;
	host->events = sum.is_unclear ? 0 : sum.events;
}

static void note_lost_relay(struct record_run *rec, struct recorded_host *host)
{
	complain("%s: lost the relay daemon at %s; nothing is recorded until it is back.",
		 host->remote->name, rec->url);
	host->cut_ns = now_ns();
	rec->partial = true;
}

void host_stop(struct record_run *rec, struct recorded_host *host)
{
	host->stopped = true;
	host->renew = false;
	rec->partial = true;
	if (host->remote->ready)
		remote_ask(host->remote, request_create("stop"));
}

static void report_quota(struct record_run *rec, const struct recorded_host *host, const char *what)
{
	char text[VALUE_SIZE];

	complain("%s: exceeded the limit of %s (see --quota): %s.", host->remote->name,
		 format_bytes(text, rec->quota), what);
	rec->partial = true;
}

void hosts_check_quota(struct record_run *rec)
{
	for (unsigned int i = 0; i < rec->all.num && rec->relay.folder; i++) {
		struct recorded_host *host = &rec->hosts[i];

		if (host->pull || !host->recording)
			continue;
		count_incoming_trace(rec, host);
		if (host->room > rec->quota && !host->stopped) {
			report_quota(rec, host, "the host stops recording");
			host_stop(rec, host);
		} else if (host->room > rec->quota + rec->quota / QUOTA_SLACK + MIN_ROOM &&
			   !host->remote->lost) {
			report_quota(rec, host, "the host did not stop, and is disconnected");
			remote_disconnect(host->remote);
		}
	}
}

bool host_count_data(struct record_run *rec, struct recorded_host *host, uint64_t room)
{
	host->room += room;
	if (host->room <= rec->quota)
		return true;
	report_quota(rec, host, "the rest is not copied");
	return false;
}

void host_give_up(struct record_run *rec, struct recorded_host *host)
{
	host->recording = false;
	rec->partial = true;
	remote_disconnect(host->remote);
}

bool host_use_status(struct record_run *rec, struct recorded_host *host)
{
	struct json_object *answer = host->remote->answer;

	if (host->pull) {
		host->size = member_get_int(answer, "size");
		host->events = member_get_int(answer, "events");
	}
	losses_update(rec, host);
	if (value_get_member(answer, "connected") && !member_get_flag(answer, "connected") &&
	    rec->url) {
		if (!host->cut_ns)
			note_lost_relay(rec, host);
		host->renew = member_get_flag(answer, "reachable");
	}
	return !value_get_member(answer, "room") || member_get_int(answer, "room") > MIN_ROOM;
}

/* ---- the end ----------------------------------------------------------- */

/*
 * Report the share of the hosts' network traffic that is due to the trace itself, because this
 * traffic disturbs the recorded activity.
 */
static void report_own_traffic(const struct record_run *rec)
{
	char part[VALUE_SIZE], all[VALUE_SIZE];
	uint64_t streams = 0;

	for (unsigned int i = 0; i < rec->all.num; i++)
		streams += member_get_int(rec->all.list[i]->answer, "traffic_trace");
	for (unsigned int i = 0; i < rec->all.num; i++) {
		const struct remote *remote = rec->all.list[i];
		const uint64_t sum = member_get_int(remote->answer, "traffic");
		/* This machine receives the traces of all others. */
		const uint64_t trace = remote->destination ?
					       (uint64_t)member_get_int(remote->answer,
									"traffic_trace") :
					       streams;

		if (rec->hosts[i].recording && trace && trace <= sum)
			complain(
				"%s: %.1f %% of the network traffic was the trace itself (%s of %s).",
				remote->name, 100. * trace / sum, format_bytes(part, trace),
				format_bytes(all, sum));
	}
}

/* Wait for the answers to all requests, and check quotas in the meantime. */
static void wait_for_last_answers(struct record_run *rec)
{
	while (!remotes_wait(&rec->all, LOOK_NS) && !hurried)
		hosts_check_quota(rec);
}

void hosts_stop(struct record_run *rec)
{
	ask_recording(rec, "stop");
	wait_for_last_answers(rec);
	for (unsigned int i = 0; i < rec->all.num; i++)
		if (rec->hosts[i].recording && rec->hosts[i].remote->ready)
			ask_host_to_finish(&rec->hosts[i]);
	wait_for_last_answers(rec);
	drop_failed_hosts(rec);
	for (unsigned int i = 0; i < rec->all.num; i++) {
		struct recorded_host *host = &rec->hosts[i];

		if (!host->recording)
			continue;
		host->namespaces = json_object_get(
			value_get_member(host->remote->answer, "namespaces"));
		losses_report(rec, host);
	}
	report_own_traffic(rec);
}

void hosts_pull_traces(struct record_run *rec)
{
	bool any = false;

	for (unsigned int i = 0; i < rec->all.num; i++) {
		struct recorded_host *host = &rec->hosts[i];

		if (!host->pull || !host->recording || !host->remote->ready || hurried)
			continue;
		if (!any)
			complain("copying the traces.");
		any = true;
		remote_ask(host->remote, request_create("pull"));
	}
	remotes_wait(&rec->all, 0);
	drop_failed_hosts(rec);
}

void hosts_keep_traces(struct record_run *rec)
{
	for (unsigned int i = 0; i < rec->all.num; i++)
		if (rec->hosts[i].recording && rec->hosts[i].remote->ready && !hurried)
			remote_ask(rec->hosts[i].remote, request_create("keep"));
	remotes_wait(&rec->all, 0);
	drop_failed_hosts(rec);
	for (unsigned int i = 0; i < rec->all.num; i++) {
		struct recorded_host *host = &rec->hosts[i];
		const struct remote *remote = host->remote;
		const char *folder = member_get_text(remote->answer, "folder");

		if (!host->recording || !*folder)
			continue;
		host->kept = strdup(folder);
		complain("%s: the trace is kept in %s%s%s.", remote->name,
			 remote->destination ? remote->destination : "",
			 remote->destination ? ":" : "", folder);
	}
}

bool hosts_show_pull(struct remotes *all, struct progress *line)
{
	const struct record_run *rec = (void *)((char *)all - offsetof(struct record_run, all));
	uint64_t copied = 0, total = 0;

	for (unsigned int i = 0; i < all->num; i++) {
		const struct recorded_host *host = &rec->hosts[i];
		struct folder_tree tree;
		char *path;

		if (!host->pull || asprintf(&path, "%s/%s", rec->dir, host->remote->folder) < 0)
			continue;
		if (!access(path, F_OK) && measure_tree(path, &tree))
			copied += tree.bytes;
		total += host->size;
		free(path);
	}
	if (!copied || !total)
		return false;
	line->what = "copying";
	progress_show(line, copied, total);
	return true;
}
