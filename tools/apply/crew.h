/* SPDX-License-Identifier: GPL-2.0-only */
/* Pieces of work that several processes do at the same time, as if they were done in turn. */
#ifndef NETSYNC_CREW_H
#define NETSYNC_CREW_H

#include <stdbool.h>
#include <stddef.h>

struct crew_work {
	/*
	 * Do a piece; in a process of its own if there is more than one job. What it prints
	 * to stderr comes when its turn comes. Return: an exit status.
	 */
	int (*work)(void *data, size_t index);
	/* Called in this process, in turn. False: the rest is of no use. */
	bool (*done)(void *data, size_t index, int status);
	/* Called now and then meanwhile; NULL: nothing. */
	void (*look)(void *data);
};

/* What the processes write, and this one reads, all zero; NULL: no memory. */
void *crew_share(size_t size);
void crew_unshare(void *shared, size_t size);

/*
 * Do @num pieces, up to @jobs at a time. False: done() returned that, it was interrupted, or
 * a process could not be started, which was said; then none is at work any more.
 */
bool crew_run(unsigned int jobs, size_t num, const struct crew_work *work, void *data);

#endif
