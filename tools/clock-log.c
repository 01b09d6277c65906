// SPDX-License-Identifier: GPL-2.0-only
/*
 * netsync clock-log: log how a daemon steers this machine's clock.
 *
 * The log contains readings of CLOCK_REALTIME (or CLOCK_MONOTONIC) together with
 * CLOCK_MONOTONIC_RAW, in the format of netsync-clocks(5). For each log entry, the clocks are read
 * several times, and the fastest reading is used. A kernel timer reports steps of CLOCK_REALTIME.
 */
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "common/clock-watch.h"
#include "common/complain.h"
#include "common/exit-status.h"
#include "common/now.h"
#include "common/options.h"
#include "common/output.h"
#include "common/signal.h"
#include "common/utc-source.h"

struct log {
	unsigned int clock; /* index into clocks[], or CLOCK_BOTH */
	char host[256];
	unsigned int utc;    /* enum utc_source */
	int64_t duration_ns; /* duration of the log; 0 to continue until interrupted by a signal */
};

/* Names in the order of clocks[], then CLOCK_BOTH. */
static const char *const clock_names[] = { "realtime", "monotonic", "both", NULL };
#define CLOCK_BOTH 2

/* Number of readings for each reading of the difference from UTC: one per second. Chosen. */
#define READINGS_PER_UTC CLOCK_READINGS_PER_S

static const char *const utc_names[] = {
	[UTC_SOURCE_NONE] = "none",
	[UTC_SOURCE_CHRONY] = "chrony",
	[UTC_SOURCE_KERNEL] = "kernel",
	NULL,
};

static const struct {
	clockid_t id;
	const char *name;
	const char *suffix; /* suffix of the machine's name if both clocks are logged */
} clocks[] = {
	{ CLOCK_REALTIME, "CLOCK_REALTIME", "/realtime" },
	{ CLOCK_MONOTONIC, "CLOCK_MONOTONIC", "/mono" },
};

/*
 * Start to watch CLOCK_REALTIME for steps. Return -1 if the log does not contain this
 * clock, or if the kernel has no such timers.
 */
static int start_step_watch(const struct log *log)
{
	return log->clock == CLOCK_BOTH || clocks[log->clock].id == CLOCK_REALTIME ?
		       clock_watch_start() :
		       -1;
}

/* Print why the difference from UTC is unknown, once for each reason. */
static void warn_of_unknown_utc(const char *why)
{
	static const char *printed[UTC_SOURCE_REASONS];

	for (int i = 0; i < UTC_SOURCE_REASONS; i++) {
		if (printed[i] == why)
			return;
		if (printed[i])
			continue;
		printed[i] = why;
		complain("warning: the difference of the clock from UTC is unknown: %s.", why);
		return;
	}
}

/* Read the bound on the clock's difference from UTC. */
static int64_t read_utc_within(const struct log *log)
{
	const char *why = NULL;
	const int64_t within_ns = utc_source_read(log->utc, &why);

	if (why)
		warn_of_unknown_utc(why);
	return within_ns;
}

/*
 * Write a reading. *@is_set says whether the clock was stepped since the last reading that was
 * written. @has_utc says whether the reading contains the difference from UTC.
 */
static bool write_reading(const struct log *log, unsigned int clock, int watch, bool *is_set,
			  bool has_utc)
{
	const int64_t utc_within_ns = has_utc ? read_utc_within(log) : UTC_WITHIN_UNKNOWN;
	const bool has_both = log->clock == CLOCK_BOTH;
	char host[sizeof(log->host) + 16];
	struct clock_reading r;

	if (!clock_watch_read(watch, clocks[clock].id, is_set, &r))
		return true;
	r.utc_within_ns = r.was_set ? UTC_WITHIN_UNKNOWN : utc_within_ns;
	snprintf(host, sizeof(host), "%s%s", log->host, has_both ? clocks[clock].suffix : "");
	return clock_reading_write(stdout, host, &r);
}

/*
 * Read the clocks one after the other, so that their raw times are close together, and write the
 * readings. Only CLOCK_REALTIME can be stepped, and shows UTC.
 */
static bool write_readings(const struct log *log, int watch, bool *is_set, bool has_utc)
{
	bool never_set = false;
	bool ok = true;

	for (unsigned int i = 0; i < CLOCK_BOTH && ok; i++)
		if (log->clock == i || log->clock == CLOCK_BOTH)
			ok = clocks[i].id == CLOCK_REALTIME ?
				     write_reading(log, i, watch, is_set, has_utc) :
				     write_reading(log, i, -1, &never_set, false);
	return ok && !fflush(stdout);
}

static int write_clock_log(const struct log *log)
{
	const int watch = start_step_watch(log);
	const int64_t begin = now_ns();
	int status = EXIT_DONE;
	int64_t next = begin;
	unsigned int number = 0;
	bool is_set = false;

	clock_reading_write_head(stdout,
				 log->clock == CLOCK_BOTH ? "CLOCK_REALTIME and CLOCK_MONOTONIC" :
							    clocks[log->clock].name,
				 log->host);
	while (!interrupted && !status && (!log->duration_ns || next - begin <= log->duration_ns)) {
		if (!clock_read_wait(&next))
			continue;
		if (!write_readings(log, watch, &is_set,
				    log->utc && number++ % READINGS_PER_UTC == 0)) {
			complain_about_standard_output();
			status = EXIT_BAD;
		}
	}
	if (watch >= 0)
		close(watch);
	return status;
}

/* Set the name of the host, which must be usable as a column. */
static bool parse_log_host_option(void *at, const struct option_row *row, const char *value)
{
	struct log *log = at;

	if (*value && *value != '#' && strlen(value) < sizeof(log->host) &&
	    !strpbrk(value, " \t\n\r\v\f")) {
		strcpy(log->host, value);
		return true;
	}
	complain("--%s: a name cannot contain blanks or begin with #.", row->name);
	return false;
}

static const struct option_row options[] = {
	OPTION("clock", 0, "NAME",
	       "log CLOCK_REALTIME (realtime, as in captures; default),\n"
	       "CLOCK_MONOTONIC (monotonic, as in traces of trace-cmd -C\n"
	       "mono), or both, as hosts NAME/realtime and NAME/mono",
	       parse_name_option, .at = offsetof(struct log, clock), .names = clock_names),
	OPTION("utc", 0, "SOURCE",
	       "also log how far CLOCK_REALTIME is from UTC, as reported by\n"
	       "chronyd (chrony), or by the daemon to the kernel (kernel)",
	       parse_name_option, .at = offsetof(struct log, utc), .names = utc_names),
	OPTION("host", 0, "NAME", "use NAME as the host name (default: that of this machine)",
	       parse_log_host_option),
	OPTION("duration", 'd', "TIME", "stop after TIME", parse_seconds_option,
	       .at = offsetof(struct log, duration_ns), .example = "60s"),
	OPTIONS_END
};

static const struct usage usage = {
	.begin =
		"Usage: netsync clock-log [OPTION...] > FILE\n\n"
		"Log how a time daemon steers this machine's clock, until interrupted. For captures made\n"
		"at the same time, \"netsync sync --clocks FILE\" then estimates the clock as if no daemon\n"
		"had steered it.\n\n",
	.end = "\nNo privileges are needed. netsync-clocks(5) describes FILE.\n",
	.options = options,
};

int cmd_clock_log(int argc, char **argv)
{
	struct log log = { 0 };
	const int first = options_parse_all(&usage, &log, argc, argv);

	if (first <= 0)
		return first ? EXIT_BAD : EXIT_DONE;
	if (first < argc) {
		complain("%s: unexpected argument; netsync clock-log takes only options.",
			 argv[first]);
		return EXIT_BAD;
	}
	if (!*log.host && gethostname(log.host, sizeof(log.host) - 1)) {
		complain("Host name unknown: add --host NAME.");
		return EXIT_BAD;
	}
	if (log.utc && log.clock != CLOCK_BOTH && clocks[log.clock].id != CLOCK_REALTIME) {
		complain("--utc: CLOCK_MONOTONIC does not show UTC; log --clock realtime or both.");
		return EXIT_BAD;
	}
	catch_signal(SIGINT);
	catch_signal(SIGTERM);
	return write_clock_log(&log);
}
