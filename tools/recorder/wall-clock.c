// SPDX-License-Identifier: GPL-2.0-only
/*
 * CLOCK_REALTIME - CLOCK_MONOTONIC. Both run at one rate, also when they are steered; the
 * difference changes only when CLOCK_REALTIME is set, at a leap second, and in a suspension. Then
 * the kernel cancels a timer.
 */
#include <errno.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "wall-clock.h"

/* Readings of which the quickest is kept: others were interrupted. Chosen. */
#define READINGS 64

static int64_t read_clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* The difference, to half of the time of the quickest reading, which is some 50 ns. */
static int64_t measure_offset(void)
{
	int64_t shortest = INT64_MAX, offset = 0;

	for (int i = 0; i < READINGS; i++) {
		const int64_t before = read_clock_ns(CLOCK_MONOTONIC);
		const int64_t real = read_clock_ns(CLOCK_REALTIME);
		const int64_t after = read_clock_ns(CLOCK_MONOTONIC);

		if (after - before < shortest) {
			shortest = after - before;
			offset = real - before - shortest / 2;
		}
	}
	return offset;
}

void wall_clock_open(struct wall_clock *clock)
{
	/* Beyond the times that CLOCK_REALTIME can have (ns in 64 bits), s. */
	const struct itimerspec never = { .it_value = { .tv_sec = INT64_MAX / 1000000000 } };

	clock->fd = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);
	if (clock->fd >= 0)
		timerfd_settime(clock->fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never,
				NULL);
	clock->offset_ns = measure_offset();
}

void wall_clock_update(struct wall_clock *clock)
{
	uint64_t expirations;

	if (clock->fd >= 0 && read(clock->fd, &expirations, sizeof(expirations)) < 0 &&
	    errno == ECANCELED)
		clock->offset_ns = measure_offset();
}

void wall_clock_close(struct wall_clock *clock)
{
	if (clock->fd >= 0)
		close(clock->fd);
	clock->fd = -1;
}
