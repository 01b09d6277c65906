/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From the messages of one pair of hosts to the line between their clocks,
 * and to the set of all lines that the messages allow.
 *
 * Coordinates are those of message.h: x = time on host[0], y = time on
 * host[1] - time on host[0].
 */
#ifndef NETSYNC_ESTIMATE_H
#define NETSYNC_ESTIMATE_H

#include <stdbool.h>
#include <stdint.h>

#include "message/message.h"
#include "netsync.h"

/* y(at) = y + frac + slope * (at - x): whole ns apart, a double for the rest */
struct line {
	int64_t x;
	int64_t y;
	double frac;
	double slope;
};

struct estimate {
	const struct pair *pair;
	enum netsync_quality quality;
	struct line line;
	/* All lines that satisfy the messages have a slope within these. */
	double slope_min;
	double slope_max;
	/*
	 * How far the messages of each side had to be moved apart to leave room
	 * for a line; 0 unless the quality is approximate.
	 */
	int64_t lift;
	/* Half of the sum of the smallest delays of the two directions, ns. */
	double margin;
	/*
	 * The expected error of the line in the middle of the messages, in ns,
	 * without the unknown asymmetry of the delays; HUGE_VAL: not known.
	 */
	double noise;
	/* The part of x in which both directions have messages. */
	int64_t both_from;
	int64_t both_to;
};

/**
 * estimate_pair() - find the line of a pair whose hulls are settled
 * @e: filled in; refers to @p
 * @p: the pair, with at least one message
 * @max_slope: the largest slope of either sign that is thought possible
 */
void estimate_pair(struct estimate *e, const struct pair *p, double max_slope);

/**
 * estimate_regression() - take the line half-way between the least squares
 * @e: what estimate_pair() found; its line is replaced
 */
void estimate_regression(struct estimate *e);

/* Value of the line at x, as a difference to a nearby whole number. */
double line_above(const struct line *l, int64_t x, int64_t y);

/*
 * Time on one host -> time on the other, relative to their origins. The
 * result is *t plus the returned fraction of a ns, which is below 1.
 */
double line_to_second(const struct line *l, int64_t *t);
double line_to_first(const struct line *l, int64_t *t);

#endif
