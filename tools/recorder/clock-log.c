// SPDX-License-Identifier: GPL-2.0-only
/*
 * Logs CLOCK_REALTIME and CLOCK_MONOTONIC_RAW ten times per second, in the format of
 * netsync-clocks(5). A separate thread reads the clocks, because writing a capture can take a
 * long time.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "clock-log.h"
#include "common/clock-watch.h"
#include "common/now.h"

static struct {
	FILE *file; /* NULL if there is no log */
	const char *host;
	int watch;
	int error;
	pthread_t thread;
	atomic_bool is_ending;
} clock_log;

static bool write_logged_reading(bool *is_set)
{
	struct clock_reading reading;

	if (!clock_watch_read(clock_log.watch, CLOCK_REALTIME, is_set, &reading))
		return true;
	return clock_reading_write(clock_log.file, clock_log.host, &reading) &&
	       !fflush(clock_log.file);
}

/* Log the clock until it is stopped. The last reading is later than all packets. */
static void *log_clock(void *unused)
{
	/* clock_log_start() has written the reading before this one. */
	int64_t next_ns = now_ns() + NS_PER_S / CLOCK_READINGS_PER_S;
	bool is_set = false, is_last = false;

	while (!is_last) {
		clock_read_wait(&next_ns);
		is_last = atomic_load(&clock_log.is_ending);
		if (!write_logged_reading(&is_set)) {
			clock_log.error = errno;
			break;
		}
	}
	return unused;
}

int clock_log_start(FILE *file, const char *host)
{
	bool is_set = false;
	int error = 0;

	clock_log.host = file == stderr ? CLOCK_READINGS_WORD : host;
	if (file != stderr)
		clock_reading_write_head(file, "CLOCK_REALTIME", host);
	clock_log.file = file;
	clock_log.watch = clock_watch_start();
	/* The first reading is earlier than all packets, even if the thread starts late. */
	if (!write_logged_reading(&is_set))
		error = errno;
	if (!error)
		error = pthread_create(&clock_log.thread, NULL, log_clock, NULL);
	if (error)
		clock_log.file = NULL;
	return -error;
}

int clock_log_end(void)
{
	int error;

	if (!clock_log.file)
		return 0;
	atomic_store(&clock_log.is_ending, true);
	pthread_join(clock_log.thread, NULL);
	if (clock_log.watch >= 0)
		close(clock_log.watch);
	error = clock_log.error;
	if (clock_log.file != stderr && fclose(clock_log.file) && !error)
		error = errno;
	clock_log.file = NULL;
	return -error;
}
