// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tracks CLOCK_REALTIME - CLOCK_MONOTONIC. Both clocks run at the same rate, even when they are
 * steered. The difference changes only when CLOCK_REALTIME is stepped, at a leap second, and
 * during a suspension. In these cases, the kernel cancels a timer.
 */
#include <unistd.h>

#include "common/clock-watch.h"
#include "common/now.h"
#include "wall-clock.h"

/*
 * Number of readings, of which the quickest one is used. Slower readings may have been interrupted.
 * Chosen.
 */
#define READINGS 64

/*
 * Measure the difference. The error is at most half of the time of the quickest reading, which
 * is about 50 ns.
 */
static int64_t measure_offset(void)
{
	int64_t shortest = INT64_MAX, offset = 0;

	for (int i = 0; i < READINGS; i++) {
		const int64_t before = clock_ns(CLOCK_MONOTONIC);
		const int64_t real = clock_ns(CLOCK_REALTIME);
		const int64_t after = clock_ns(CLOCK_MONOTONIC);

		if (after - before < shortest) {
			shortest = after - before;
			offset = real - before - shortest / 2;
		}
	}
	return offset;
}

void wall_clock_open(struct wall_clock *clock)
{
	clock->fd = clock_watch_start();
	clock->offset_ns = measure_offset();
}

void wall_clock_update(struct wall_clock *clock)
{
	if (clock_watch_was_stepped(clock->fd))
		clock->offset_ns = measure_offset();
}

void wall_clock_close(struct wall_clock *clock)
{
	if (clock->fd >= 0)
		close(clock->fd);
	clock->fd = -1;
}
