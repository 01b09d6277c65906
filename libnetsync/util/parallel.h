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

/* Threads at most; chosen. netsync.h names it (netsync_options.threads). */
#define PARALLEL_THREADS 256

struct parallel_thread {
	struct parallel *parallel;
	pthread_t id;
	/*
	 * Of its share of the first calls, and of that of the others: number of the next
	 * one, and (<< 32) that after the last one, which are left.
	 */
	_Atomic uint64_t left[2];
	uint8_t apart[CACHE_LINE];
};

/* Threads, and the calls that they make at a time; at an address that stays. */
struct parallel {
	int (*run)(void *arg, size_t i);
	void *arg;
	uint32_t first;		/* calls after which the others may begin */
	uint32_t num;		/* calls to make */
	atomic_int error;	/* of a call that failed; 0: none */
	pthread_mutex_t lock;	/* of what follows */
	pthread_cond_t begun;	/* there are calls to make, or stop */
	pthread_cond_t changed;	/* ended, or error */
	pthread_cond_t left;	/* no thread is active */
	uint32_t ended;		/* of the first calls */
	uint64_t round;		/* counts parallel_begin() */
	uint32_t shares;	/* threads that calls are shared out to; 0: none any more */
	uint32_t active;	/* of these, without the caller's, that are at work */
	bool stop;		/* threads are to end */
	uint32_t places;	/* shares, as of the last parallel_begin() */
	struct parallel_thread thread[PARALLEL_THREADS]; /* the first is the caller's */
	uint32_t threads;	/* that there are */
	pid_t process;		/* in which they are; a child of fork() has none of them */
};

void parallel_init(struct parallel *p);

/* End the threads. No calls may be under way, unless parallel_is_lost(). */
void parallel_release(struct parallel *p);

/*
 * Call @run(@arg, i) for each i below @num, in any order, by at most @threads threads, of
 * which the caller's is one; by fewer if no more can be created, and by the caller's alone
 * without @p (NULL). Returns 0, or the error of a call that failed, after which not all
 * may have been made. Calls may not run others by the same @p.
 */
int parallel_run(struct parallel *p, uint32_t threads, uint32_t num,
		 int (*run)(void *arg, size_t i), void *arg);

/*
 * Begin calls as parallel_run() makes them; the caller's thread does other work until
 * parallel_end(). All calls below @first end before one of the others begins.
 */
void parallel_begin(struct parallel *p, uint32_t threads, uint32_t first,
		    uint32_t num, int (*run)(void *arg, size_t i), void *arg);

/* Make the calls that are left, and wait for the others. Returns as parallel_run(). */
int parallel_end(struct parallel *p);

/*
 * Were threads at work when this process was forked? They are not here, so that their
 * calls do not end, and what these change may be in any state: there is no more to be
 * called than parallel_release().
 */
bool parallel_is_lost(const struct parallel *p);

#endif
