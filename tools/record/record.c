// SPDX-License-Identifier: GPL-2.0-only
/* netsync record - trace several machines at once, and synchronize. */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/child.h"
#include "common/complain.h"
#include "common/exit-status.h"
#include "common/json-value.h"
#include "common/now.h"
#include "common/options.h"
#include "common/signal.h"
#include "common/value.h"
#include "record/capture.h"
#include "record.h"
#include "record/agent/agent.h"
#include "record/commands.h"
#include "remote/beacon.h"
#include "remote/traces.h"
#include "sync/sync.h"

/* Period of requests for the status of hosts, ns. Chosen. */
#define STATUS_NS NS_PER_S
/* Time to wait for answers between checks of signals, the command and the duration, ms. Chosen. */
#define LOOK_MS 100
/* Number of periods LOOK_MS between SIGTERM and SIGKILL of the command, 5 s. Chosen. */
#define COMMAND_LOOKS 50
/* Number of lost relay daemons that are replaced before the recording ends. Chosen. */
#define MAX_RENEWALS 5

/* ---- the command line -------------------------------------------------- */

/* Copy the path: release_recording() frees it, like the default path. */
static bool parse_record_folder_option(void *at, const struct option_row *row, const char *value)
{
	(void)row;
	free(*(char **)at);
	*(char **)at = strdup(value);
	return *(char **)at || complain_no_memory();
}

static bool parse_beacon_rate_option(void *at, const struct option_row *row, const char *value)
{
	*(unsigned int *)at = BEACON_RATE;
	return !value || parse_number_option(at, row, value);
}

static bool parse_stay_option(void *at, const struct option_row *row, const char *value)
{
	(void)row;
	*(const char **)at = value ? value : "";
	return true;
}

static const struct option_row options[] = {
	OPTION("output", 'o', "DIR",
	       "create DIR for the recording, with a directory per host and\n" RESULT_NAME
	       " (default netsync-DATE-TIME)",
	       parse_record_folder_option, .at = offsetof(struct record_run, dir)),
	{ .table = remote_options, .at = offsetof(struct record_run, all) },
	OPTION("via", 0, "SOURCE",
	       "record with lttng, or only packets with module, bpf, packet,\n"
	       "tcpdump or the best of these, which need no netsync on the hosts\n"
	       "(default: lttng, or best if a host does not have LTTng)",
	       parse_name_option, .at = offsetof(struct record_run, via),
	       .names = capture_via_names),
	OPTION("rsh", 0, "COMMAND",
	       "connect to the hosts with COMMAND instead of ssh; {host} is the\n"
	       "name, as in \"docker exec -i {host}\" (packets only)",
	       parse_text_option, .at = offsetof(struct record_run, rsh)),
	OPTION("container", 0, "NAME",
	       "record only the container NAME of each host, given by its name\n"
	       "or ID (packets only)",
	       parse_text_option, .at = offsetof(struct record_run, container)),
	OPTION("pod", 0, "NAME",
	       "record only the pod NAME of each host, given by its name or UID\n"
	       "(packets only)",
	       parse_text_option, .at = offsetof(struct record_run, pod)),
	OPTION("merge", 0, "FILE",
	       "also write the packets of all hosts to one pcapng file, with\n"
	       "corrected times (packets only)",
	       parse_text_option, .at = offsetof(struct record_run, merged)),
	OPTION("local", 0, NULL, "record this machine, too, or alone if there is no --host",
	       parse_flag_option, .at = offsetof(struct record_run, local)),
	OPTION("events", 'e', "EVENTS", "record these kernel events, too: NAME,NAME...",
	       parse_events_option, .at = offsetof(struct record_run, events)),
	OPTION("syscalls", 0, NULL, "record all system calls", parse_flag_option,
	       .at = offsetof(struct record_run, events.syscalls)),
	OPTION("ust", 0, NULL, "record all user-space events", parse_flag_option,
	       .at = offsetof(struct record_run, events.user)),
	OPTION("preset", 0, "NAME",
	       "record the events for a purpose: net (packets only; default),\n"
	       "critical-path, or a file of names",
	       parse_preset_option, .at = offsetof(struct record_run, events),
	       .words = preset_names),
	OPTION("duration", 'd', "TIME", "stop after TIME, such as 10s", parse_seconds_option,
	       .at = offsetof(struct record_run, duration_ns), .example = "10s, 1.5s or 500ms"),
	OPTION("beacon", 0, "[=RATE]",
	       "send packets between hosts with little other traffic: RATE\n"
	       "pairs per second to each of a few others (default 10)",
	       parse_beacon_rate_option, .at = offsetof(struct record_run, beacons.rate),
	       .least = 1, .most = BEACON_RATE_MAX),
	OPTION("beacon-port", 0, "PORT", "use UDP PORT for the beacon (default 7712; 0 for any)",
	       parse_number_option, .at = offsetof(struct record_run, beacons.port), .least = 0,
	       .most = UINT16_MAX),
	OPTION("buffers", 0, "[CHANNEL=]NUMxSIZE",
	       "use NUM sub-buffers of SIZE per CPU, such as 16x2M; CHANNEL\n"
	       "is netsync (packets), kernel or user (default: all channels)",
	       parse_buffers_option, .at = offsetof(struct record_run, buffers)),
	OPTION("live", 0, NULL, "allow viewers: netsync live, babeltrace2", parse_flag_option,
	       .at = offsetof(struct record_run, live)),
	OPTION("pull", 0, NULL, "record to the disk of each host, and copy at the end",
	       parse_flag_option, .at = offsetof(struct record_run, pull)),
	OPTION("stay", 0, "[=DIR]",
	       "leave the traces on the hosts, below DIR (default /var/tmp),\n"
	       "and read them there",
	       parse_stay_option, .at = offsetof(struct record_run, stay)),
	OPTION("relayd", 0, "URL", "stream to this relay daemon: net://HOST[:PORT:PORT]",
	       parse_text_option, .at = offsetof(struct record_run, url)),
	OPTION("quota", 0, "SIZE",
	       "limit the data from each host to SIZE (default: an equal share\n"
	       "of seven eighths of the free space)",
	       parse_bytes_option, .at = offsetof(struct record_run, quota),
	       .example = "500MB or 2GB"),
	OPTIONS_END
};

static const struct usage usage = {
	.begin =
		"Usage: netsync record [OPTION...] [-- COMMAND...]\n\n"
		"Record LTTng traces or packets on several machines until COMMAND exits, or until ^C. Then\n"
		"collect the traces, synchronize them, and print the table of \"netsync sync\".\n\n",
	.end = "\nExit status: 0 if everything was recorded and synchronized, 1 if nothing was recorded, 2 if\n"
	       "a host was not recorded completely or could not be corrected.\n",
	.options = options,
	.stops = true,
};

/* Parse the command line. Return -1 to continue, or the exit status. */
static int parse_record_arguments(struct record_run *rec, int argc, char **argv)
{
	const int first = options_parse_all(&usage, rec, argc, argv);

	if (first <= 0)
		return first ? EXIT_BAD : EXIT_DONE;
	if (argv[first])
		rec->command = argv + first;
	if (!captures_check_options(rec))
		return EXIT_BAD;
	if (rec->stay && (rec->pull || rec->live || rec->url)) {
		complain(
			"--stay leaves the traces on the hosts; use it without --pull, --live and --relayd.");
		return EXIT_BAD;
	}
	if (rec->stay && *rec->stay && *rec->stay != '/') {
		complain("--stay=%s: give a directory that begins with '/'.", rec->stay);
		return EXIT_BAD;
	}
	/* --stay records to the disks of the hosts, like --pull. */
	rec->pull |= rec->stay != NULL;
	if (rec->pull + rec->live > 1 || (rec->pull && rec->url)) {
		complain(
			"--pull keeps the traces on the hosts until the end; use it without --live and --relayd.");
		return EXIT_BAD;
	}
	if (rec->url && rec->dir) {
		complain("--relayd keeps the traces at the relay daemon; use it without -o.");
		return EXIT_BAD;
	}
	if ((rec->local || !rec->all.num) && !remotes_add(&rec->all, NULL))
		return EXIT_BAD;
	return -1;
}

/* ---- the folder -------------------------------------------------------- */

/* Refuse a host whose directory would have the same name as the result file. */
static bool check_host_names(const struct record_run *rec)
{
	for (unsigned int i = 0; i < rec->all.num; i++) {
		const struct remote *remote = rec->all.list[i];

		if (rec->url || strcmp(remote->folder, RESULT_NAME))
			continue;
		complain(
			"%s: the result has this name, so the host needs another one; give its address, or another name from the ssh configuration.",
			remote->name);
		return false;
	}
	return true;
}

/* Make a random token of hexadecimal digits. Return false and set errno on failure. */
static bool make_session_token(char token[TOKEN_SIZE])
{
	uint8_t bytes[TOKEN_SIZE / 2];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return false;
	for (size_t i = 0; i < TOKEN_SIZE / 2; i++)
		snprintf(token + 2 * i, 3, "%02x", bytes[i]);
	return true;
}

static bool make_record_folder(struct record_run *rec)
{
	const time_t now = time(NULL);
	struct tm local;
	char date[32];

	localtime_r(&now, &local);
	strftime(date, sizeof(date), "%Y%m%d-%H%M%S", &local);
	if (!rec->dir && asprintf(&rec->dir, "netsync-%s", date) < 0)
		rec->dir = NULL;
	if (!make_session_token(rec->token)) {
		complain("cannot get random numbers: %s.", strerror(errno));
		return false;
	}
	snprintf(rec->stamp, sizeof(rec->stamp), "%s-%s", date, rec->token);
	if (rec->url)
		return true;
	if (rec->dir && !mkdir(rec->dir, 0777)) {
		rec->made_dir = true;
		return true;
	}
	if (!rec->dir)
		complain_no_memory();
	else if (errno == EEXIST)
		complain("%s: the directory exists; give a new one with -o.", rec->dir);
	else
		complain_about_path(rec->dir);
	return false;
}

/* Remove empty directories of the recording, and the announcement of the recording. */
static void clean_record_folder(struct record_run *rec)
{
	recording_withdraw(rec->dir, rec->announced);
	clocks_remove_followed(rec);
	if (rec->relay.folder)
		rmdir(rec->relay.folder);
	for (unsigned int i = 0; i < rec->all.num && rec->hosts; i++)
		if (rec->hosts[i].kept)
			return;
	if (rec->made_dir)
		rmdir(rec->dir);
}

struct record_run *get_record_run(const struct remote *remote)
{
	/* The remotes are a member of the recording. */
	return (void *)((char *)remote->all - offsetof(struct record_run, all));
}

/* Return the recording of a host. Hosts are in the order of the remotes. */
struct recorded_host *find_recorded_host(const struct remote *remote)
{
	struct recorded_host *host = get_record_run(remote)->hosts;

	while (host->remote != remote)
		host++;
	return host;
}

static bool put_received_file(struct remote *remote, struct json_object *about, const char *data,
			      size_t size)
{
	struct record_run *rec = get_record_run(remote);

	return host_count_data(rec, find_recorded_host(remote),
			       files_measure_room(rec->dir, remote, about, size)) &&
	       files_put_data(rec->dir, remote, about, data, size);
}

static void keep_host_readings(struct remote *remote, struct json_object *readings)
{
	clocks_keep_readings(get_record_run(remote), find_recorded_host(remote), readings);
}

/* Print "recording on web, db", and how to follow the recording live. */
static void report_recording_begin(struct record_run *rec)
{
	unsigned int left = 0;

	for (unsigned int i = 0; i < rec->all.num; i++)
		left += rec->hosts[i].recording;
	fputs("netsync: recording on ", stderr);
	for (unsigned int i = 0; i < rec->all.num; i++)
		if (rec->hosts[i].recording)
			fprintf(stderr, "%s%s%s", rec->hosts[i].remote->name,
				capture_source_text(rec, &rec->hosts[i]), --left ? ", " : "");
	fputs(rec->command || rec->duration_ns ? ".\n" : "; press ^C to stop.\n", stderr);
	for (unsigned int i = 0; i < rec->all.num && rec->live && !rec->url && !rec->via; i++)
		if (rec->hosts[i].recording && !rec->hosts[i].pull)
			complain("%s: live at net://127.0.0.1:%u/host/%s/%s",
				 rec->hosts[i].remote->name, rec->relay.ports[RELAY_LIVE],
				 member_get_text(rec->hosts[i].remote->hello, "hostname"),
				 rec->hosts[i].sessions[0]);
	record_announce(rec);
}

/* ---- while it runs ----------------------------------------------------- */

static void start_recorded_command(struct record_run *rec)
{
	if (!rec->command)
		return;
	rec->child = fork();
	if (rec->child)
		return;
	set_ending_handlers(SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	umask(rec->umask);
	execvp(*rec->command, rec->command);
	complain_about_path(*rec->command);
	_exit(127);
}

/* Return false if the command has ended. */
static bool check_recorded_command(struct record_run *rec)
{
	int status;

	if (!rec->command)
		return true;
	if (rec->child <= 0)
		return false;
	if (!waitpid(rec->child, &status, WNOHANG))
		return true;
	rec->child = 0;
	if (WIFSIGNALED(status))
		complain("%s was killed by signal %d.", *rec->command, WTERMSIG(status));
	else if (WEXITSTATUS(status))
		complain("%s exited with status %d.", *rec->command, WEXITSTATUS(status));
	return false;
}

/* End the command with SIGTERM, or with SIGKILL if it continues. */
static void end_recorded_command(struct record_run *rec)
{
	for (int i = 0; i < COMMAND_LOOKS && rec->child > 0 && !hurried; i++) {
		if (!i)
			kill(rec->child, SIGTERM);
		remotes_poll(&rec->all, LOOK_MS);
		if (waitpid(rec->child, NULL, WNOHANG))
			rec->child = 0;
	}
	if (rec->child > 0) {
		kill(rec->child, SIGKILL);
		child_wait(rec->child);
	}
	rec->child = 0;
}

void clear_status_line(struct record_run *rec)
{
	if (rec->drawn)
		fputs("\r\033[K", stderr);
	rec->drawn = false;
}

static void draw_status_line(struct record_run *rec)
{
	const int64_t seconds = (now_ns() - rec->started_ns) / NS_PER_S;
	char text[VALUE_SIZE];

	if (!rec->is_terminal)
		return;
	fprintf(stderr, "\r\033[K%lld s", (long long)seconds);
	for (unsigned int i = 0; i < rec->all.num; i++) {
		const struct recorded_host *host = &rec->hosts[i];

		if (!host->recording)
			continue;
		fprintf(stderr, "   %s ", host->remote->name);
		if (host->events)
			fprintf(stderr, "about %s, ", format_events(text, host->events));
		fputs(format_bytes(text, host->size), stderr);
		if (host->discarded)
			fprintf(stderr, " (%llu discarded)", (unsigned long long)host->discarded);
	}
	fflush(stderr);
	rec->drawn = true;
}

/* Use the status of all hosts, and request the next status. Return false to end the recording. */
static bool check_recorded_hosts(struct record_run *rec)
{
	bool any = false;

	for (unsigned int i = 0; i < rec->all.num; i++) {
		struct recorded_host *host = &rec->hosts[i];

		if (rec->via) {
			any |= capture_is_running(rec, host);
			continue;
		}
		/* The last request failed, with a message. */
		if (host->recording && !host->remote->asked && !host->remote->answer) {
			host->recording = false;
			rec->partial = true;
		}
		if (!host->recording || host->stopped)
			continue;
		any = true;
		if (host->remote->asked)
			continue;
		if (!host_use_status(rec, host)) {
			clear_status_line(rec);
			complain("%s: the disk is full; this host stops recording.",
				 host->remote->name);
			host_stop(rec, host);
			continue;
		}
		host_ask_status(rec, host);
	}
	hosts_check_quota(rec);
	if (!any)
		return false;
	if (rec->made_dir && folder_get_free_space(rec->dir) < MIN_ROOM) {
		clear_status_line(rec);
		complain("%s: the disk is full; the recording ends.", rec->dir);
		rec->partial = true;
		return false;
	}
	if (rec->is_terminal || rec->is_losing)
		count_sample(STATUS_NS);
	draw_status_line(rec);
	return true;
}

/*
 * Replace netsync's own relay daemon, which was lost. Return false if no other daemon can be
 * started.
 */
static bool renew_relay(struct record_run *rec)
{
	complain("lttng-relayd died; the data that it wrote is kept, and a new one is started.");
	for (unsigned int i = 0; i < rec->all.num; i++) {
		struct recorded_host *host = &rec->hosts[i];

		host->renew = host->recording && !host->pull && !host->stopped;
		if (host->renew)
			host->cut_ns = now_ns();
	}
	return relay_start(&rec->relay, rec->dir);
}

/* Continue after the loss of a relay daemon. Return false if no host records any more. */
static bool renew_recordings(struct record_run *rec)
{
	bool any = false;

	for (unsigned int i = 0; i < rec->all.num; i++)
		any |= rec->hosts[i].renew;
	any |= rec->relay.folder && !relay_is_running(&rec->relay);
	if (!any)
		return true;
	clear_status_line(rec);
	rec->partial = true;
	if (rec->renewals++ == MAX_RENEWALS) {
		complain("lttng-relayd died again; the recording ends.");
		return false;
	}
	if (rec->relay.folder && !renew_relay(rec))
		return false;
	return hosts_renew_sessions(rec);
}

static void wait_for_recording_end(struct record_run *rec)
{
	int64_t looked_ns = 0;
	bool goes_on = true;

	while (goes_on && !interrupted) {
		const int64_t now = now_ns();

		remotes_poll(&rec->all, LOOK_MS);
		if (now - looked_ns >= STATUS_NS) {
			goes_on = check_recorded_hosts(rec);
			looked_ns = now;
		}
		if (rec->duration_ns && now - rec->started_ns >= rec->duration_ns)
			break;
		goes_on = goes_on && renew_recordings(rec) && check_recorded_command(rec);
	}
	clear_status_line(rec);
	count_end();
}

/* ---- the end ----------------------------------------------------------- */

static void collect_traces(struct record_run *rec)
{
	if (rec->live && !interrupted)
		relay_await_viewers(&rec->relay);
	relay_stop(&rec->relay);
	for (unsigned int i = 0; i < rec->all.num && rec->hosts; i++) {
		if (!rec->hosts[i].pull && rec->relay.folder)
			files_collect_traces(rec->dir, &rec->relay, &rec->hosts[i]);
		if (rec->made_dir) {
			files_name_namespaces(rec->dir, &rec->hosts[i]);
			clocks_write_file(rec->dir, &rec->hosts[i]);
		}
	}
	if (!rec->relay.folder)
		return;
	files_warn_about_unexpected(&rec->relay);
	unlink(rec->relay.log);
}

/* Synchronize traces that stay on the hosts. Return the exit status. */
static int synchronize_on_hosts(struct record_run *rec)
{
	struct remote_traces traces = { .all = { .netsync = rec->all.netsync } };
	int status = EXIT_BAD, num = 0;
	char *local = NULL, *path = NULL;

	for (unsigned int i = 0; i < rec->all.num; i++) {
		const struct recorded_host *host = &rec->hosts[i];
		const struct remote *remote = host->remote;

		if (!host->kept)
			rec->partial = true;
		else if (remote->destination)
			remote_traces_add_host(&traces, remote, host->kept);
		else if (asprintf(&local, "%s=%s", remote->name, host->kept) >= 0)
			num = 1;
	}
	if (!num && !traces.num)
		complain("No host recorded a trace.");
	else if (asprintf(&path, "%s/" RESULT_NAME, rec->dir) >= 0)
		status = sync_recorded(&local, num, traces.num ? &traces : NULL, path,
				       rec->beacons.rate);
	remote_traces_free(&traces);
	free(local);
	free(path);
	return status == EXIT_DONE && rec->partial ? EXIT_PARTIAL : status;
}

/* Synchronize the traces in the directory. Return the exit status. */
static int synchronize_recorded(struct record_run *rec)
{
	char **traces = calloc(rec->all.num, sizeof(*traces));
	char *path = NULL;
	int num = 0, status = EXIT_BAD;

	for (unsigned int i = 0; i < rec->all.num && traces; i++) {
		const struct remote *remote = rec->all.list[i];
		struct stat info;

		if (rec->via)
			path = make_capture_path(rec, remote);
		else if (asprintf(&path, "%s/%s", rec->dir, remote->folder) < 0)
			path = NULL;
		if (!path)
			break;
		if (!stat(path, &info) && asprintf(&traces[num], "%s=%s", remote->name, path) >= 0)
			num++;
		else
			rec->partial = true;
		free(path);
		path = NULL;
	}
	if (!num)
		complain("No host recorded a trace.");
	else if (asprintf(&path, "%s/" RESULT_NAME, rec->dir) >= 0)
		status = sync_recorded(traces, num, NULL, path, rec->beacons.rate);
	if (num && path && rec->merged && captures_merge(rec, traces, num, path))
		rec->partial = true;
	for (int i = 0; i < num; i++)
		free(traces[i]);
	free(traces);
	free(path);
	return status == EXIT_DONE && rec->partial ? EXIT_PARTIAL : status;
}

/* Synchronize. After a second ^C, only print where the traces are. */
static int synchronize_if_not_hurried(struct record_run *rec)
{
	int status = EXIT_PARTIAL;
	char *words;

	if (asprintf(
		    &words,
		    "netsync: interrupted; the data received so far is in %s. To synchronize them, use \"netsync sync\".\n",
		    rec->dir) < 0) {
		complain_no_memory();
		return status;
	}
	if (hurried) {
		fputs(words, stderr);
	} else {
		interrupted = 0;
		catch_signals_last(words);
		status = rec->stay ? synchronize_on_hosts(rec) : synchronize_recorded(rec);
	}
	free(words);
	return status;
}

/* ---- all together ------------------------------------------------------ */

/* By default, hosts share 7/8 of the free space equally. The rest is for results. Chosen. */
static void set_default_quota(struct record_run *rec)
{
	const uint64_t room = folder_get_free_space(rec->dir);

	if (!rec->quota)
		rec->quota = (room - room / 8) / rec->all.num;
}

/* Create sessions on the hosts with their agents. Return false if there are none. */
static bool create_traces(struct record_run *rec)
{
	if (!rec->url && !rec->pull) {
		if (!relay_start(&rec->relay, rec->dir))
			return false;
		rec->all.forward[0] = rec->relay.ports[RELAY_CONTROL];
		rec->all.forward[1] = rec->relay.ports[RELAY_DATA];
	}
	return remotes_connect(&rec->all) && !interrupted && hosts_create_sessions(rec) &&
	       !interrupted;
}

/*
 * Is LTTng missing on this machine, or is LTTng or this version of netsync missing on a host
 * that can be reached?
 */
static bool lacks_lttng(const struct record_run *rec)
{
	bool lacks = rec->relay.pid <= 0;

	for (unsigned int i = 0; i < rec->all.num; i++) {
		const struct recorded_host *host = &rec->hosts[i];

		lacks |= host->remote->lacks_netsync || (host->remote->hello && !host->recording);
	}
	return lacks;
}

static void release_recorded_host(struct recorded_host *host)
{
	for (unsigned int k = 0; k < host->num_sessions; k++)
		free(host->sessions[k]);
	free(host->kept);
	free(host->sessions);
	free(host->losses);
	spool_close(&host->clocks);
	json_object_put(host->namespaces);
	*host = (struct recorded_host){ .remote = host->remote };
}

/* Undo what was done for LTTng, and record only packets. Return false if nothing is recorded. */
static bool fall_back_to_captures(struct record_run *rec)
{
	complain(
		"LTTng cannot be used on all of these hosts, for the reasons above; recording packets only, with the best source of each host (--via best). To use LTTng, give --via lttng.");
	remotes_close(&rec->all);
	relay_stop(&rec->relay);
	relay_discard(&rec->relay);
	for (unsigned int i = 0; i < rec->all.num; i++)
		release_recorded_host(&rec->hosts[i]);
	memset(rec->all.forward, 0, sizeof(rec->all.forward));
	remotes_reset(&rec->all);
	rec->partial = false;
	rec->via = VIA_BEST;
	return !interrupted && captures_start(rec);
}

/* Start recording with agents. Return false if nothing is recorded. */
static bool start_traces(struct record_run *rec)
{
	const bool has_sessions = create_traces(rec);

	if (rec->may_fall_back && !interrupted && lacks_lttng(rec))
		return fall_back_to_captures(rec);
	if (!has_sessions)
		return false;
	/* Start beacons before the traces begin, so that their setup is not recorded. */
	record_beacon_start(rec);
	return !interrupted && hosts_start_sessions(rec);
}

/* Record until something ends the recording. Return false if nothing was recorded. */
static bool record_until_stopped(struct record_run *rec)
{
	if (!rec->url)
		set_default_quota(rec);
	rec->all.stop = &interrupted;
	if (!(rec->via ? captures_start(rec) : start_traces(rec)))
		return false;
	rec->started_ns = now_ns();
	rec->all.stop = &hurried;
	report_recording_begin(rec);
	start_recorded_command(rec);
	wait_for_recording_end(rec);
	if (interrupted)
		complain(
			"ending the recording; press ^C again to end at once, with the data received so far.");
	if (rec->via) {
		captures_stop(rec);
	} else {
		hosts_stop(rec);
		record_beacon_stop(rec);
	}
	end_recorded_command(rec);
	if (rec->stay)
		hosts_keep_traces(rec);
	else if (!rec->via)
		hosts_pull_traces(rec);
	return true;
}

static int run_recording(struct record_run *rec)
{
	bool recorded;

	/*
	 * Traces are accessible to this user only, because they contain activity of all users
	 * of a machine.
	 */
	rec->umask = umask(077);
	if (!check_host_names(rec) || !record_check_open_files(rec) || !make_record_folder(rec))
		return EXIT_BAD;
	catch_signals_twice();
	rec->is_terminal = isatty(STDERR_FILENO);
	rec->all.data = put_received_file;
	rec->all.clocks = keep_host_readings;
	rec->all.show = hosts_show_pull;
	rec->hosts = calloc(rec->all.num, sizeof(*rec->hosts));
	for (unsigned int i = 0; rec->hosts && i < rec->all.num; i++)
		rec->hosts[i].remote = rec->all.list[i];
	recorded = rec->hosts && record_until_stopped(rec);
	if (!recorded && interrupted)
		complain("interrupted; nothing was recorded.");
	rec->all.stop = &hurried;
	/* release_recording() frees the remotes, which contain the names of hosts. */
	remotes_close(&rec->all);
	collect_traces(rec);
	clean_record_folder(rec);
	if (!recorded)
		return EXIT_BAD;
	if (!rec->url)
		return synchronize_if_not_hurried(rec);
	for (unsigned int i = 0; i < rec->all.num; i++)
		for (unsigned int k = 0; k < rec->hosts[i].num_sessions; k++)
			complain("%s: the trace is at %s, in session %s.",
				 rec->hosts[i].remote->name, rec->url, rec->hosts[i].sessions[k]);
	return rec->partial ? EXIT_PARTIAL : EXIT_DONE;
}

static void release_recording(struct record_run *rec)
{
	for (unsigned int i = 0; i < rec->all.num && rec->hosts; i++)
		release_recorded_host(&rec->hosts[i]);
	free(rec->hosts);
	captures_free(rec);
	beacons_free(&rec->beacons);
	free(rec->relay.folder);
	free(rec->relay.log);
	free(rec->dir);
	json_object_put(rec->events.patterns);
	json_object_put(rec->buffers);
	remotes_free(&rec->all);
}

int cmd_record(int argc, char **argv)
{
	struct record_run rec = {
		.via = VIA_AUTO,
		.beacons.port = BEACON_PORT,
		.announced = -1,
	};
	int status;

	rec.events.patterns = json_object_new_array();
	status = parse_record_arguments(&rec, argc, argv);
	if (status < 0)
		status = run_recording(&rec);
	release_recording(&rec);
	return status;
}
