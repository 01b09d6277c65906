// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: steer freq PPM | slew MICROSECONDS | tai SECONDS | read SECONDS
 *
 * What daemons do to the clock: set its rate, have the kernel make up for so
 * much at 500 ppm, tell it how far TAI is ahead. Or read CLOCK_MONOTONIC,
 * CLOCK_MONOTONIC_RAW and CLOCK_MONOTONIC again, each two milliseconds; the
 * three are printed in the end, a line for each time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

#define MAX_READINGS 100000

struct reading {
	long long before;
	long long raw;
	long long after;
};

static struct reading readings[MAX_READINGS];

static long long now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static int read_clocks(double seconds)
{
	long long end = now(CLOCK_MONOTONIC) + (long long)(seconds * 1e9);
	int num = 0;

	while (num < MAX_READINGS && now(CLOCK_MONOTONIC) < end) {
		struct reading *r = &readings[num++];

		r->before = now(CLOCK_MONOTONIC);
		r->raw = now(CLOCK_MONOTONIC_RAW);
		r->after = now(CLOCK_MONOTONIC);
		usleep(2000);
	}
	for (int i = 0; i < num; i++)
		printf("%lld %lld %lld\n", readings[i].before, readings[i].raw,
		       readings[i].after);
	return 0;
}

/* The kernel takes up to 500 ppm as a frequency, and the rest by whole ticks. */
static int set_rate(double ppm)
{
	struct timex t = { .modes = ADJ_FREQUENCY | ADJ_TICK, .tick = 10000 };

	while (ppm > 500) {
		ppm -= 100;
		t.tick++;
	}
	while (ppm < -500) {
		ppm += 100;
		t.tick--;
	}
	t.freq = (long)(ppm * 65536);
	return adjtimex(&t);
}

static int slew(long us)
{
	const struct timeval by = {
		.tv_sec = us / 1000000, .tv_usec = us % 1000000,
	};

	return adjtime(&by, NULL);
}

int main(int argc, char **argv)
{
	const char *what = argc == 3 ? argv[1] : "";
	int err = -1;

	if (!strcmp(what, "freq"))
		err = set_rate(strtod(argv[2], NULL));
	else if (!strcmp(what, "slew"))
		err = slew(strtol(argv[2], NULL, 0));
	else if (!strcmp(what, "tai"))
		err = adjtimex(&(struct timex){ .modes = ADJ_TAI,
						.constant = atol(argv[2]) });
	else if (!strcmp(what, "read"))
		err = read_clocks(strtod(argv[2], NULL));
	else
		fprintf(stderr, "see the first lines of steer.c\n");
	if (err < 0)
		perror("steer");
	return err < 0;
}
