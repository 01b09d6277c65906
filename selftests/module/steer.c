// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: steer freq PPM | slew MICROSECONDS | tai SECONDS | leap 1|0 | read SECONDS
 *
 * Act on the clock like a daemon: set its rate; have the kernel slew it by this offset at
 * 500 ppm; set the offset of TAI; announce or cancel a leap second at the end of the day.
 * Or read CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW, CLOCK_MONOTONIC, CLOCK_REALTIME,
 * CLOCK_BOOTTIME, CLOCK_TAI and CLOCK_MONOTONIC every two milliseconds, for this time or
 * until terminated, and print them at the end, a line for each time.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

#define MAX_READINGS 100000

static const clockid_t clocks[] = {
	CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW, CLOCK_MONOTONIC, CLOCK_REALTIME,
	CLOCK_BOOTTIME,	 CLOCK_TAI,	      CLOCK_MONOTONIC,
};

#define NUM_CLOCKS (sizeof(clocks) / sizeof(clocks[0]))

struct reading {
	long long time[NUM_CLOCKS];
};

static struct reading readings[MAX_READINGS];
static volatile sig_atomic_t terminated;

static void end_steering(int signal)
{
	(void)signal;
	terminated = 1;
}

static long long read_steered_clock(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static int read_both_clocks(double seconds)
{
	long long end = read_steered_clock(CLOCK_MONOTONIC) + (long long)(seconds * 1e9);
	int num = 0;

	signal(SIGTERM, end_steering);
	while (!terminated && num < MAX_READINGS && read_steered_clock(CLOCK_MONOTONIC) < end) {
		struct reading *r = &readings[num++];

		for (size_t i = 0; i < NUM_CLOCKS; i++)
			r->time[i] = read_steered_clock(clocks[i]);
		usleep(2000);
	}
	for (int n = 0; n < num; n++)
		for (size_t i = 0; i < NUM_CLOCKS; i++)
			printf("%lld%c", readings[n].time[i], i + 1 < NUM_CLOCKS ? ' ' : '\n');
	return 0;
}

/*
 * The kernel accepts a frequency up to 500 ppm. Set the rest as a tick length, in whole
 * microseconds.
 */
static int set_steering_rate(double ppm)
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

static int slew_by_adjtime(long us)
{
	const struct timeval by = {
		.tv_sec = us / 1000000,
		.tv_usec = us % 1000000,
	};

	return adjtime(&by, NULL);
}

int main(int argc, char **argv)
{
	const char *what = argc == 3 ? argv[1] : "";
	int err = -1;

	if (!strcmp(what, "freq"))
		err = set_steering_rate(strtod(argv[2], NULL));
	else if (!strcmp(what, "slew"))
		err = slew_by_adjtime(strtol(argv[2], NULL, 0));
	else if (!strcmp(what, "tai"))
		err = adjtimex(&(struct timex){ .modes = ADJ_TAI, .constant = atol(argv[2]) });
	else if (!strcmp(what, "leap"))
		err = adjtimex(&(struct timex){ .modes = ADJ_STATUS,
						.status = atoi(argv[2]) ? STA_INS : 0 });
	else if (!strcmp(what, "read"))
		err = read_both_clocks(strtod(argv[2], NULL));
	else
		fprintf(stderr, "see the first lines of steer.c\n");
	if (err < 0)
		perror("steer");
	return err < 0;
}
