// SPDX-License-Identifier: GPL-2.0-only
/*
 * netsync clock-log - write down how a daemon steers this machine's clock: what
 * CLOCK_REALTIME (or CLOCK_MONOTONIC) and CLOCK_MONOTONIC_RAW show at the same
 * instants, as in netsync-clocks(5). Each instant is read several times, and the
 * fastest reading is kept.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "common/options.h"
#include "common/tool.h"

/*
 * So often a second: at 10, a rate that changes at once by 100 ppm is known to 3 us
 * (99 %) meanwhile, and the change itself from the readings before and after.
 */
#define READINGS_PER_S 10
/* The fastest of so many is mostly undisturbed: some 50 ns. Chosen. */
#define TRIES 8
#define SECOND_NS 1000000000

struct log {
	unsigned int clock;	/* of clocks[] */
	char host[256];
	int64_t duration_ns;	/* 0: until a signal comes */
};

static const char *const clock_names[] = { "realtime", "monotonic", NULL };
static const struct {
	clockid_t id;
	const char *name;
} clocks[] = {
	{ CLOCK_REALTIME, "CLOCK_REALTIME" },
	{ CLOCK_MONOTONIC, "CLOCK_MONOTONIC" },
};

static int64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

struct reading {
	int64_t before_ns;	/* on the clock */
	int64_t raw_ns;
	int64_t after_ns;
};

/* The fastest of several; of a clock that is set meanwhile one is not as it seems. */
static struct reading read_clocks(clockid_t clock)
{
	struct reading best = { 0 };

	for (int i = 0; i < TRIES; i++) {
		struct reading r = { .before_ns = now(clock) };

		r.raw_ns = now(CLOCK_MONOTONIC_RAW);
		r.after_ns = now(clock);
		if (!i || (r.after_ns >= r.before_ns &&
			   r.after_ns - r.before_ns <
				   best.after_ns - best.before_ns))
			best = r;
	}
	return best;
}

static bool write_reading(const struct log *log)
{
	struct reading r = read_clocks(clocks[log->clock].id);

	if (r.after_ns < r.before_ns)
		return true;
	printf("%s %" PRId64 " %" PRId64 " %" PRId64 "\n", log->host,
	       middle(r.before_ns, r.after_ns), r.raw_ns,
	       (r.after_ns - r.before_ns + 1) / 2);
	return !fflush(stdout);
}

static int write_log(const struct log *log)
{
	const int64_t begin = now(CLOCK_MONOTONIC);
	int64_t next = begin;

	printf("# netsync-clocks(5): %s of %s, and CLOCK_MONOTONIC_RAW\n"
	       "# host time_ns raw_ns within_ns\n",
	       clocks[log->clock].name, log->host);
	while (!interrupted &&
	       (!log->duration_ns || next - begin <= log->duration_ns)) {
		const struct timespec until = {
			.tv_sec = next / SECOND_NS, .tv_nsec = next % SECOND_NS,
		};

		if (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL))
			continue;
		if (!write_reading(log)) {
			complain("Standard output: %s.", strerror(errno));
			return EXIT_BAD;
		}
		next += SECOND_NS / READINGS_PER_S;
	}
	return EXIT_DONE;
}

/* What can be in a column. */
static bool take_host(void *at, const struct option_row *row, const char *value)
{
	struct log *log = at;

	if (*value && *value != '#' && strlen(value) < sizeof(log->host) &&
	    !strpbrk(value, " \t\n\r\v\f")) {
		strcpy(log->host, value);
		return true;
	}
	complain("--%s: a name has no blanks, and does not begin with #.",
		 row->name);
	return false;
}

static const struct option_row options[] = {
	OPTION("clock", 0, "NAME", "realtime, which captures are stamped by (default), or\n"
	       "monotonic, as traces of trace-cmd -C mono", take_name,
	       .at = offsetof(struct log, clock), .names = clock_names),
	OPTION("host", 0, "NAME", "what the machine is called (default: its host name)",
	       take_host),
	OPTION("duration", 'd', "TIME", "end after so long", take_positive_duration,
	       .at = offsetof(struct log, duration_ns), .example = "60s"),
	OPTIONS_END
};

static const struct usage usage = {
	.begin = "Usage: netsync clock-log [OPTION...] > FILE\n\n"
	"Write down how a daemon steers this machine's clock, until a signal comes. With\n"
	"\"netsync sync --clocks FILE\", captures that are made meanwhile are corrected as\n"
	"if nobody had steered it.\n\n",
	.end = "\nIt needs no privileges. FILE is as netsync-clocks(5) says.\n",
	.options = options,
};

int cmd_clock_log(int argc, char **argv)
{
	struct log log = { 0 };
	const int first = options_take(&usage, &log, argc, argv);

	if (first <= 0)
		return first ? EXIT_BAD : EXIT_DONE;
	if (first < argc) {
		complain("%s: it takes no arguments but options.", argv[first]);
		return EXIT_BAD;
	}
	if (!*log.host && gethostname(log.host, sizeof(log.host) - 1)) {
		complain("Give the machine a name: --host NAME.");
		return EXIT_BAD;
	}
	catch_signal(SIGINT);
	catch_signal(SIGTERM);
	return write_log(&log);
}
