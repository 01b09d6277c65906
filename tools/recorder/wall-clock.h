/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Convert CLOCK_MONOTONIC to CLOCK_REALTIME. They differ by a constant until CLOCK_REALTIME is
 * stepped.
 */
#ifndef NETSYNC_RECORDER_WALL_CLOCK_H
#define NETSYNC_RECORDER_WALL_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct wall_clock {
	int fd;		   /* readable when CLOCK_REALTIME was set; -1 if that is not known */
	int64_t offset_ns; /* CLOCK_REALTIME - CLOCK_MONOTONIC */
};

/* Begin to watch. */
void wall_clock_open(struct wall_clock *clock);

/*
 * Look whether CLOCK_REALTIME was set. Times of packets that were taken before have the old
 * offset, later ones the new one.
 */
void wall_clock_update(struct wall_clock *clock);

void wall_clock_close(struct wall_clock *clock);

#endif
