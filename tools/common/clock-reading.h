/* SPDX-License-Identifier: GPL-2.0-only */
/* Readings of a clock and of CLOCK_MONOTONIC_RAW, which is never steered, at one instant. */
#ifndef NETSYNC_CLOCK_READING_H
#define NETSYNC_CLOCK_READING_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

/*
 * Number of readings per second of a clock whose steering is logged. At 10, the time
 * after a sudden rate change of 100 ppm is known to 3 us (99 %), and the change itself is
 * known from the readings before and after it.
 */
#define CLOCK_READINGS_PER_S 10
/*
 * Number of tries per reading. The fastest try is usually undisturbed and takes some 50
 * ns. Chosen.
 */
#define CLOCK_TRIES 8

struct clock_reading {
	int64_t time_ns; /* time on the clock, in the middle of the reading */
	int64_t raw_ns;
	int64_t within_ns; /* largest error of raw_ns, which is half the duration of the reading */
	bool was_set;	   /* the clock was stepped since the previous reading; set by the caller */
};

/*
 * Read both clocks @tries times, and keep the fastest reading. Return false if the clock was
 * stepped back each time.
 */
bool clock_read(clockid_t clock, unsigned int tries, struct clock_reading *reading);

/*
 * Wait until *@next_ns, on CLOCK_MONOTONIC, and set *@next_ns to the time of the next reading.
 * Return false if interrupted by a signal.
 */
bool clock_read_wait(int64_t *next_ns);

/*
 * The first lines of a file "netsync-clocks" next to traces. A line for each reading follows. The
 * reader of the file identifies the host by the directory.
 */
#define CLOCK_READINGS_HEAD                                              \
	"# netsync-clocks(5): CLOCK_MONOTONIC and CLOCK_MONOTONIC_RAW\n" \
	"# host time_ns raw_ns within_ns\n"

/* Host name in files whose directory identifies the host. */
#define CLOCK_READINGS_HOST "host"

/* First word of each reading that netsync-recorder writes to standard error, next to messages. */
#define CLOCK_READINGS_WORD "netsync-clocks"

/*
 * Write the first lines of a file in which readings may report steps. @clocks names the clocks
 * of the readings, and @host the host, or is NULL if the directory identifies it.
 */
void clock_reading_write_head(FILE *file, const char *clocks, const char *host);

/* Write a reading as a line of the file. Return false if writing to @file failed. */
bool clock_reading_write(FILE *file, const char *host, const struct clock_reading *reading);

#endif
