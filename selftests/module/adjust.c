// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: adjust change|same COUNT
 *
 * Print the cost of changing the rate of this machine's clock, or of setting the same rate again,
 * in ticks of the time stamp counter. Print the median of COUNT calls. The kernel updates its time
 * in that call, as in each tick. In a guest that counts instructions, ticks are instructions.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/timex.h>
#include <x86intrin.h>

#define WARM_UP 200
/* 10 ppm. Two neighbouring multipliers differ by less. */
#define CHANGE (10 << 16)

static void set_kernel_rate(long freq)
{
	struct timex t = { .modes = ADJ_FREQUENCY, .freq = freq };

	if (adjtimex(&t) < 0) {
		perror("adjtimex");
		exit(1);
	}
}

static int compare_round_trips(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	int count = argc == 3 ? atoi(argv[2]) : 0;
	uint64_t *ticks;
	long change;

	if (count < 1) {
		fputs("usage: adjust change|same COUNT\n", stderr);
		return 2;
	}
	change = strcmp(argv[1], "same") ? CHANGE : 0;
	ticks = calloc((size_t)count, sizeof(*ticks));
	mlockall(MCL_CURRENT | MCL_FUTURE);
	for (int i = -WARM_UP; i < count; i++) {
		uint64_t start = __rdtsc();

		set_kernel_rate(i % 2 ? change : 0);
		if (i >= 0)
			ticks[i] = __rdtsc() - start;
	}
	qsort(ticks, (size_t)count, sizeof(*ticks), compare_round_trips);
	printf("%lu\n", ticks[count / 2]);
	set_kernel_rate(0);
	return 0;
}
