// SPDX-License-Identifier: GPL-2.0-only
/* Read clocks of this machine, in ns. */
#include "now.h"

int64_t clock_ns(clockid_t clock)
{
	struct timespec now = { 0 };

	clock_gettime(clock, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

int64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}
