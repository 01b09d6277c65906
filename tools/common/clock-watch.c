// SPDX-License-Identifier: GPL-2.0-only
/* Read CLOCK_REALTIME, and detect with a timer whether the clock was stepped between readings. */
#include <errno.h>
#include <stdint.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "clock-watch.h"
#include "now.h"

int clock_watch_start(void)
{
	/* This time, in s, is later than any time that CLOCK_REALTIME can have (ns in 64 bits). */
	const struct itimerspec never = { .it_value = { .tv_sec = INT64_MAX / NS_PER_S } };
	const int watch = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);

	if (watch >= 0)
		timerfd_settime(watch, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, NULL);
	return watch;
}

bool clock_watch_was_stepped(int watch)
{
	uint64_t expired;

	return watch >= 0 && read(watch, &expired, sizeof(expired)) < 0 && errno == ECANCELED;
}

bool clock_watch_read(int watch, clockid_t clock, bool *is_set, struct clock_reading *reading)
{
	bool is_read, is_set_meanwhile;

	do {
		*is_set |= clock_watch_was_stepped(watch);
		is_read = clock_read(clock, CLOCK_TRIES, reading);
		is_set_meanwhile = clock_watch_was_stepped(watch);
		*is_set |= is_set_meanwhile;
	} while (is_set_meanwhile);
	if (is_read) {
		reading->was_set = *is_set;
		*is_set = false;
	}
	return is_read;
}
