// SPDX-License-Identifier: GPL-2.0-only
/*
 * Print the frequency of this machine's time stamp counter, in kHz. An emulated guest reads the
 * same counter, but cannot calibrate it while the machine is busy. The guest's kernel would mistake
 * seconds for minutes, and report lockups.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#if defined(__x86_64__)
#include <x86intrin.h>

struct reading {
	uint64_t ticks;
	int64_t ns;
};

/* Take several readings, and return the one that was disturbed least. */
static struct reading read_tsc_and_clock(void)
{
	struct reading best = { 0, 0 };
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 20; i++) {
		uint64_t before = __rdtsc(), after;
		struct timespec now;

		clock_gettime(CLOCK_MONOTONIC_RAW, &now);
		after = __rdtsc();
		if (after - before >= least)
			continue;
		least = after - before;
		best.ticks = before + least / 2;
		best.ns = now.tv_sec * 1000000000LL + now.tv_nsec;
	}
	return best;
}

int main(void)
{
	const struct timespec pause = { .tv_nsec = 20000000 };
	struct reading from = read_tsc_and_clock(), to;

	nanosleep(&pause, NULL);
	to = read_tsc_and_clock();
	printf("%llu\n",
	       (unsigned long long)((to.ticks - from.ticks) * 1000000 / (to.ns - from.ns)));
	return 0;
}
#else
/* A guest of another processor reads a different counter. */
int main(void)
{
	return 0;
}
#endif
