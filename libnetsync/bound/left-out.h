/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which messages of a pair are left out of its bound: by its corrections, those
 * that no real message can have made; and where so many are that it is rather
 * the corrections that are wrong. To leave out a right one makes a bound wider,
 * never false; a wrong one makes it false.
 */
#ifndef NETSYNC_BOUND_LEFT_OUT_H
#define NETSYNC_BOUND_LEFT_OUT_H

#include <stdbool.h>
#include <stddef.h>

#include "bound/windows.h"
#include "curve/correction.h"
#include "curve/observations.h"
#include "message/message.h"

/* A kept point of one direction, and what is thought of it. */
struct limit {
	struct point point;
	size_t bin;
	double delay;  /* by the corrections, ns */
	bool excluded; /* its times are false: the corrections do not cover them */
	bool left_out;
};

struct limits_of_way {
	const struct envelope *envelope;
	struct limit *limit; /* in order of time */
	size_t num;
	size_t left_out;
	size_t outliers;   /* of these, such that are not inverted */
	size_t in_windows; /* and where it is the corrections that are wrong */
	size_t at_changes; /* of these, in windows of change points that were found */
	bool two_steps;	   /* one that was missed, in the window of one that was found */
};

/*
 * All limits of a direction. Without corrections all are kept; with @all, but
 * those with false times. 0 or -ENOMEM; limit is to be freed.
 */
int left_out_find(struct limits_of_way *l, const struct direction *d, int way,
		  const struct correction *correction[2], bool all);

/*
 * Where many of a few in a row are left out, the corrections missed a change
 * point: add the time to the windows. @slope: what clocks may differ by. 0 or
 * -ENOMEM.
 */
int left_out_windows(struct limits_of_way *l, double slope, struct windows *to);

/* Groups of neighbouring bins with @messages each, of what is not left out. */
size_t left_out_group(const struct limits_of_way *l, const struct envelope *e, double messages,
		      struct bin_group *group);

#endif
