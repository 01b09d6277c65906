/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From the messages of one pair of hosts to the line between their clocks, and
 * to the set of all lines that the messages allow, by one of several methods.
 */
#ifndef NETSYNC_PAIR_ESTIMATE_H
#define NETSYNC_PAIR_ESTIMATE_H

#include <stdbool.h>
#include <stdint.h>

#include "message/message.h"
#include "netsync.h"
#include "pair/line.h"

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
	int64_t relaxation;
	/* Half of the sum of the smallest delays of the two directions, ns. */
	double margin;
	/*
	 * The expected error of the line in the middle of the messages, in ns,
	 * without the unknown asymmetry of the delays; HUGE_VAL: not known.
	 */
	double noise;
	/* The part of x in which both directions have messages. */
	int64_t overlap_from;
	int64_t overlap_to;
};

/**
 * struct method - how the clocks of a pair, and of hosts, are estimated
 * @estimate: fill in @e, which then refers to @p: a pair whose hulls are settled,
 *	with at least one message. @max_slope: the largest slope of either sign
 *	that is thought possible
 * @curves: hosts get curves that follow their clocks, where messages suffice
 * @model: these curves are the posterior mean of the probabilistic model (model/)
 * @straight: clocks are taken to be straight, also for the bounds
 */
struct method {
	void (*estimate)(struct estimate *e, const struct pair *p, double max_slope);
	bool curves;
	bool model;
	bool straight;
};

/* The row of a method; NULL: there is none of that number. */
const struct method *method_of(uint32_t method);

/* ---- between the files of this folder ----------------------------------- */

/* By convex hulls: the middle of the widest strip between the messages. */
void estimate_max_margin(struct estimate *e, const struct pair *p, double max_slope);

/* The same, but the line is half-way between the least squares. */
void estimate_regression(struct estimate *e, const struct pair *p, double max_slope);

#endif
