// SPDX-License-Identifier: GPL-2.0-only
/* netsync live - follow the clock corrections while machines are recorded. */
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../../libnetsync/util/array.h"
#include "../../libnetsync/util/number.h"
#include "common/complain.h"
#include "common/exit-status.h"
#include "common/input.h"
#include "common/jobs.h"
#include "common/live-state.h"
#include "common/now.h"
#include "common/recording.h"
#include "common/result-info.h"
#include "common/result-output.h"
#include "common/result-table.h"
#include "common/result-write.h"
#include "common/signal.h"
#include "record/commands.h"

/* Maximum number of packets that wait for their counterparts; they take 52 MiB. */
#define MAX_PACKETS 500000
#define MMAP_THRESHOLD (128 * 1024)
/* Time after which no more readings of a clock are expected, ns. Chosen. */
#define LIVE_LAG_NS (10 * NS_PER_S)
/* Maximum time of a call that reads, ms, between checks whether recordings have ended. Chosen. */
#define LONGEST_POLL_MS 60000
/*
 * Read before the next estimate while data is read this many times as fast as it is recorded, because
 * netsync live is then behind. Chosen: the ratio is 1 if it is not behind.
 */
#define CATCHING_UP 1.5
/* Time of a call that reads while netsync live is behind, ms. Chosen. */
#define CATCH_UP_MS 500
/* Maximum time that is added for this, in durations of the last estimate. Chosen. */
#define LONGEST_CATCH_UP 4

struct live_settings {
	struct outcome outcome;
	struct netsync_options opt;
	int64_t interval_ns;
	int64_t duration_ns; /* negative to run until interrupted */
	unsigned int format; /* index of formats[] */
	unsigned int jobs;   /* 0 if not given */
	const char **addresses;
	size_t num_addresses;
	char **sources; /* directories, URLs and captures */
	int num_sources;
};

/* The directory of a recording. */
struct followed_recording {
	const char *dir;
	bool ended;
};

/* The screen, and the state when it was drawn. */
struct live {
	const struct live_settings *set;
	struct netsync *ns;
	struct netsync_io *io;
	struct followed_recording *recordings;
	size_t num_recordings;
	size_t num_sessions; /* number of URLs */
	char *reference;     /* the reference that was found first, or NULL */
	int drawn;	     /* number of lines that were drawn on the terminal */
	int64_t last_ns;
	uint64_t *packets; /* number of packets of each host */
	uint32_t num_hosts;
	struct netsync_pair_info *pairs;
	uint32_t num_pairs;
};

/* ---- the command line -------------------------------------------------- */

static const char *const formats[] = { "table", "json-lines", NULL };
enum { LIVE_TABLE, LIVE_JSON_LINES };

#define TIME_EXAMPLE "500ms, 1s or 600s"

static bool parse_live_address_option(void *at, const struct option_row *row, const char *value)
{
	struct live_settings *set = at;
	const char **last = array_add(&set->addresses, set->num_addresses, sizeof(*last));

	(void)row;
	if (!last)
		return complain_no_memory();
	*last = value;
	set->num_addresses++;
	return true;
}

static const struct option_row options[] = {
	OPTION("interval", 'i', "TIME", "print at this interval, such as 500ms (default 1s)",
	       parse_seconds_option, .at = offsetof(struct live_settings, interval_ns),
	       .example = TIME_EXAMPLE),
	OPTION("format", 'f', "FORMAT",
	       "print a table, or json-lines (a line of JSON each time)\n"
	       "(default table)",
	       parse_name_option, .at = offsetof(struct live_settings, format), .names = formats),
	OPTION("duration", 't', "TIME", "stop after TIME, such as 600s", parse_seconds_option,
	       .at = offsetof(struct live_settings, duration_ns), .example = TIME_EXAMPLE),
	OPTION("jobs", 'j', "N",
	       "match and estimate with N threads\n"
	       "(default: " JOBS_VARIABLE ", or the number of CPUs)",
	       parse_number_option, .at = offsetof(struct live_settings, jobs), .least = 1,
	       .most = MAX_JOBS),
	OPTION("address", 0, "NAME=ADDR",
	       "declare an address of a captured host whose captures do not\n"
	       "record which packets it sent (can be repeated)",
	       parse_live_address_option),
	{ .table = solve_options, .at = offsetof(struct live_settings, opt) },
	OPTION("output", 'o', "FILE", "write the final result to FILE, as JSON", parse_text_option,
	       .at = offsetof(struct live_settings, outcome.output.path)),
	OPTION("force", 0, NULL, "overwrite FILE if it exists", parse_flag_option,
	       .at = offsetof(struct live_settings, outcome.output.force)),
	OPTIONS_END
};

static const struct usage usage = {
	.begin =
		"Usage: netsync live [OPTION...] DIR | [NAME=]CAPTURE... | URL...\n\n"
		"Follow machines that are being recorded, and print at regular intervals how the clocks\n"
		"differ. DIR is the output directory of a running \"netsync record --live -o DIR\". A CAPTURE\n"
		"is a pcap or pcapng file that is being written, as by \"tcpdump -U -w CAPTURE\". A URL is\n"
		"net://HOST[:PORT] for all LTTng sessions of a relay daemon that were created with \"lttng\n"
		"create --live\", including sessions that start later, or\n"
		"net://HOST[:PORT]/host/NAME/SESSION. At the end, or after ^C, print the table of \"netsync\n"
		"sync\".\n\n",
	.end = "\nExit status: 0 if every host is corrected, 1 for bad usage or input, 2 if a host could not\n"
	       "be corrected.\n",
	.options = options,
};

/* Parse the command line. Return -1 to continue, or the exit status. */
static int parse_live_arguments(struct live_settings *set, int argc, char **argv)
{
	const int first = options_parse_all(&usage, set, argc, argv);

	if (first <= 0)
		return first ? EXIT_BAD : EXIT_DONE;
	if (set->outcome.output.path)
		set->outcome.format = FORMAT_JSON;
	set->sources = argv + first;
	set->num_sources = argc - first;
	if (!jobs_find(set->jobs, &set->jobs))
		return EXIT_BAD;
	set->opt.threads = set->jobs ? set->jobs : count_processors();
	if (set->num_sources)
		return -1;
	complain(
		"Give the output directory of \"netsync record --live\", captures that are being written, or the URL of a relay daemon (netsync live net://HOST).");
	return EXIT_BAD;
}

/* ---- what is known now ------------------------------------------------- */

/*
 * Return the time up to which a clock is known. Readings of a steered clock arrive slightly
 * later than its packets.
 */
static int64_t find_known_until(const struct netsync *ns, uint32_t index, int64_t last_ns)
{
	struct netsync_steering steering = { .size = sizeof(steering) };

	if (netsync_get_steering(ns, index, &steering) || !steering.points ||
	    steering.until_ns > last_ns || last_ns - steering.until_ns > LIVE_LAG_NS)
		return last_ns;
	return steering.until_ns;
}

static void read_live_host(const struct live *live, uint32_t index, double seconds,
			   struct live_host *host)
{
	const struct netsync_clock *clock = netsync_host_clock(live->ns, index);
	const struct netsync_host_info info = get_host_info(live->ns, index);
	const uint64_t before = index < live->num_hosts ? live->packets[index] : 0;
	int64_t corrected;

	*host = (struct live_host){
		.since_ns = NETSYNC_UNKNOWN,
		.at_ns = NETSYNC_UNKNOWN,
		.bound_ns = NETSYNC_UNKNOWN,
		.packets_per_s = (info.packets - before) / seconds,
	};
	for (uint32_t i = 0; i < netsync_io_num_traces(live->io); i++) {
		const struct netsync_io_trace trace = get_io_trace_info(live->io, i);

		if (trace.host != index)
			continue;
		host->running |= trace.running;
		host->late |= trace.late;
	}
	if (info.first_ns > info.last_ns)
		return;
	host->since_ns = info.first_ns;
	host->at_ns = find_known_until(live->ns, index, info.last_ns);
	host->known = find_clock_state_at(live->ns, index, host->at_ns, &host->offset_ns,
					  &host->skew_ppm);
	host->skew_within_ppm = compute_skew_bound(live->ns, index);
	if (host->known)
		netsync_convert(clock, host->at_ns, &corrected, &host->bound_ns);
}

static void read_live_pair(const struct live *live, uint32_t index, double seconds,
			   struct live_pair *pair)
{
	const struct netsync_pair_info info = get_pair_info(live->ns, index);
	uint64_t before[2] = { 0, 0 };

	for (uint32_t i = 0; i < live->num_pairs; i++)
		if (live->pairs[i].host[0] == info.host[0] &&
		    live->pairs[i].host[1] == info.host[1])
			memcpy(before, live->pairs[i].messages, sizeof(before));
	for (int way = 0; way < 2; way++)
		pair->messages_per_s[way] = (info.messages[way] - before[way]) / seconds;
}

/* Remember the counts, for the rates of the next interval. */
static bool remember_live_counts(struct live *live, int64_t now_ns)
{
	uint32_t hosts = netsync_num_hosts(live->ns);
	uint32_t pairs = netsync_num_pairs(live->ns);
	uint64_t *packets = calloc(hosts + 1, sizeof(*packets));
	struct netsync_pair_info *infos = calloc(pairs + 1, sizeof(*infos));

	for (uint32_t i = 0; i < hosts && packets; i++)
		packets[i] = get_host_info(live->ns, i).packets;
	for (uint32_t i = 0; i < pairs && infos; i++)
		infos[i] = get_pair_info(live->ns, i);
	free(live->packets);
	free(live->pairs);
	live->packets = packets;
	live->pairs = infos;
	live->num_hosts = packets ? hosts : 0;
	live->num_pairs = infos ? pairs : 0;
	live->last_ns = now_ns;
	return packets && infos;
}

/* ---- the screen -------------------------------------------------------- */

/* Erase the last drawing. The terminal may have echoed ^C at the cursor. */
static void erase_live_screen(struct live *live)
{
	if (live->drawn)
		printf("\r\033[%dA\033[J", live->drawn);
	else if (isatty(STDOUT_FILENO))
		printf("\r\033[K");
	live->drawn = 0;
	fflush(stdout);
}

/* Replace the last drawing by the lines of @text that fit on the screen. */
static void draw_live_screen(struct live *live, char *text)
{
	struct winsize size = { .ws_row = 24, .ws_col = 80 };
	int rows;

	ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	rows = size.ws_row > 1 ? size.ws_row - 1 : 1;
	erase_live_screen(live);
	for (char *line = text, *end; *line && live->drawn < rows; line = end) {
		int columns = 0, bytes;

		end = strchrnul(line, '\n');
		/* In UTF-8, each byte other than 10xxxxxx begins a character. */
		for (bytes = 0; line + bytes < end; bytes++) {
			columns += (line[bytes] & 0xc0) != 0x80;
			if (columns > size.ws_col)
				break;
		}
		printf("%.*s\n", bytes, line);
		live->drawn++;
		end += *end == '\n';
	}
}

static bool show_live_state(struct live *live, const struct live_state *state)
{
	char *text = NULL;
	size_t size;
	FILE *out;

	if (live->set->format == LIVE_JSON_LINES)
		return write_live_json(stdout, state) && !fflush(stdout);
	out = open_memstream(&text, &size);
	if (!out)
		return false;
	write_live_table(out, state);
	fclose(out);
	if (text && isatty(STDOUT_FILENO))
		draw_live_screen(live, text);
	else if (text)
		printf("%s\n", text);
	free(text);
	return text && !fflush(stdout);
}

static void print_live_warning(void *data, const char *sentence)
{
	erase_live_screen(data);
	complain("warning: %s", sentence);
}

/* ---- following --------------------------------------------------------- */

/*
 * Estimate the clocks. Keep the reference that was found first, so that offsets can be compared.
 * A requested reference may not have appeared yet.
 */
static int solve_live(struct live *live)
{
	struct netsync_options opt = live->set->opt;
	int ret;

	if (!opt.reference)
		opt.reference = live->reference;
	ret = netsync_solve(live->ns, &opt);
	if (ret == -ENOENT) {
		opt.reference = NULL;
		ret = netsync_solve(live->ns, &opt);
	}
	if (!ret && !live->reference && netsync_num_pairs(live->ns))
		live->reference = strdup(get_host_info(live->ns, netsync_reference(live->ns)).name);
	return ret;
}

static bool estimate_and_show(struct live *live)
{
	int64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	double seconds = (double)(now_ns - live->last_ns) / NS_PER_S;
	struct live_state state = {
		.ns = live->ns,
		.wall_ns = clock_ns(CLOCK_REALTIME),
	};
	bool ok;

	if (!netsync_num_hosts(live->ns))
		return true;
	if (solve_live(live) < 0) {
		complain("%s", netsync_error(live->ns));
		return false;
	}
	state.hosts = calloc(netsync_num_hosts(live->ns), sizeof(*state.hosts));
	state.pairs = calloc(netsync_num_pairs(live->ns) + 1, sizeof(*state.pairs));
	ok = state.hosts && state.pairs;
	for (uint32_t i = 0; i < netsync_num_hosts(live->ns) && ok; i++)
		read_live_host(live, i, seconds, &state.hosts[i]);
	for (uint32_t i = 0; i < netsync_num_pairs(live->ns) && ok; i++)
		read_live_pair(live, i, seconds, &state.pairs[i]);
	errno = 0;
	ok = ok && show_live_state(live, &state) && remember_live_counts(live, now_ns);
	/* Errors of standard output are reported at the end. */
	if (!ok && !ferror(stdout))
		complain("%s.",
			 errno && errno != ENOMEM ? strerror(errno) : "There is not enough memory");
	free(state.hosts);
	free(state.pairs);
	return ok;
}

/* Are all sources recordings that have ended? */
static bool have_recordings_ended(struct live *live)
{
	size_t num = 0;

	for (size_t i = 0; i < live->num_recordings; i++) {
		struct followed_recording *recording = &live->recordings[i];

		if (!recording->ended && !recording_is_running(recording->dir)) {
			recording->ended = true;
			erase_live_screen(live);
			complain("%s: the recording has ended.", recording->dir);
		}
		num += recording->ended;
	}
	return num && num == (size_t)live->set->num_sources;
}

/* Return the mean length of the data of a host, ns. */
static double compute_mean_length(const struct live *live)
{
	const uint32_t hosts = netsync_num_hosts(live->ns);
	double sum = 0;

	for (uint32_t i = 0; i < hosts; i++) {
		const struct netsync_host_info info = get_host_info(live->ns, i);

		if (info.first_ns <= info.last_ns)
			sum += (double)info.last_ns - (double)info.first_ns;
	}
	return hosts ? sum / hosts : 0;
}

/*
 * Read for @wait_ms. Set *is_behind if data was read that had been recorded earlier. On failure, print
 * a message and return false.
 */
static bool read_sources(struct live *live, int64_t wait_ms, bool *is_behind)
{
	const int64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
	const double before_ns = compute_mean_length(live);
	double passed_ns;

	if (netsync_io_poll(live->io, (int)min64(wait_ms, LONGEST_POLL_MS)) < 0) {
		complain("%s", netsync_io_error(live->io));
		return false;
	}
	passed_ns = (double)(clock_ns(CLOCK_MONOTONIC) - begin_ns);
	*is_behind = compute_mean_length(live) - before_ns > CATCHING_UP * passed_ns;
	return true;
}

static bool follow_sources(struct live *live)
{
	const struct live_settings *set = live->set;
	const int64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
	const int64_t end_ns = set->duration_ns < 0 ? INT64_MAX : begin_ns + set->duration_ns;
	int64_t next_ns = begin_ns + set->interval_ns, cost_ns = 0;
	bool is_behind = false;

	live->last_ns = begin_ns;
	while (!interrupted) {
		int64_t now_ns = clock_ns(CLOCK_MONOTONIC);

		if (now_ns >= end_ns || have_recordings_ended(live))
			break;
		if (now_ns < next_ns ||
		    (is_behind && now_ns < next_ns + LONGEST_CATCH_UP * cost_ns)) {
			const int64_t left_ms = (min64(next_ns, end_ns) - now_ns) / 1000000;

			if (!read_sources(live, now_ns < next_ns ? left_ms + 1 : CATCH_UP_MS,
					  &is_behind))
				return false;
			continue;
		}
		if (!estimate_and_show(live))
			return false;
		/* Spend at least as much time on reading as on estimation. */
		cost_ns = clock_ns(CLOCK_MONOTONIC) - now_ns;
		next_ns += set->interval_ns;
		if (next_ns < now_ns + 2 * cost_ns)
			next_ns = now_ns + 2 * cost_ns;
	}
	return true;
}

/* Write the last data, and the result of all data. */
static int write_final_result(struct live *live)
{
	const struct live_settings *set = live->set;

	if (netsync_io_poll(live->io, 0) < 0) {
		complain("%s", netsync_io_error(live->io));
		return EXIT_BAD;
	}
	erase_live_screen(live);
	if (!netsync_num_hosts(live->ns)) {
		complain(
			"%s",
			live->num_sessions ?
				"Every session ended or failed before any of its packets could be read." :
				"The captures contain no packets that can be used.");
		return EXIT_BAD;
	}
	if (netsync_solve(live->ns, &set->opt) < 0) {
		complain("%s", netsync_error(live->ns));
		return EXIT_BAD;
	}
	if (set->format == LIVE_TABLE)
		write_result_table(stdout, live->ns);
	if (set->outcome.output.path && !outcome_write(&set->outcome, live->ns, live->io))
		return EXIT_BAD;
	return outcome_explain(&set->outcome, live->ns);
}

/* Add the clock readings of hosts that cannot report their clocks by events. */
static bool add_recorded_clocks(struct live *live, const char *dir)
{
	char *path;
	int ret;

	if (asprintf(&path, "%s/" RECORDING_CLOCKS, dir) < 0)
		return complain_no_memory();
	ret = netsync_io_add_live_clocks(live->io, path);
	free(path);
	if (ret < 0)
		complain("%s", netsync_io_error(live->io));
	return ret >= 0;
}

/* Add a URL or a capture. On failure, print a message and return false. */
static bool add_live_input(struct live *live, const char *what)
{
	live->num_sessions += strstr(what, "://") != NULL;
	if (netsync_io_add_live(live->io, what) >= 0)
		return true;
	complain("%s", netsync_io_error(live->io));
	return false;
}

/* Add what the lines of a recording name. The lines are changed. */
static bool add_recording_sources(struct live *live, const char *dir, char *lines)
{
	char *line, *what;
	bool ok = true;

	while (ok && (line = strsep(&lines, "\n"))) {
		char *equal = strchr(line, '=');

		if (!*line)
			continue;
		if (strstr(line, "://") || !equal) {
			ok = add_live_input(live, line) && add_recorded_clocks(live, dir);
		} else if (asprintf(&what, "%.*s=%s/%s", (int)(equal - line), line, dir,
				    equal + 1) >= 0) {
			ok = add_live_input(live, what);
			free(what);
		} else {
			ok = complain_no_memory();
		}
	}
	return ok;
}

/* Follow the recording in a directory until it ends. */
static bool add_recording(struct live *live, const char *dir)
{
	struct followed_recording *last = array_add(&live->recordings, live->num_recordings,
						    sizeof(*last));
	char *lines;
	bool ok;

	if (!last)
		return complain_no_memory();
	lines = recording_find(dir);
	if (!lines)
		return false;
	*last = (struct followed_recording){ .dir = dir };
	live->num_recordings++;
	ok = add_recording_sources(live, dir, lines);
	free(lines);
	return ok;
}

/* Do files exist that a program names after this one, as tcpdump does with -C, -G or -W? */
static bool has_rotated_files(const char *path)
{
	glob_t files = { 0 };
	char *pattern;
	bool any;

	if (strchr(path, '%'))
		return true;
	if (asprintf(&pattern, "%s[0-9]*", path) < 0)
		return false;
	any = !glob(pattern, GLOB_NOSORT, NULL, &files);
	globfree(&files);
	free(pattern);
	return any;
}

/*
 * Add a source, which is a URL, the directory of a recording in progress, or a capture. On failure,
 * print a message and return false.
 */
static bool add_live_source(struct live *live, const char *what)
{
	struct stat info;

	if (strstr(what, "://"))
		return add_live_input(live, what);
	if (!stat(what, &info))
		return S_ISDIR(info.st_mode) ? add_recording(live, what) :
					       add_live_input(live, what);
	if (!strchr(what, '=') && !has_rotated_files(what)) {
		complain(
			"%s: %s; give the output directory of \"netsync record --live -o DIR\", a capture that is being written, or the URL of a relay daemon, as in \"netsync live net://HOST\".",
			what, strerror(errno));
		return false;
	}
	return add_live_input(live, what);
}

static int watch_sources(struct live *live)
{
	const struct live_settings *set = live->set;

	if (!outcome_check_output(&set->outcome))
		return EXIT_BAD;
	/* Return memory to the system that estimation needs only briefly. */
	mallopt(M_MMAP_THRESHOLD, MMAP_THRESHOLD);
	netsync_limit_packets(live->ns, MAX_PACKETS);
	netsync_use_threads(live->ns, set->opt.threads);
	netsync_io_set_warn(live->io, print_live_warning, live);
	for (size_t i = 0; i < set->num_addresses; i++) {
		if (netsync_io_add_address(live->io, set->addresses[i]) >= 0)
			continue;
		complain("%s", netsync_io_error(live->io));
		return EXIT_BAD;
	}
	for (int i = 0; i < set->num_sources; i++)
		if (!add_live_source(live, set->sources[i]))
			return EXIT_BAD;
	return follow_sources(live) ? write_final_result(live) : EXIT_BAD;
}

static int follow_recordings(const struct live_settings *set)
{
	struct live live = { .set = set, .ns = netsync_new() };
	int status = EXIT_BAD;

	if (live.ns)
		live.io = netsync_io_new(live.ns);
	catch_signal(SIGINT);
	catch_signal(SIGTERM);
	if (live.io)
		status = watch_sources(&live);
	else
		complain_no_memory();
	netsync_io_free(live.io);
	netsync_free(live.ns);
	free(live.recordings);
	free(live.reference);
	free(live.packets);
	free(live.pairs);
	return status;
}

int cmd_live(int argc, char **argv)
{
	struct live_settings set = {
		.outcome = OUTCOME_DEFAULT,
		.opt = { .size = sizeof(set.opt) },
		.interval_ns = NS_PER_S,
		.duration_ns = -1,
	};
	int status = parse_live_arguments(&set, argc, argv);

	if (status < 0)
		status = follow_recordings(&set);
	free(set.addresses);
	return status;
}
