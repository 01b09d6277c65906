/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Several processes do pieces of work at the same time. The output is the same as if the pieces
 * were done one after the other.
 */
#ifndef NETSYNC_CREW_H
#define NETSYNC_CREW_H

#include <stdbool.h>
#include <stddef.h>

struct crew_work {
	/*
	 * Do a piece of work, in a separate process if there is more than one job. Its output
	 * on stderr is printed in the order of indexes. Return an exit status.
	 */
	int (*work)(void *data, size_t index);
	/*
	 * Called in this process when a piece is done, in the order of indexes. Return false if
	 * the remaining pieces are pointless.
	 */
	bool (*done)(void *data, size_t index, int status);
	/* Called periodically while processes are running. May be NULL. */
	void (*look)(void *data);
};

/*
 * Allocate zeroed memory that child processes write and this process reads. Return NULL if out of
 * memory.
 */
void *crew_share(size_t size);
void crew_unshare(void *shared, size_t size);

/*
 * Do @num pieces of work, up to @jobs at a time. Return false if done() returned false or the
 * crew was interrupted or, after a message, if a process could not be started. No process is
 * then running.
 */
bool crew_run(unsigned int jobs, size_t num, const struct crew_work *work, void *data);

#endif
