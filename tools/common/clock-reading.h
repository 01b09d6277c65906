/* SPDX-License-Identifier: GPL-2.0-only */
/* What a clock and CLOCK_MONOTONIC_RAW, which nobody steers, show at one instant. */
#ifndef NETSYNC_CLOCK_READING_H
#define NETSYNC_CLOCK_READING_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/*
 * So often a second a clock is read to tell how it is steered: at 10, a rate that
 * changes at once by 100 ppm is known to 3 us (99 %) meanwhile, and the change itself
 * from the readings before and after.
 */
#define CLOCK_READINGS_PER_S 10
/* The fastest of so many is mostly undisturbed: some 50 ns. Chosen. */
#define CLOCK_TRIES 8

struct clock_reading {
	int64_t time_ns;	/* on the clock, in the middle of reading both */
	int64_t raw_ns;
	int64_t within_ns;	/* half of what reading took: how far off that can be */
};

/*
 * Read them @tries times, and keep the fastest reading. False: the clock was set
 * back each time.
 */
bool clock_read(clockid_t clock, unsigned int tries,
		struct clock_reading *reading);

/*
 * Wait until *@next_ns, on CLOCK_MONOTONIC, and set that to the time of the next
 * reading. False: a signal came before.
 */
bool clock_read_wait(int64_t *next_ns);

#endif
