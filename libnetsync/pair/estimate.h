/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From the messages of a pair of hosts, estimate the line between their clocks, and the set of all
 * lines that satisfy the messages, by one of several methods.
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
	/* Limits for the slopes of all lines that satisfy the messages. */
	double slope_min;
	double slope_max;
	/*
	 * Distance by which the messages of each direction had to be moved apart so that a line
	 * satisfies them, ns; 0 unless the quality is approximate.
	 */
	int64_t relaxation;
	/* Half of the sum of the smallest delays of the two directions, ns. */
	double margin;
	/*
	 * The expected error of the line in the middle of the messages, in ns, without the unknown
	 * asymmetry of the delays; HUGE_VAL if unknown.
	 */
	double noise;
	/* The part of x in which both directions have messages. */
	int64_t overlap_from;
	int64_t overlap_to;
};

/**
 * struct method - how the clocks of a pair, and of hosts, are estimated
 * @estimate: fill in @e for the pair @p, whose hulls are settled, and which has at least one
 *	message. @max_slope is the maximum absolute value of a possible slope
 * @curves: hosts get curves that follow their clocks, if there are enough messages
 * @model: these curves are the posterior mean of the probabilistic model (model/)
 * @straight: clocks are assumed to be linear, also for the bounds
 */
struct method {
	void (*estimate)(struct estimate *e, const struct pair *p, double max_slope);
	bool curves;
	bool model;
	bool straight;
};

/* Return the row of a method, or NULL if no method has this number. */
const struct method *method_find(uint32_t method);

/* ---- between the files of this folder ----------------------------------- */

/*
 * Estimate the line by convex hulls: it is in the middle of the widest strip between the messages.
 */
void estimate_max_margin(struct estimate *e, const struct pair *p, double max_slope);

/* Do the same, but set the line to the mean of the least-squares lines of both directions. */
void estimate_regression(struct estimate *e, const struct pair *p, double max_slope);

#endif
