/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Let several processes do pieces of work at the same time. The output is the same as if the pieces
 * were done one after the other.
 */
#ifndef NETSYNC_CREW_H
#define NETSYNC_CREW_H

#include <stdbool.h>
#include <stddef.h>

struct crew_work {
	/*
	 * Do a piece of work. If there is more than one job, this runs in a separate process. Its
	 * messages on stderr are printed in the order of the pieces. Return an exit status.
	 */
	int (*work)(void *data, size_t index);
	/*
	 * Called in this process when a piece is done, in the order of the pieces. Return false if
	 * the remaining pieces are not needed.
	 */
	bool (*done)(void *data, size_t index, int status);
	/* Called periodically while processes are running. May be NULL. */
	void (*look)(void *data);
};

/*
 * Allocate zeroed memory that child processes can write and this process can read. Return NULL if
 * out of memory.
 */
void *crew_share(size_t size);
void crew_unshare(void *shared, size_t size);

/*
 * Do @num pieces of work, at most @jobs at a time. Return false if done() returned false or if
 * interrupted. If a process cannot be started, print a message and return false. When this function
 * returns, no process is running.
 */
bool crew_run(unsigned int jobs, size_t num, const struct crew_work *work, void *data);

#endif
