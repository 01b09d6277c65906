/* SPDX-License-Identifier: GPL-2.0-only */
/* Reading a clock and CLOCK_MONOTONIC_RAW, which nobody steers, at one instant. */
#ifndef NETSYNC_CLOCK_READING_H
#define NETSYNC_CLOCK_READING_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

/*
 * Readings per second of a clock whose steering is followed: at 10, a rate that changes
 * at once by 100 ppm is known to 3 us (99 %) meanwhile, and the change itself from the
 * readings before and after.
 */
#define CLOCK_READINGS_PER_S 10
/* Tries per reading: the fastest of them is mostly undisturbed, some 50 ns. Chosen. */
#define CLOCK_TRIES 8

struct clock_reading {
	int64_t time_ns;	/* on the clock, in the middle of the reading */
	int64_t raw_ns;
	int64_t within_ns;	/* how far off raw_ns can be: half the reading's time */
	bool was_set;		/* the clock, since the reading before, by whoever knows */
};

/*
 * Read both clocks @tries times, and keep the fastest reading. False: the clock was set
 * back each time.
 */
bool clock_read(clockid_t clock, unsigned int tries,
		struct clock_reading *reading);

/*
 * Wait until *@next_ns, on CLOCK_MONOTONIC, and set *@next_ns to the time of the next
 * reading. False: a signal came before.
 */
bool clock_read_wait(int64_t *next_ns);

/*
 * A file "netsync-clocks" beside traces begins with this text, and has a line for each
 * reading. The reader of the file knows the host by the folder.
 */
#define CLOCK_READINGS_HEAD \
	"# netsync-clocks(5): CLOCK_MONOTONIC and CLOCK_MONOTONIC_RAW\n" \
	"# host time_ns raw_ns within_ns\n"

/* Where the folder says which host it is. */
#define CLOCK_READINGS_HOST "host"

/* False: @file cannot be written to. */
bool clock_reading_write(FILE *file, const char *host,
			 const struct clock_reading *reading);

#endif
