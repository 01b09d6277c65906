/* SPDX-License-Identifier: GPL-2.0-only */
/* Display the progress of work on stderr. */
#ifndef NETSYNC_PROGRESS_H
#define NETSYNC_PROGRESS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* A line that is displayed if stderr is a terminal and the work takes longer than a second. */
struct progress {
	const char *what; /* name of the current work, which has at most 32 characters */
	int64_t started_ns;
	int64_t drawn_ns;
	bool is_terminal;
	bool drawn;
	struct sigaction before; /* action of SIGALRM before progress_wait() */
};

/* Name of the work that began last, or NULL. */
extern const char *volatile current_work;

/* Begin work. @what is the work's name, such as "reading". */
void progress_start(struct progress *progress, const char *what);
/*
 * Draw a bar for @done of @total. The unit may be bytes or anything else that grows with time. If
 * @total is 0, the total is not known, and the line shows the elapsed time.
 */
void progress_show(struct progress *progress, uint64_t done, uint64_t total);
/*
 * Before a call that takes long, start a timer that draws the elapsed time until progress_end().
 * SIGALRM must not disturb the call or processes that it starts.
 */
void progress_wait(struct progress *progress);
void progress_end(struct progress *progress);
/* Remove the line, so that other text can be printed in its place. */
void progress_hide(void);

#endif
