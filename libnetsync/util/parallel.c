// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Divide independent calls among threads. Each thread starts with its own share, which is the same
 * in each round with the same number of calls, so that the calls' data stay in the caches of one
 * processor. Then the thread helps with the shares of others. When no call is left, the thread
 * waits for the next round. Waking a thread costs less than creating one. A thread that wakes too
 * late misses the round without delaying it.
 */
#include <signal.h>
#include <unistd.h>

#include "util/parallel.h"

/* Record that a call ended. */
static void note_call_ended(struct parallel *p, size_t i, int error)
{
	if (i >= p->first && !error)
		return;
	pthread_mutex_lock(&p->lock);
	p->ended += i < p->first;
	if (error)
		atomic_store(&p->error, error);
	if (p->ended == p->first || error)
		pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
}

/*
 * Wait until a call may start. Return false if it must not start because another call has failed.
 */
static bool wait_until_call_may_begin(struct parallel *p, size_t i)
{
	if (i >= p->first && p->first) {
		pthread_mutex_lock(&p->lock);
		while (p->ended < p->first && !atomic_load(&p->error))
			pthread_cond_wait(&p->changed, &p->lock);
		pthread_mutex_unlock(&p->lock);
	}
	return !atomic_load(&p->error);
}

/*
 * Compute where a thread's share begins: its share of the first calls (@part 0) or of the other
 * calls (@part 1).
 */
static uint64_t compute_share_begin(const struct parallel *p, int part, uint32_t thread)
{
	const uint64_t from = part ? p->first : 0;
	const uint64_t num = part ? p->num - p->first : p->first;

	return from + num * thread / p->places;
}

/*
 * Take a call from one thread's share of the calls. The owner of the share takes the next
 * call; other threads take the last call. If the owner is late, the same calls therefore move to
 * another thread each time. Return false if no call is left.
 */
static bool take_call_of_share(struct parallel *p, int part, uint32_t share, bool own, size_t *i)
{
	_Atomic uint64_t *left = &p->thread[share].left[part];
	uint64_t before = atomic_load(left), after;
	uint32_t next, end;

	do {
		next = (uint32_t)before;
		end = (uint32_t)(before >> 32);
		if (next == end)
			return false;
		*i = own ? next++ : --end;
		after = (uint64_t)end << 32 | next;
	} while (!atomic_compare_exchange_weak(left, &before, after));
	return true;
}

/*
 * Take the next call from a thread's own share. If this share is done, take a call from another
 * share. All first calls are taken before other calls.
 */
static bool take_next_call(struct parallel *p, uint32_t thread, size_t *i)
{
	for (int part = 0; part < 2; part++)
		for (uint32_t k = 0; k < p->places; k++)
			if (take_call_of_share(p, part, (thread + k) % p->places, !k, i))
				return true;
	return false;
}

static void run_calls(struct parallel *p, uint32_t thread)
{
	size_t i;

	while (take_next_call(p, thread, &i) && wait_until_call_may_begin(p, i))
		note_call_ended(p, i, p->run(p->arg, i));
}

/* Run a thread. In each round that has a share for it, the thread participates once. */
static void *run_parallel_thread(void *arg)
{
	const struct parallel_thread *t = arg;
	struct parallel *p = t->parallel;
	const uint32_t number = (uint32_t)(t - p->thread);
	uint64_t round = 0;

	pthread_mutex_lock(&p->lock);
	for (;;) {
		while (!p->stop && (number >= p->shares || p->round == round))
			pthread_cond_wait(&p->begun, &p->lock);
		if (p->stop)
			break;
		round = p->round;
		p->active++;
		pthread_mutex_unlock(&p->lock);
		run_calls(p, number);
		pthread_mutex_lock(&p->lock);
		if (!--p->active)
			pthread_cond_signal(&p->left);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

/* Start threads. The threads block all signals, because the caller's thread handles signals. */
static void start_parallel_threads(struct parallel *p, uint32_t num)
{
	sigset_t all, before;

	p->process = getpid();
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (; p->threads < num; p->threads++) {
		struct parallel_thread *t = &p->thread[p->threads];

		t->parallel = p;
		if (pthread_create(&t->id, NULL, run_parallel_thread, t))
			break;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Return whether this process is a forked child, which does not have the threads. */
static bool was_process_forked(const struct parallel *p)
{
	return p->threads > 1 && p->process != getpid();
}

static void init_locks(struct parallel *p)
{
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->begun, NULL);
	pthread_cond_init(&p->changed, NULL);
	pthread_cond_init(&p->left, NULL);
}

/*
 * Continue without the threads, which this process does not have. Initialize the locks again,
 * because one of the threads may have held a lock.
 */
static void forget_missing_threads(struct parallel *p)
{
	p->threads = 1;
	p->active = 0;
	init_locks(p);
}

void parallel_init(struct parallel *p)
{
	*p = (struct parallel){ .threads = 1 };
	init_locks(p);
}

void parallel_release(struct parallel *p)
{
	/* A thread that this process does not have may hold the lock or wait for it. */
	if (was_process_forked(p))
		return;
	pthread_mutex_lock(&p->lock);
	p->stop = true;
	pthread_cond_broadcast(&p->begun);
	pthread_mutex_unlock(&p->lock);
	while (p->threads > 1)
		pthread_join(p->thread[--p->threads].id, NULL);
	pthread_cond_destroy(&p->left);
	pthread_cond_destroy(&p->changed);
	pthread_cond_destroy(&p->begun);
	pthread_mutex_destroy(&p->lock);
}

void parallel_begin(struct parallel *p, uint32_t threads, uint32_t first, uint32_t num,
		    int (*run)(void *arg, size_t i), void *arg)
{
	if (was_process_forked(p))
		forget_missing_threads(p);
	if (threads > PARALLEL_THREADS)
		threads = PARALLEL_THREADS;
	if (threads > num)
		threads = num;
	pthread_mutex_lock(&p->lock);
	p->run = run;
	p->arg = arg;
	p->first = first;
	p->num = num;
	p->places = threads ? threads : 1;
	for (uint32_t i = 0; i < p->places; i++)
		for (int part = 0; part < 2; part++)
			atomic_store(&p->thread[i].left[part],
				     compute_share_begin(p, part, i + 1) << 32 |
					     compute_share_begin(p, part, i));
	atomic_store(&p->error, 0);
	p->ended = 0;
	p->round++;
	p->shares = p->places;
	if (p->threads > 1 && threads > 1)
		pthread_cond_broadcast(&p->begun);
	pthread_mutex_unlock(&p->lock);
	if (threads > p->threads)
		start_parallel_threads(p, threads);
}

int parallel_end(struct parallel *p)
{
	if (was_process_forked(p))
		forget_missing_threads(p);
	run_calls(p, 0);
	pthread_mutex_lock(&p->lock);
	p->shares = 0;
	while (p->active)
		pthread_cond_wait(&p->left, &p->lock);
	pthread_mutex_unlock(&p->lock);
	return atomic_load(&p->error);
}

/* Make all calls in the caller's thread. */
static int run_calls_in_one_thread(uint32_t num, int (*run)(void *arg, size_t i), void *arg)
{
	int ret = 0;

	for (uint32_t i = 0; i < num && !ret; i++)
		ret = run(arg, i);
	return ret;
}

int parallel_run(struct parallel *p, uint32_t threads, uint32_t num,
		 int (*run)(void *arg, size_t i), void *arg)
{
	if (!p || threads < 2 || num < 2)
		return run_calls_in_one_thread(num, run, arg);
	parallel_begin(p, threads, 0, num, run, arg);
	return parallel_end(p);
}

bool parallel_is_lost(const struct parallel *p)
{
	return was_process_forked(p) && p->active;
}
