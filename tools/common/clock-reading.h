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
 * Number of tries for each reading. The fastest of these is usually undisturbed and takes about 50
 * ns. Chosen.
 */
#define CLOCK_TRIES 8

struct clock_reading {
	int64_t time_ns; /* time on the clock in the middle of the reading */
	int64_t raw_ns;
	int64_t within_ns; /* maximum error of raw_ns, which is half of the reading's duration */
	bool was_set;	   /* set by the caller if the clock was stepped since the last reading */
	int64_t utc_within_ns; /* bound on the clock's difference from UTC; 0 if unknown */
};

/*
 * Read both clocks @tries times, and use the fastest reading. Return false if the clock was stepped
 * back during each try.
 */
bool clock_read(clockid_t clock, unsigned int tries, struct clock_reading *reading);

/*
 * Wait until *@next_ns on CLOCK_MONOTONIC. Set *@next_ns to the time of the next reading. Return
 * false if a signal interrupted the wait.
 */
bool clock_read_wait(int64_t *next_ns);

/*
 * The first lines of a file "netsync-clocks" next to traces. After them, each reading has a line.
 * The directory of the file identifies the host.
 */
#define CLOCK_READINGS_HEAD                                              \
	"# netsync-clocks(5): CLOCK_MONOTONIC and CLOCK_MONOTONIC_RAW\n" \
	"# host time_ns raw_ns within_ns\n"

/* Host name in files that are identified by their directory. */
#define CLOCK_READINGS_HOST "host"

/*
 * First word of each reading that netsync-recorder writes to standard error, where messages are
 * written, too.
 */
#define CLOCK_READINGS_WORD "netsync-clocks"

/*
 * Write the first lines of a file whose readings may report steps. @clocks names the clocks that
 * are read. @host is the host's name, or NULL if the directory identifies the host.
 */
void clock_reading_write_head(FILE *file, const char *clocks, const char *host);

/* Write a reading as a line of the file. Return false if writing to @file failed. */
bool clock_reading_write(FILE *file, const char *host, const struct clock_reading *reading);

#endif
