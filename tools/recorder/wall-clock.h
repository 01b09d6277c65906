/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Converts CLOCK_MONOTONIC to CLOCK_REALTIME. The clocks differ by a constant until
 * CLOCK_REALTIME is stepped.
 */
#ifndef NETSYNC_RECORDER_WALL_CLOCK_H
#define NETSYNC_RECORDER_WALL_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct wall_clock {
	int fd; /* readable when CLOCK_REALTIME was stepped; -1 if that cannot be detected */
	int64_t offset_ns; /* CLOCK_REALTIME - CLOCK_MONOTONIC */
};

/* Start watching CLOCK_REALTIME. */
void wall_clock_open(struct wall_clock *clock);

/*
 * Check whether CLOCK_REALTIME was stepped. Packets that were read before have the old offset,
 * and later packets have the new one.
 */
void wall_clock_update(struct wall_clock *clock);

void wall_clock_close(struct wall_clock *clock);

#endif
