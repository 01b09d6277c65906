/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Independent calls of one function -> several threads, which wait for the next calls. */
#ifndef NETSYNC_UTIL_PARALLEL_H
#define NETSYNC_UTIL_PARALLEL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/cache.h"

/* Maximum threads; chosen. netsync.h documents it (netsync_options.threads). */
#define PARALLEL_THREADS 256

struct parallel_thread {
	struct parallel *parallel;
	pthread_t id;
	/*
	 * Remaining calls of its share, of the first and of the other calls: number of
	 * the next one, and (<< 32) the number after the last one.
	 */
	_Atomic uint64_t left[2];
	uint8_t apart[CACHE_LINE];
};

/* Threads and their calls; its address must not change. */
struct parallel {
	int (*run)(void *arg, size_t i);
	void *arg;
	uint32_t first;		/* calls that must end before the others may start */
	uint32_t num;		/* calls to make */
	atomic_int error;	/* of a call that failed; 0 if none */
	pthread_mutex_t lock;	/* protects the members below */
	pthread_cond_t begun;	/* there are calls to make, or stop */
	pthread_cond_t changed; /* ended, or error */
	pthread_cond_t left;	/* no thread is active */
	uint32_t ended;		/* of the first calls */
	uint64_t round;		/* counts parallel_begin() */
	uint32_t shares;	/* threads that share the calls; 0: all ended */
	uint32_t active;	/* threads at work, not counting the caller's */
	bool stop;		/* threads are to end */
	uint32_t places;	/* shares of the last parallel_begin() */
	struct parallel_thread thread[PARALLEL_THREADS]; /* the first is the caller's */
	uint32_t threads;				 /* that exist */
	pid_t process; /* that has the threads; a child of fork() has none */
};

void parallel_init(struct parallel *p);

/* End the threads. No calls may be running, unless parallel_is_lost(). */
void parallel_release(struct parallel *p);

/*
 * Call @run(@arg, i) for each i below @num, in any order, by at most @threads threads including
 * the caller's. If no more threads can be created, fewer are used; if @p is NULL, only the
 * caller's. Return 0, or the error of a call that failed, after which some calls may not have
 * been made. Calls must not run others with the same @p.
 */
int parallel_run(struct parallel *p, uint32_t threads, uint32_t num,
		 int (*run)(void *arg, size_t i), void *arg);

/*
 * Start calls like parallel_run(); the caller's thread continues with other work until
 * parallel_end(). All calls below @first end before one of the others starts.
 */
void parallel_begin(struct parallel *p, uint32_t threads, uint32_t first, uint32_t num,
		    int (*run)(void *arg, size_t i), void *arg);

/* Make the remaining calls, and wait for the other threads. Return as parallel_run(). */
int parallel_end(struct parallel *p);

/*
 * Were threads working when this process was forked? The child does not have them: their
 * calls never end, and their data is in an undefined state. Only parallel_release() may
 * then be called.
 */
bool parallel_is_lost(const struct parallel *p);

#endif
