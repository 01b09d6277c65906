/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Increasing functions of time that are straight between corners. */
#ifndef NETSYNC_STEER_POLYLINE_H
#define NETSYNC_STEER_POLYLINE_H

#include <stddef.h>
#include <stdint.h>

struct corner {
	int64_t x; /* ns */
	int64_t y; /* ns */
};

/* No corners: y = x. */
struct polyline {
	struct corner *corner; /* x and y grow */
	size_t num;
	size_t room;
	double slope_before; /* of the first corner; dy / dx */
	double slope_after;  /* behind the last one */
};

/* Add a corner, if both x and y are larger than the last one's: 0 or -ENOMEM. */
int polyline_add(struct polyline *l, int64_t x, int64_t y);

/* y at x, and x at y, rounded to 1 ns. */
int64_t polyline_at(const struct polyline *l, int64_t x);
int64_t polyline_inverse(const struct polyline *l, int64_t y);

/*
 * Drop corners so that the polyline passes all of them within @tolerance ns, by the swing
 * filter (Elmeleegy et al., VLDB 2009): lines from the last corner that was kept lie in a
 * cone.
 */
void polyline_thin(struct polyline *l, double tolerance);

void polyline_release(struct polyline *l);

#endif
