// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_travel preloads this library, which makes CLOCK_MONOTONIC run FASTER times as fast, to test
 * limits of minutes within seconds.
 */
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define FASTER 60
#define NS_PER_S INT64_C(1000000000)

int clock_gettime(clockid_t clock, struct timespec *t)
{
	static int64_t begin_ns;
	const int result = (int)syscall(SYS_clock_gettime, clock, t);
	int64_t now_ns;

	if (result || clock != CLOCK_MONOTONIC)
		return result;
	now_ns = t->tv_sec * NS_PER_S + t->tv_nsec;
	if (!begin_ns)
		begin_ns = now_ns;
	now_ns = begin_ns + FASTER * (now_ns - begin_ns);
	t->tv_sec = now_ns / NS_PER_S;
	t->tv_nsec = now_ns % NS_PER_S;
	return 0;
}
