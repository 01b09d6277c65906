// SPDX-License-Identifier: GPL-2.0-only
/*
 * Check how netsync-recorder follows CLOCK_REALTIME - CLOCK_MONOTONIC. Both clocks and the timer
 * are simulated.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <errno.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "recorder/wall-clock.h"

#define FD 77
#define NS_PER_S INT64_C(1000000000)

static int64_t mono_ns, offset_ns;
/*
 * All but one of late_of groups of three readings are interrupted. If it is 0, all groups are
 * interrupted.
 */
static unsigned int late_of, readings;
static bool has_timer, is_cancelled;

int __wrap_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_timerfd_create(int id, int flags);
int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *new, struct itimerspec *old);
ssize_t __wrap_read(int fd, void *buffer, size_t size);
int __wrap_close(int fd);

/* Return whether this reading is the last one of a group of three that is interrupted. */
static bool is_reading_interrupted(void)
{
	const unsigned int number = readings++;

	return late_of && number % 3 == 2 && number / 3 % late_of;
}

/* Each reading takes 20 ns and returns the time after 10 ns. */
int __wrap_clock_gettime(clockid_t id, struct timespec *t)
{
	int64_t now;

	mono_ns += 10 + (is_reading_interrupted() ? 5000 : 0);
	now = mono_ns + (id == CLOCK_REALTIME ? offset_ns : 0);
	mono_ns += 10;
	t->tv_sec = now / NS_PER_S;
	t->tv_nsec = now % NS_PER_S;
	return 0;
}

int __wrap_timerfd_create(int id, int flags)
{
	assert_int_equal(id, CLOCK_REALTIME);
	assert_true(flags & TFD_NONBLOCK);
	return has_timer ? FD : -1;
}

int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *new, struct itimerspec *old)
{
	(void)old;
	assert_int_equal(fd, FD);
	assert_int_equal(flags, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET);
	assert_true(new->it_value.tv_sec > (int64_t)1 << 32);
	return 0;
}

/* Behave like the kernel's timerfd_read(): fail once with ECANCELED after the clock was stepped. */
ssize_t __wrap_read(int fd, void *buffer, size_t size)
{
	(void)buffer;
	assert_int_equal(fd, FD);
	assert_int_equal(size, sizeof(uint64_t));
	errno = is_cancelled ? ECANCELED : EAGAIN;
	is_cancelled = false;
	return -1;
}

int __wrap_close(int fd)
{
	assert_int_equal(fd, FD);
	return 0;
}

static void begin_clock_test(int64_t mono, int64_t offset)
{
	mono_ns = mono;
	offset_ns = offset;
	late_of = 0;
	readings = 0;
	has_timer = true;
	is_cancelled = false;
}

/* Times since 1970 have 61 bits; no computation may lose one of them. */
static void test_offset_of_wall_clock(void **state)
{
	struct wall_clock clock;

	(void)state;
	begin_clock_test(86400 * NS_PER_S + 123456789, INT64_C(1795800000123456789));
	wall_clock_open(&clock);
	assert_int_equal(clock.offset_ns, offset_ns);
	/* Nearly all readings are interrupted, including the last ones. */
	wall_clock_close(&clock);
	late_of = 16;
	readings = 6;
	wall_clock_open(&clock);
	assert_int_equal(clock.offset_ns, offset_ns);
	wall_clock_close(&clock);
}

static void test_set_clock(void **state)
{
	struct wall_clock clock;

	(void)state;
	begin_clock_test(NS_PER_S, INT64_C(1795800000000000000));
	wall_clock_open(&clock);
	/*
	 * The timer does not report that the clock was stepped, so the recorder does not read the
	 * clock again.
	 */
	offset_ns -= 3600 * NS_PER_S;
	wall_clock_update(&clock);
	assert_int_equal(clock.offset_ns, offset_ns + 3600 * NS_PER_S);
	is_cancelled = true;
	wall_clock_update(&clock);
	assert_int_equal(clock.offset_ns, offset_ns);
	/* Step the clock again, to a time before 1970. */
	offset_ns = -5 * NS_PER_S;
	is_cancelled = true;
	wall_clock_update(&clock);
	assert_int_equal(clock.offset_ns, offset_ns);
	wall_clock_close(&clock);
}

/* Simulate a kernel that does not support timers of this kind. */
static void test_kernel_without_timers(void **state)
{
	struct wall_clock clock;

	(void)state;
	begin_clock_test(NS_PER_S, INT64_C(1795800000000000000));
	has_timer = false;
	wall_clock_open(&clock);
	wall_clock_update(&clock);
	assert_int_equal(clock.offset_ns, offset_ns);
	wall_clock_close(&clock);
	assert_int_equal(clock.fd, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_offset_of_wall_clock),
		cmocka_unit_test(test_set_clock),
		cmocka_unit_test(test_kernel_without_timers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
