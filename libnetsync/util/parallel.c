// SPDX-License-Identifier: LGPL-2.1-or-later
/* Independent calls -> threads, each of which takes the next number from a counter. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "util/parallel.h"

/* Threads at most; chosen. netsync.h names it (netsync_options.threads). */
#define MAX_THREADS 256

struct work {
	int (*run)(void *arg, size_t i);
	void *arg;
	size_t num;		/* calls to make */
	atomic_size_t next;	/* number of the next call */
	atomic_int error;	/* of a call that failed; 0: none */
};

static void *work(void *arg)
{
	struct work *w = arg;
	size_t i;

	while (!atomic_load(&w->error) &&
	       (i = atomic_fetch_add(&w->next, 1)) < w->num) {
		int ret = w->run(w->arg, i);

		if (ret)
			atomic_store(&w->error, ret);
	}
	return NULL;
}

/* Start threads that block all signals, which are the caller's. Returns their number. */
static uint32_t start(pthread_t *thread, uint32_t num, struct work *w)
{
	sigset_t all, before;
	uint32_t n = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (n < num && !pthread_create(&thread[n], NULL, work, w))
		n++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return n;
}

int parallel_run(uint32_t threads, size_t num, int (*run)(void *arg, size_t i),
		 void *arg)
{
	struct work w = { .run = run, .arg = arg, .num = num };
	pthread_t thread[MAX_THREADS];
	uint32_t others = 0;

	if (threads > MAX_THREADS)
		threads = MAX_THREADS;
	if (threads > num)
		threads = (uint32_t)num;
	if (threads > 1)
		others = start(thread, threads - 1, &w);
	work(&w);
	while (others)
		pthread_join(thread[--others], NULL);
	return atomic_load(&w.error);
}
