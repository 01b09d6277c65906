/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Independent calls of one function -> several threads. */
#ifndef NETSYNC_UTIL_PARALLEL_H
#define NETSYNC_UTIL_PARALLEL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* Threads at most; chosen. netsync.h names it (netsync_options.threads). */
#define PARALLEL_THREADS 256

/* Calls that were begun, at an address that stays. */
struct parallel {
	int (*run)(void *arg, size_t i);
	void *arg;
	size_t first;		/* calls after which the others may begin */
	size_t num;		/* calls to make */
	atomic_size_t next;	/* number of the next call */
	size_t ended;		/* of the first calls; with @lock */
	atomic_int error;	/* of a call that failed; 0: none */
	pthread_mutex_t lock;
	pthread_cond_t changed;	/* ended, or error */
	pthread_t thread[PARALLEL_THREADS];
	uint32_t threads;	/* that were started */
};

/*
 * Call @run(@arg, i) for each i below @num, in any order, by at most @threads threads, of
 * which the caller's is one; by fewer if no more can be created. Returns 0, or the error
 * of a call that failed, after which not all may have been made.
 */
int parallel_run(uint32_t threads, size_t num, int (*run)(void *arg, size_t i),
		 void *arg);

/*
 * The same in two steps, so that the caller's thread does other work while the other ones
 * make calls. All calls below @first end before one of the others begins.
 */
void parallel_begin(struct parallel *p, uint32_t threads, size_t first,
		    size_t num, int (*run)(void *arg, size_t i), void *arg);

/* Make the calls that are left, and wait for the others. Returns as parallel_run(). */
int parallel_end(struct parallel *p);

#endif
