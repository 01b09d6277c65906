// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Relate several clocks of one machine, which are separate hosts, by messages between these
 * hosts. Two clocks that were read at the same raw time are related like two hosts between which
 * a message takes no time.
 *
 *	raw	------a---------b------	CLOCK_MONOTONIC_RAW, the same for all of them
 *	mono	      a		|	a reading, and its rate until the next one
 *	realtime		b	mono at b follows from a; slack is what that can be off
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/io.h"
#include "util/array.h"

/*
 * Maximum frequency error of a clock relative to the raw clock (ns per ns). This is twice the limit
 * of Linux.
 */
#define MAX_SKEW 1e-3

/*
 * Maximum distance, in raw time (ns), of two readings that are compared. Chosen: "netsync
 * clock-log" reads clocks ten times per second. In 0.1 s, a clock drifts at MAX_SKEW by 0.1 ms,
 * which is about the delay of a network.
 */
#define MAX_APART INT64_C(100000000)

/* Error due to the rounding of readings and rates (ns). */
#define ROUNDING 2

struct machine_clock_reading {
	int64_t time_ns;
	int64_t raw_ns;
	int64_t within_ns; /* error bound of raw_ns */
	double rate;	   /* rate until the next reading, or 0 if not known */
};

/* One of several clocks of a machine. */
struct clock_of_machine {
	const struct io_host *host;
	struct machine_clock_reading *reading;
	size_t num;
	size_t room;
};

/* ---- readings -------------------------------------------------------------- */

static struct clock_of_machine *find_clock_of_host(const struct netsync_io *io, uint32_t host)
{
	for (size_t i = 0; i < io->num_machine_clocks; i++)
		if (io->machine_clocks[i].host->number == (int)host)
			return &io->machine_clocks[i];
	return NULL;
}

int io_add_machine_clock(struct netsync_io *io, const struct io_host *host)
{
	struct clock_of_machine *last = array_add(&io->machine_clocks, io->num_machine_clocks,
						  sizeof(*last));

	if (!last)
		return io_fail_no_memory(io);
	*last = (struct clock_of_machine){ .host = host };
	io->num_machine_clocks++;
	return 0;
}

void io_free_machine_clocks(struct netsync_io *io)
{
	for (size_t i = 0; i < io->num_machine_clocks; i++)
		free(io->machine_clocks[i].reading);
	free(io->machine_clocks);
	io->machine_clocks = NULL;
	io->num_machine_clocks = 0;
}

int io_keep_clock_reading(struct netsync_io *io, const struct netsync_clock_point *point)
{
	struct clock_of_machine *clock = find_clock_of_host(io, point->host);

	if (!clock)
		return 0;
	if (array_grow(&clock->reading, &clock->room, clock->num, sizeof(*clock->reading)))
		return -ENOMEM;
	clock->reading[clock->num++] = (struct machine_clock_reading){
		point->time_ns, point->raw_ns, point->within_ns, point->rate
	};
	return 0;
}

static int compare_raw_times(const void *a, const void *b)
{
	const struct machine_clock_reading *p = a, *q = b;

	return p->raw_ns < q->raw_ns ? -1 : p->raw_ns > q->raw_ns;
}

/* ---- two clocks -------------------------------------------------------------- */

static bool has_named_clock(const struct clock_of_machine *clock, const char *name)
{
	const char *is = clock->host->base->clock_name;

	return is && !strcmp(is, name);
}

/*
 * Return whether this clock can be stepped. CLOCK_MONOTONIC, CLOCK_BOOTTIME and tracers' own clocks
 * cannot.
 */
static bool can_clock_be_set(const struct clock_of_machine *clock)
{
	return has_named_clock(clock, "realtime") || has_named_clock(clock, "tai");
}

/* An estimated reading of a clock at a raw time, and its error bound. */
struct clock_estimate {
	int64_t time_ns;
	int64_t slack_ns;
};

/*
 * Return whether the rate of a reading leads to the next reading, so that the clock is linear
 * between both.
 */
static bool is_reading_linear(const struct machine_clock_reading *a,
			      const struct machine_clock_reading *next)
{
	const double raw = (double)(next->raw_ns - a->raw_ns);
	const double off = (double)(next->time_ns - a->time_ns) - raw * a->rate;
	const double most = (double)(a->within_ns + next->within_ns) + ROUNDING;

	return a->rate != 0 && off <= most && off >= -most;
}

/* Estimate the clock at @raw_ns, which may be before or after the reading @a. */
static struct clock_estimate estimate_clock_near(const struct machine_clock_reading *a,
						 int64_t raw_ns, double rate, double skew)
{
	const double apart = (double)(raw_ns - a->raw_ns);

	return (struct clock_estimate){
		.time_ns = a->time_ns + (int64_t)(apart * rate),
		.slack_ns = a->within_ns + ROUNDING +
			    (int64_t)((apart < 0 ? -apart : apart) * skew),
	};
}

/*
 * Estimate a clock at a raw time. @at is the last reading at or before this time. Return false if
 * no reading is near enough.
 */
static bool estimate_clock(const struct clock_of_machine *clock, size_t at, int64_t raw_ns,
			   struct clock_estimate *is)
{
	const struct machine_clock_reading *a = &clock->reading[at];
	const struct machine_clock_reading *next = at + 1 < clock->num ? a + 1 : NULL;

	if (a->raw_ns <= raw_ns && next && is_reading_linear(a, next)) {
		*is = estimate_clock_near(a, raw_ns, a->rate, 0);
		is->slack_ns += next->within_ns;
		return true;
	}
	/* The clock may have been stepped at any time between the two readings. */
	if (can_clock_be_set(clock))
		return false;
	if (next && next->raw_ns - raw_ns < raw_ns - a->raw_ns)
		a = next;
	*is = estimate_clock_near(a, raw_ns, 1, MAX_SKEW);
	return raw_ns - a->raw_ns <= MAX_APART && a->raw_ns - raw_ns <= MAX_APART;
}

/*
 * Push a message in each direction. The send time is early enough to be certainly before the
 * receive time.
 */
static int push_message_pair(struct netsync_io *io, const struct clock_of_machine *a,
			     const struct clock_estimate *is, const struct clock_of_machine *b,
			     const struct machine_clock_reading *reading)
{
	const int64_t slack = is->slack_ns + reading->within_ns;
	const uint32_t host_a = (uint32_t)a->host->number;
	const uint32_t host_b = (uint32_t)b->host->number;
	int ret = netsync_push_message(io->ns, host_a, host_b, is->time_ns - slack,
				       reading->time_ns);

	if (!ret)
		ret = netsync_push_message(io->ns, host_b, host_a, reading->time_ns - slack,
					   is->time_ns);
	if (ret == -ERANGE)
		return 0;
	return ret < 0 ? io_fail(io, ret, "%s: %s", b->host->name, netsync_error(io->ns)) : 1;
}

/*
 * Relate two clocks at all readings of the second clock. Return the number of readings that were
 * used, or a negative value.
 */
static int relate_clocks(struct netsync_io *io, const struct clock_of_machine *a,
			 const struct clock_of_machine *b)
{
	int used = 0, ret = 0;
	size_t at = 0;

	for (size_t i = 0; i < b->num && a->num && ret >= 0; i++) {
		const struct machine_clock_reading *reading = &b->reading[i];
		struct clock_estimate is;

		while (at + 1 < a->num && a->reading[at + 1].raw_ns <= reading->raw_ns)
			at++;
		if (!estimate_clock(a, at, reading->raw_ns, &is))
			continue;
		ret = push_message_pair(io, a, &is, b, reading);
		used += ret > 0;
	}
	return ret < 0 ? ret : used;
}

/* ---- all clocks ----------------------------------------------------------------- */

static const char *get_clock_name(const struct clock_of_machine *clock)
{
	const char *name = clock->host->base->clock_name;

	return name ? name : "LTTng's clock";
}

/*
 * Return whether netsync_clock events or "netsync clock-log" can read this clock. Some tracers have
 * clocks of their own.
 */
static bool can_clock_be_read(const struct clock_of_machine *clock)
{
	static const char *const names[] = { "realtime", "mono", "boot", "tai" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (has_named_clock(clock, names[i]))
			return true;
	return !clock->host->base->clock_name;
}

/* Return advice on what to record so that two clocks can be related. */
static char *advise_what_to_record(const struct clock_of_machine *a,
				   const struct clock_of_machine *b)
{
	const struct clock_of_machine *captured = has_named_clock(a, "realtime") ? a : b;
	const struct clock_of_machine *traced = captured == a ? b : a;

	if (!has_named_clock(captured, "realtime"))
		return io_format("the netsync_clock events in both traces");
	/* The log contains the clock's own readings, so the trace's times must not be shifted. */
	if (has_named_clock(traced, "mono") && !traced->host->base->is_shifted)
		return io_format("\"netsync clock-log --clock both --host %s\"",
				 a->host->base->host_name);
	return io_format("the netsync_clock events, and \"netsync clock-log --host %s\"",
			 captured->host->name);
}

static void warn_of_unrelated(struct netsync_io *io, const struct clock_of_machine *a,
			      const struct clock_of_machine *b)
{
	static const char two_hosts[] =
		"its traces have two clocks, %s and %s, which are treated as two hosts, %s and %s. Only packets relate the two hosts.";
	const bool are_read = can_clock_be_read(a) && can_clock_be_read(b);
	char *what = io_format(two_hosts, get_clock_name(a), get_clock_name(b), a->host->name,
			       b->host->name);
	char *advice = are_read ? advise_what_to_record(a, b) : NULL;

	if (are_read)
		io_warn(io,
			"%s: %s Record with one clock, or also record how both clocks are steered: %s.",
			a->host->base->host_name, what ? what : "", advice ? advice : "");
	else
		io_warn(io,
			"%s: %s Record with one clock, or with CLOCK_MONOTONIC (trace-cmd record -C mono, perf record -k mono); other clocks are known only to their tracer.",
			a->host->base->host_name, what ? what : "");
	free(what);
	free(advice);
}

/*
 * Return whether this is the clock of a corrected copy. If a corrected copy is given together with
 * its original, another warning reports this mistake.
 */
static bool is_corrected_clock(const struct clock_of_machine *clock)
{
	const char *name = clock->host->base->clock_name;

	return name && !strcmp(name, NETSYNC_IO_CORRECTED_CLOCK);
}

/* Return whether this clock is known more accurately between its readings than the other clock. */
static bool is_clock_better_known(const struct clock_of_machine *clock,
				  const struct clock_of_machine *other)
{
	if (!clock->num || !other->num)
		return clock->num;
	if (can_clock_be_set(clock) != can_clock_be_set(other))
		return can_clock_be_set(other);
	return clock->reading[0].rate != 0 && other->reading[0].rate == 0;
}

static int relate_pair(struct netsync_io *io, const struct clock_of_machine *a,
		       const struct clock_of_machine *b)
{
	const bool is_swapped = is_clock_better_known(b, a);
	const int ret = is_swapped ? relate_clocks(io, b, a) : relate_clocks(io, a, b);

	if (!ret && !is_corrected_clock(a) && !is_corrected_clock(b))
		warn_of_unrelated(io, a, b);
	return ret < 0 ? ret : 0;
}

int io_relate_clocks(struct netsync_io *io)
{
	int ret = 0;

	/* With several parts, this process has only a part of the readings. */
	if (io->part || io->observe || io->sink)
		return 0;
	for (size_t i = 0; i < io->num_machine_clocks; i++) {
		struct clock_of_machine *clock = &io->machine_clocks[i];

		if (clock->num)
			qsort(clock->reading, clock->num, sizeof(*clock->reading),
			      compare_raw_times);
	}
	for (size_t i = 0; i < io->num_machine_clocks; i++)
		for (size_t j = i + 1; j < io->num_machine_clocks && !ret; j++)
			if (!strcmp(io->machine_clocks[i].host->base->host_name,
				    io->machine_clocks[j].host->base->host_name))
				ret = relate_pair(io, &io->machine_clocks[i],
						  &io->machine_clocks[j]);
	return ret;
}
