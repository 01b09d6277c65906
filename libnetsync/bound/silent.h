/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where only the largest drift holds a pair's bound, as no message does, and a daemon may have
 * steered one of the clocks.
 */
#ifndef NETSYNC_BOUND_SILENT_H
#define NETSYNC_BOUND_SILENT_H

#include "bound/rate-bound.h"
#include "bound/windows.h"
#include "message/envelope.h"
#include "message/message.h"

/*
 * Add windows between the vertices where that matters, and what was seen of the clocks
 * (curve/wander.h) does not say that nobody steers them: their number, or -ENOMEM.
 */
int silent_windows(struct windows *add, const struct rate_bound *bound,
		   const struct correction *correction[2]);

/* Do options or clock readings say that nobody steers either clock, except when reported? */
bool clocks_are_steady(const struct correction *correction[2]);

/*
 * If all messages of a pair pass in one direction, add a window for all of the hosts' time: 0 or
 * -ENOMEM. Such messages show no rate step, as delays may have changed instead; and the bound
 * has no width that says whether a daemon can move the clock beyond it. There is no window
 * if options or readings say that nobody steers the clocks.
 */
int steering_window_one_way(struct windows *add, const struct pair *pair,
			    const struct correction *correction[2]);

/*
 * Does one of the clocks go further in a silence than any does by itself? Then it was rather
 * set, when nobody knows.
 */
bool silent_was_set(const struct rate_bound *bound);

/*
 * The longest time, ns, in which one of the directions has no message: a clock that is set
 * there is not seen to be. @point: those of each, in order of time.
 */
int64_t silent_longest(struct point *const point[2], const size_t num[2],
		       const struct correction *correction[2]);

/*
 * Return the time (ns) in @windows, and in the span of the pair's host @which, during which
 * the messages of one direction are a second or more apart. @windows: joined.
 */
int64_t silent_time(const struct envelope *direction, const struct windows *windows,
		    const struct correction *correction[2], int which);

#endif
