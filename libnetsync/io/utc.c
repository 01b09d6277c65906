// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Clock readings with bounds on the clock's difference from UTC -> intervals of time with one bound.
 *
 * A time daemon reports such bounds from time to time. UTC advances like the raw clock, apart from
 * a constant rate. Between two reports, the difference of the clock from UTC is therefore at most
 * the larger of both, plus the deviation of the clock from a straight line over raw time, which the
 * readings in between show:
 *
 *	clock - raw
 *	 ^     .---x--.		x: readings; the first and the last one have a bound
 *	 |  .x'     |   'x
 *	 | x........'......x	deviation from the straight line
 *	 +-----------------> raw
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "io/io.h"
#include "util/array.h"
#include "util/number.h"

/*
 * Shortest raw time between the ends of an interval, ns. Chosen: within it, a daemon's bound hardly
 * changes, and a day of a host takes 1 MB.
 */
#define MIN_INTERVAL INT64_C(5000000000)
/* Longest raw time between two readings in an interval, ns; see netsync-clocks(5). */
#define MAX_BETWEEN INT64_C(2500000000)
/* Maximum number of readings in an interval without a bound. Chosen: a reading each 10 ms. */
#define MAX_READINGS 6000
/* Largest drift of an oscillator, 1/s, as in netsync_options.max_drift_ppm_s. */
#define MAX_DRIFT 0.1e-6
/* Error due to rounding, ns. */
#define ROUNDING 2

struct utc_reading {
	int64_t time_ns;
	int64_t raw_ns;
	int64_t within_ns;     /* error bound of raw_ns */
	int64_t utc_within_ns; /* 0 if unknown */
};

/* Readings of a host since the last reading that ended an interval, which is the first of these. */
struct utc_log {
	uint32_t host;
	struct utc_reading *reading;
	size_t num;
	size_t room;
};

/* Return by how much more a clock advanced than the raw clock, since the reading @from. */
static double compute_gain(const struct utc_reading *from, const struct utc_reading *r)
{
	return (double)((r->time_ns - from->time_ns) - (r->raw_ns - from->raw_ns));
}

/*
 * Between readings, the rate may have changed at any time. Where the lines before and after @r meet,
 * the clock is farthest from the straight line through the readings: a quarter of the change.
 */
static double compute_bend(const struct utc_reading *r)
{
	return fabs(compute_gain(r, r + 1) - compute_gain(r - 1, r)) / 4;
}

/* Compute how far the clock is from the straight line from the first reading to the last one. */
static double compute_deviation(const struct utc_reading *r, size_t num)
{
	const double span = (double)(r[num - 1].raw_ns - r->raw_ns);
	const double slope = compute_gain(r, &r[num - 1]) / span;
	double most = 0;

	for (size_t i = 0; i < num; i++) {
		const double line = slope * (double)(r[i].raw_ns - r->raw_ns);
		const double bend = i && i + 1 < num ? compute_bend(&r[i]) : 0;
		const double off = fabs(compute_gain(r, &r[i]) - line) + bend +
				   (double)r[i].within_ns;

		if (off > most)
			most = off;
	}
	return most + MAX_DRIFT * 1e-9 * span * span / 8;
}

/* Make a bound of the readings up to the last one that has a bound, and drop these readings. */
static int end_utc_interval(struct netsync_io *io, struct utc_log *log)
{
	struct netsync_utc_bound *bound;
	int64_t most = 0;
	size_t num = log->num;

	while (num && !log->reading[num - 1].utc_within_ns)
		num--;
	if (num < 2) {
		log->num = 0;
		return 0;
	}
	for (size_t i = 0; i < num; i++)
		most = max64(most, log->reading[i].utc_within_ns);
	if (array_grow(&io->utc_bounds, &io->utc_bounds_room, io->num_utc_bounds, sizeof(*bound)))
		return -ENOMEM;
	bound = &io->utc_bounds[io->num_utc_bounds++];
	*bound = (struct netsync_utc_bound){
		.from_ns = log->reading[0].time_ns,
		.to_ns = log->reading[num - 1].time_ns,
		.within_ns = most + (int64_t)compute_deviation(log->reading, num) + ROUNDING,
		.host = log->host,
	};
	log->reading[0] = log->reading[num - 1];
	log->num = 1;
	return 0;
}

/* Does a reading follow the last one, so that the clock was not stepped between both? */
static bool is_next_reading(const struct utc_log *log, const struct netsync_clock_point *point)
{
	const struct utc_reading *last = &log->reading[log->num - 1];

	return !point->was_set && log->num < MAX_READINGS && point->raw_ns > last->raw_ns &&
	       point->raw_ns - last->raw_ns <= MAX_BETWEEN && point->time_ns > last->time_ns &&
	       point->time_ns - last->time_ns <= 2 * MAX_BETWEEN;
}

/* Find or add the log of a host. Consecutive readings usually belong to one host. */
static struct utc_log *find_utc_log(struct netsync_io *io, uint32_t host)
{
	struct utc_log *log;

	if (io->num_utc_logs && io->utc_logs[io->recent_utc_log].host == host)
		return &io->utc_logs[io->recent_utc_log];
	for (size_t i = 0; i < io->num_utc_logs; i++) {
		if (io->utc_logs[i].host != host)
			continue;
		io->recent_utc_log = i;
		return &io->utc_logs[i];
	}
	log = array_add(&io->utc_logs, io->num_utc_logs, sizeof(*log));
	if (!log)
		return NULL;
	io->recent_utc_log = io->num_utc_logs++;
	log->host = host;
	return log;
}

int io_keep_utc_reading(struct netsync_io *io, const struct netsync_clock_point *point,
			int64_t utc_within_ns)
{
	struct utc_log *log = find_utc_log(io, point->host);
	int ret = 0;

	if (!log)
		return -ENOMEM;
	/* The library does not use such readings. */
	if (llabs(point->raw_ns) > NETSYNC_MAX_SPAN || point->within_ns > MIN_INTERVAL)
		return 0;
	if (log->num && !is_next_reading(log, point)) {
		ret = end_utc_interval(io, log);
		log->num = 0;
	}
	/* An interval begins with a reading that has a bound. */
	if (ret || (!log->num && !utc_within_ns))
		return ret;
	if (array_grow(&log->reading, &log->room, log->num, sizeof(*log->reading)))
		return -ENOMEM;
	log->reading[log->num++] = (struct utc_reading){ point->time_ns, point->raw_ns,
							 point->within_ns, utc_within_ns };
	if (utc_within_ns && point->raw_ns - log->reading[0].raw_ns >= MIN_INTERVAL)
		ret = end_utc_interval(io, log);
	return ret;
}

int io_end_utc_readings(struct netsync_io *io)
{
	int ret = 0;

	for (size_t i = 0; i < io->num_utc_logs && !ret; i++)
		if (io->utc_logs[i].num)
			ret = end_utc_interval(io, &io->utc_logs[i]);
	return ret ? io_fail_no_memory(io) : 0;
}

void io_free_utc_readings(struct netsync_io *io)
{
	for (size_t i = 0; i < io->num_utc_logs; i++)
		free(io->utc_logs[i].reading);
	free(io->utc_logs);
	io->utc_logs = NULL;
	io->num_utc_logs = 0;
}

int netsync_io_get_utc_bound(const struct netsync_io *io, uint32_t index,
			     struct netsync_utc_bound *bound, size_t bound_size)
{
	if (index >= io->num_utc_bounds || bound_size < sizeof(*bound))
		return -EINVAL;
	*bound = io->utc_bounds[index];
	return 0;
}
