/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Increasing, piecewise linear functions of time. */
#ifndef NETSYNC_STEER_POLYLINE_H
#define NETSYNC_STEER_POLYLINE_H

#include <stddef.h>
#include <stdint.h>

struct corner {
	int64_t x; /* ns */
	int64_t y; /* ns */
};

/* A piecewise linear function. Without corners, y = x. */
struct polyline {
	struct corner *corner; /* x and y increase strictly */
	size_t num;
	size_t room;
	double slope_before; /* dy / dx before the first corner */
	double slope_after;  /* dy / dx after the last corner */
};

/*
 * Add a corner. Ignore the corner unless both @x and @y exceed those of the last corner. Return 0
 * or -ENOMEM.
 */
int polyline_add(struct polyline *l, int64_t x, int64_t y);

/* Return y at @x, or x at @y, rounded to 1 ns. */
int64_t polyline_evaluate(const struct polyline *l, int64_t x);
int64_t polyline_invert(const struct polyline *l, int64_t y);

/*
 * Drop corners such that the polyline still passes each of them within @tolerance ns. The swing
 * filter (Elmeleegy et al., VLDB 2009) maintains a cone of lines that start at the last kept corner
 * and pass all later corners.
 */
void polyline_drop_corners(struct polyline *l, double tolerance);

void polyline_release(struct polyline *l);

#endif
