/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Make independent calls of a function in several threads. Threads wait for the next calls. */
#ifndef NETSYNC_UTIL_PARALLEL_H
#define NETSYNC_UTIL_PARALLEL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/cache.h"

/* Maximum number of threads. Chosen; documented in netsync.h (netsync_options.threads). */
#define PARALLEL_THREADS 256

struct parallel_thread {
	struct parallel *parallel;
	pthread_t id;
	/*
	 * Remaining calls of the thread's share: left[0] for the first calls, left[1] for the other
	 * calls. The low 32 bits are the number of the next call. The high 32 bits are the number
	 * after the last call.
	 */
	_Atomic uint64_t left[2];
	uint8_t apart[CACHE_LINE];
};

/* Threads and the calls that they make. The struct must not be moved. */
struct parallel {
	int (*run)(void *arg, size_t i);
	void *arg;
	uint32_t first;		/* number of calls that must end before the others may start */
	uint32_t num;		/* number of calls to make */
	atomic_int error;	/* error of a failed call, or 0 */
	pthread_mutex_t lock;	/* the lock for the members below */
	pthread_cond_t begun;	/* signals that there are calls to make, or @stop */
	pthread_cond_t changed; /* signals that the first calls have ended, or an error */
	pthread_cond_t left;	/* signals that no thread is active */
	uint32_t ended;		/* how many of the first calls have ended */
	uint64_t round;		/* number of parallel_begin() calls */
	uint32_t shares;	/* number of threads that share the calls; 0 when all have ended */
	uint32_t active;	/* number of threads that are working, not counting the caller's */
	bool stop;		/* whether the threads must end */
	uint32_t places;	/* number of shares in the last parallel_begin() */
	struct parallel_thread thread[PARALLEL_THREADS]; /* the first one belongs to the caller */
	/* Number of existing threads, including the caller's. */
	uint32_t threads;
	pid_t process; /* the process that has the threads; a child of fork() has none */
};

void parallel_init(struct parallel *p);

/* End the threads. No call may be running, except if parallel_is_lost(). */
void parallel_release(struct parallel *p);

/*
 * Call @run(@arg, i) for each i below @num, in any order, in at most @threads threads including the
 * caller's. If threads cannot be created, use fewer. If @p is NULL, use only the caller's thread.
 * Return 0 or the error of a call that failed. After an error, some calls may not have been made.
 * @run must not start other calls with the same @p.
 */
int parallel_run(struct parallel *p, uint32_t threads, uint32_t num,
		 int (*run)(void *arg, size_t i), void *arg);

/*
 * Start calls like parallel_run(). The caller's thread does other work until it calls
 * parallel_end(). All calls below @first end before any other call starts.
 */
void parallel_begin(struct parallel *p, uint32_t threads, uint32_t first, uint32_t num,
		    int (*run)(void *arg, size_t i), void *arg);

/*
 * Make the remaining calls, and wait for the other threads. Return the same values as
 * parallel_run().
 */
int parallel_end(struct parallel *p);

/*
 * Return whether threads were working when this process was forked. The child process does not have
 * these threads: their calls never end, and their data are in an undefined state. In this case,
 * call only parallel_release().
 */
bool parallel_is_lost(const struct parallel *p);

#endif
