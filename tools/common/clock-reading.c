// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read a clock and CLOCK_MONOTONIC_RAW at one instant. The clock is read before and after
 * the raw one:
 *
 *	clock: before --- raw --- after		time_ns: the middle of before and after
 *
 * This file also writes readings as lines of the file "netsync-clocks".
 */
#include <inttypes.h>
#include <string.h>

#include "clock-reading.h"
#include "now.h"
#include "value.h"

bool clock_read(clockid_t clock, unsigned int tries, struct clock_reading *reading)
{
	int64_t shortest = INT64_MAX;

	for (unsigned int i = 0; i < tries; i++) {
		const int64_t before = clock_ns(clock);
		const int64_t raw = clock_ns(CLOCK_MONOTONIC_RAW);
		const int64_t after = clock_ns(clock), took = after - before;

		if (took < 0 || took >= shortest)
			continue;
		shortest = took;
		*reading = (struct clock_reading){
			.time_ns = compute_middle_time(before, after),
			.raw_ns = raw,
			.within_ns = (took + 1) / 2,
		};
	}
	return shortest < INT64_MAX;
}

bool clock_read_wait(int64_t *next_ns)
{
	const struct timespec until = {
		.tv_sec = *next_ns / NS_PER_S,
		.tv_nsec = *next_ns % NS_PER_S,
	};

	if (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL))
		return false;
	*next_ns += NS_PER_S / CLOCK_READINGS_PER_S;
	return true;
}

void clock_reading_write_head(FILE *file, const char *clocks, const char *host)
{
	fprintf(file, "# netsync-clocks(5): %s", clocks);
	if (host)
		fprintf(file, " of %s,", host);
	fputs(" and CLOCK_MONOTONIC_RAW\n"
	      "# host time_ns raw_ns within_ns rate was_set utc_within_ns\n",
	      file);
}

bool clock_reading_write(FILE *file, const char *host, const struct clock_reading *reading)
{
	char more[sizeof(" 0 1 ") + 20] = "";

	/* The 0 means that the rate is unknown. */
	if (reading->utc_within_ns)
		snprintf(more, sizeof(more), " 0 %d %" PRId64, reading->was_set,
			 reading->utc_within_ns);
	else if (reading->was_set)
		strcpy(more, " 0 1");
	return fprintf(file, "%s %" PRId64 " %" PRId64 " %" PRId64 "%s\n", host, reading->time_ns,
		       reading->raw_ns, reading->within_ns, more) > 0;
}
