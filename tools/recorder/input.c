// SPDX-License-Identifier: GPL-2.0-only
/* Ends the recording when standard input ends or is silent. A thread reads the input. */
#include <poll.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "input.h"

/* Time in which the recording must end after silence, s. Chosen; usually it takes half a second. */
#define END_S 5

static struct {
	int silence_ms; /* negative if there is no limit */
	atomic_bool *is_ended;
} watched;

/* Watch standard input, and ignore its data. */
static void *watch_input(void *unused)
{
	const struct timespec rest = { .tv_sec = END_S };
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	char ignored[4096];
	int ready;

	do
		ready = poll(&input, 1, watched.silence_ms);
	while (ready > 0 && read(STDIN_FILENO, ignored, sizeof(ignored)) > 0);
	atomic_store(watched.is_ended, true);
	if (ready)
		return unused;
	nanosleep(&rest, NULL);
	/*
	 * The kernel cleans up. No message is written, because writing could wait for the broken
	 * connection, too.
	 */
	_exit(1);
}

int input_watch(unsigned int silence_s, atomic_bool *is_ended)
{
	pthread_t thread;

	watched.silence_ms = silence_s ? (int)silence_s * 1000 : -1;
	watched.is_ended = is_ended;
	return -pthread_create(&thread, NULL, watch_input, NULL);
}
