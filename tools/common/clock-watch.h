/* SPDX-License-Identifier: GPL-2.0-only */
/* Readings of CLOCK_REALTIME that report whether the clock was stepped between them. */
#ifndef NETSYNC_CLOCK_WATCH_H
#define NETSYNC_CLOCK_WATCH_H

#include "clock-reading.h"

/*
 * Start a timer that never expires. The kernel cancels the timer whenever CLOCK_REALTIME is
 * stepped. Return the timer's descriptor, or -1 if the kernel has no such timers.
 */
int clock_watch_start(void);
/*
 * Return whether the clock was stepped since the last call. @watch is the descriptor from
 * clock_watch_start(). If @watch is -1, return false.
 */
bool clock_watch_was_stepped(int watch);
/*
 * Read @clock. Set reading->was_set if the clock was stepped since the last successful reading.
 * *@is_set must be false before the first call, and the caller must keep it between calls. Return
 * false if the clock could not be read.
 */
bool clock_watch_read(int watch, clockid_t clock, bool *is_set, struct clock_reading *reading);

#endif
