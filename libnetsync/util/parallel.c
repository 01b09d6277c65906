// SPDX-License-Identifier: LGPL-2.1-or-later
/* Independent calls -> threads, each of which takes the next number from a counter. */
#include <signal.h>
#include <stdbool.h>

#include "util/parallel.h"

/* Note that a call ended. */
static void end_call(struct parallel *p, size_t i, int error)
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

/* Wait until a call may begin. False: it may not, as another one failed. */
static bool may_begin(struct parallel *p, size_t i)
{
	if (i >= p->first && p->first) {
		pthread_mutex_lock(&p->lock);
		while (p->ended < p->first && !atomic_load(&p->error))
			pthread_cond_wait(&p->changed, &p->lock);
		pthread_mutex_unlock(&p->lock);
	}
	return !atomic_load(&p->error);
}

static void *work(void *arg)
{
	struct parallel *p = arg;
	size_t i;

	while ((i = atomic_fetch_add(&p->next, 1)) < p->num && may_begin(p, i))
		end_call(p, i, p->run(p->arg, i));
	return NULL;
}

/* Start threads that block all signals, which are the caller's. */
static void start(struct parallel *p, uint32_t num)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (p->threads < num &&
	       !pthread_create(&p->thread[p->threads], NULL, work, p))
		p->threads++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void parallel_begin(struct parallel *p, uint32_t threads, size_t first,
		    size_t num, int (*run)(void *arg, size_t i), void *arg)
{
	p->run = run;
	p->arg = arg;
	p->first = first;
	p->num = num;
	atomic_init(&p->next, 0);
	p->ended = 0;
	atomic_init(&p->error, 0);
	p->threads = 0;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->changed, NULL);
	if (threads > PARALLEL_THREADS)
		threads = PARALLEL_THREADS;
	if (threads > num)
		threads = (uint32_t)num;
	if (threads > 1)
		start(p, threads - 1);
}

int parallel_end(struct parallel *p)
{
	work(p);
	while (p->threads)
		pthread_join(p->thread[--p->threads], NULL);
	pthread_cond_destroy(&p->changed);
	pthread_mutex_destroy(&p->lock);
	return atomic_load(&p->error);
}

int parallel_run(uint32_t threads, size_t num, int (*run)(void *arg, size_t i),
		 void *arg)
{
	struct parallel p;

	parallel_begin(&p, threads, 0, num, run, arg);
	return parallel_end(&p);
}
