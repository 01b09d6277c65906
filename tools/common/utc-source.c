// SPDX-License-Identifier: GPL-2.0-only
/*
 * What chronyd or the kernel reports -> a bound on the difference of CLOCK_REALTIME from UTC.
 *
 * chronyd: "chronyc -c tracking" prints one line, with these fields, counted from 0:
 *
 *	0 reference ID   4 offset of the system clock   10 root delay   11 root dispersion
 *	13 leap status
 *
 * The bound is |offset| + root delay / 2 + root dispersion (RFC 5905, root distance). The offset is
 * the part of the last correction that is still being slewed, which the kernel does not know.
 *
 * Kernel: adjtimex(2) returns the root distance that the daemon has set (maxerror), and the offset
 * that is still being slewed. Not every daemon sets maxerror: systemd-timesyncd and phc2sys set it to
 * 0, and the kernel then lets it grow by 500 us per second.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock-reading.h"
#include "now.h"
#include "utc-source.h"

/* Longest wait for chronyc, ns. Chosen: chronyc takes 3 ms. Clocks are read each 100 ms. */
#define MAX_WAIT INT64_C(50000000)
/* Maximum frequency error of CLOCK_MONOTONIC_RAW. Linux limits corrections to this. */
#define MAX_SKEW 500e-6
/* Growth of the kernel's maxerror, ns, which the kernel adds once per second. */
#define KERNEL_GROWTH 500000
/* Bounds beyond this are not worth recording, s. The kernel's limit is 16 s. */
#define MAX_BOUND_S 1000.0

/* ---- chronyd --------------------------------------------------------------- */

/* Names of fields of "chronyc -c tracking". */
enum { FIELD_ID = 0, FIELD_OFFSET = 4, FIELD_DELAY = 10, FIELD_DISPERSION = 11, FIELD_LEAP = 13 };
#define NUM_FIELDS 14

/* Reference ID of a chronyd that uses its own clock ("local"): 127.127.1.1 */
#define LOCAL_ID "7F7F0101"

static bool parse_chrony_number(const char *text, double *value)
{
	char *end;

	*value = strtod(text, &end);
	return end != text && !*end && fabs(*value) < MAX_BOUND_S;
}

/* Parse a line of "chronyc -c tracking", which is changed. Return the bound, or UTC_WITHIN_UNKNOWN. */
static int64_t parse_chrony_tracking(char *line, const char **why)
{
	char *field[NUM_FIELDS], *rest = line;
	double offset, delay, dispersion;
	unsigned int num = 0;

	line[strcspn(line, "\n")] = '\0';
	while (rest && num < NUM_FIELDS)
		field[num++] = strsep(&rest, ",");
	if (num < NUM_FIELDS || !parse_chrony_number(field[FIELD_OFFSET], &offset) ||
	    !parse_chrony_number(field[FIELD_DELAY], &delay) ||
	    !parse_chrony_number(field[FIELD_DISPERSION], &dispersion) || delay < 0 ||
	    dispersion < 0) {
		*why = "\"chronyc -c tracking\" does not report what chronyd knows; check whether chronyd is running";
		return UTC_WITHIN_UNKNOWN;
	}
	if (!strcmp(field[FIELD_ID], LOCAL_ID)) {
		*why = "chronyd has no source of time other than this machine's own clock";
		return UTC_WITHIN_UNKNOWN;
	}
	if (!strcmp(field[FIELD_LEAP], "Not synchronised")) {
		*why = "chronyd is not synchronized";
		return UTC_WITHIN_UNKNOWN;
	}
	return (int64_t)ceil((fabs(offset) + delay / 2 + dispersion) * 1e9) + 1;
}

/* Read from @fd until the end or until @until_ns on CLOCK_MONOTONIC. Return false on failure. */
static bool read_until(int fd, char *text, size_t size, int64_t until_ns)
{
	size_t used = 0;

	for (;;) {
		struct pollfd ready = { .fd = fd, .events = POLLIN };
		const int64_t left = until_ns - now_ns();
		ssize_t got;

		if (left <= 0 || poll(&ready, 1, (int)(left / 1000000) + 1) <= 0)
			return false;
		got = read(fd, text + used, size - 1 - used);
		if (got < 0)
			return false;
		used += (size_t)got;
		text[used] = '\0';
		if (!got || used == size - 1)
			return used > 0;
	}
}

/* Start chronyc. Return a pipe with its output, or -1. */
static int start_chronyc(pid_t *pid)
{
	char *const argv[] = { (char *)"chronyc", (char *)"-c", (char *)"-n", (char *)"tracking",
			       NULL };
	posix_spawn_file_actions_t actions;
	int ends[2], error;

	if (pipe2(ends, O_CLOEXEC))
		return -1;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	error = posix_spawnp(pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	if (!error)
		return ends[0];
	close(ends[0]);
	return -1;
}

/*
 * Add the largest change in the clock's difference from UTC between two readings: what the clock was
 * slewed, and the frequency error of the raw clock.
 */
static int64_t add_change_between(int64_t within_ns, const struct clock_reading *before,
				  const struct clock_reading *after)
{
	const int64_t raw = after->raw_ns - before->raw_ns;
	const int64_t slewed = after->time_ns - before->time_ns - raw;

	return within_ns + llabs(slewed) + before->within_ns + after->within_ns +
	       (int64_t)ceil((double)raw * MAX_SKEW);
}

static int64_t ask_chronyd(const char **why)
{
	struct clock_reading before, after;
	int64_t within_ns = UTC_WITHIN_UNKNOWN;
	char line[1024];
	pid_t pid;
	int fd;

	if (!clock_read(CLOCK_REALTIME, CLOCK_TRIES, &before))
		return UTC_WITHIN_UNKNOWN;
	fd = start_chronyc(&pid);
	if (fd < 0) {
		*why = "chronyc cannot be run; install chrony";
		return UTC_WITHIN_UNKNOWN;
	}
	if (read_until(fd, line, sizeof(line), now_ns() + MAX_WAIT))
		within_ns = parse_chrony_tracking(line, why);
	else
		*why = "chronyc does not answer";
	close(fd);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	if (within_ns == UTC_WITHIN_UNKNOWN || !clock_read(CLOCK_REALTIME, CLOCK_TRIES, &after))
		return UTC_WITHIN_UNKNOWN;
	return add_change_between(within_ns, &before, &after);
}

/* ---- the kernel -------------------------------------------------------------- */

static int64_t ask_kernel(const char **why)
{
	struct timex timex = { .modes = 0 };
	const int state = adjtimex(&timex);
	int64_t offset_ns;

	if (state == TIME_ERROR || state < 0 || timex.status & STA_UNSYNC) {
		*why = "the kernel's clock is not synchronized, or its time daemon does not say so";
		return UTC_WITHIN_UNKNOWN;
	}
	/* In a leap second, the clock shows the second before it again. */
	if (state == TIME_OOP) {
		*why = "a leap second is being inserted";
		return UTC_WITHIN_UNKNOWN;
	}
	if (timex.maxerror <= 0 || timex.maxerror > (long)(MAX_BOUND_S * 1e6)) {
		*why = "the time daemon sets no maximum error in the kernel (systemd-timesyncd and phc2sys do not)";
		return UTC_WITHIN_UNKNOWN;
	}
	offset_ns = timex.status & STA_NANO ? timex.offset : timex.offset * INT64_C(1000);
	return timex.maxerror * INT64_C(1000) + llabs(offset_ns) + KERNEL_GROWTH;
}

int64_t utc_source_read(enum utc_source source, const char **why)
{
	switch (source) {
	case UTC_SOURCE_CHRONY:
		return ask_chronyd(why);
	case UTC_SOURCE_KERNEL:
		return ask_kernel(why);
	default:
		return UTC_WITHIN_UNKNOWN;
	}
}
