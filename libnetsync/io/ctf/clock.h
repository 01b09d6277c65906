/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Convert cycles of a trace's clock to ns since 1970, with exactly the same results as
 * libbabeltrace2.
 */
#ifndef NETSYNC_CTF_CLOCK_H
#define NETSYNC_CTF_CLOCK_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stdint.h>

struct ctf_clock {
	uint64_t frequency; /* Hz */
	/* Time at which the clock shows zero: as in the metadata, and rounded to ns since 1970. */
	int64_t offset_s;
	uint64_t offset; /* cycles */
	int64_t epoch_ns;
};

/* Set a clock. Return false if the clock's zero is more than 292 years away from 1970. */
bool ctf_clock_set(struct ctf_clock *clock, const bt_clock_class *class);

/* Convert a clock value to a time. Return false if the time does not fit into 64 bits. */
bool ctf_clock_time(const struct ctf_clock *clock, uint64_t cycles, int64_t *time_ns);

/*
 * Convert a time to the clock value at this time, or up to a nanosecond before. If the clock had
 * not started yet, return 0.
 */
uint64_t ctf_clock_cycles(const struct ctf_clock *clock, int64_t time_ns);

#endif
