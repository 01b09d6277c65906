/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Functions that the files of reduction share:
 *
 *	reduce.c	the steps in order; costs of pairs in both trees
 *	reference.c	islands, and the reference host
 *	sweep.c		straight corrections along the tree, then curves
 *	links.c		what a host is fitted by
 *	all-hosts.c	fits of all hosts at once
 *	model-fit.c	all hosts by the probabilistic model
 *	feasible.c	shifts where messages pass in one direction only
 *	check.c		bounds that were made against messages
 *	verdict.c	hosts that are in doubt as a whole
 *	host-clock.c	the clock of a host: segments, bounds, steps, quality
 *	inside.c	corrections brought inside of their bounds
 *	graph.c		the graph of pairs, and its trees of shortest paths
 *	span.c		the time in which hosts were traced
 *	pair-info.c	the public information about a pair
 */
#ifndef NETSYNC_REDUCE_INTERNAL_H
#define NETSYNC_REDUCE_INTERNAL_H

#include "bound/knots.h"
#include "bound/pair-bound.h"
#include "bound/windows.h"
#include "curve/correction.h"
#include "curve/observations.h"
#include "curve/wander.h"
#include "reduce/graph.h"
#include "reduce/reduce.h"

/* What is known of the path from a host to the reference, without walking it. */
struct path {
	/* The next host, from this one on, whose windows count; or the reference: */
	uint32_t windowed;	      /* of any kind, */
	uint32_t stepped;	      /* or of its own clock's change points */
	enum netsync_quality quality; /* the worst of the pairs on the bound's path */
	bool complete;		      /* pairs on the correction's path have messages both ways */
};

/* A host's time, carried along the lines of pairs to the reference. */
struct carried {
	int64_t t;     /* whole ns, relative to the origin */
	double frac;   /* fraction of t, ns */
	double skew;   /* rate of the whole path - 1 */
	double growth; /* how far skew can be off, if clocks are straight */
	bool complete; /* all pairs have messages both ways */
};

/* State of a reduction; reduce.c explains the two trees. */
struct reduction {
	struct host *host;
	struct estimate *est;
	uint32_t num_hosts;
	uint32_t num_pairs;
	const struct task *task;
	uint32_t reference;
	struct graph graph;
	struct tree by_bound;
	struct tree by_noise;
	double *bound_cost;
	double *noise_cost;
	struct pair_bound *pair_bound; /* by pair */
	struct correction *correction; /* by host */
	struct wander *wander;	       /* by host; zero: not measured */
	/*
	 * By host whose clock is made: when the bound of the pair to the next one on its way to
	 * the reference assumes no drift, in the host's time.
	 */
	struct windows *steep;
	/* By host: when no bound is claimed, as messages contradict it; in the host's time. */
	struct windows *forgotten;
	struct carried *way; /* by host: of the first time of its span */
	struct path *path;   /* by host; windows of those whose clock is made */
	/* By pair: what its messages lack for any clocks without steps to satisfy them, ns; 0: nothing. */
	int64_t *short_by;
	bool *disputed; /* by pair: messages do not agree with what was made of them */
	/* By pair: some messages contradict the bounds that are claimed, and were taken to be wrong. */
	bool *outvoted;
	bool distrusted;	/* no bound is to be claimed */
	bool reference_doubted; /* the reference is in doubt as a whole */
};

/* Carry a host's time to the reference. Ways of hosts nearer to that are known. */
struct carried reduction_carry(const struct reduction *r, uint32_t host, int64_t t);

/* Find the ways of all hosts, each by that of the next host: ->by_noise is known. */
void reduction_find_ways(struct reduction *r);

/* Set the islands of all hosts, and the reference, unless it is given. */
void reduction_find_islands(struct reduction *r);

/* The links to neighbours whose corrections are known: *link, to be freed. 0 or -ENOMEM. */
int reduction_find_links(const struct reduction *r, uint32_t h, struct link **link, size_t *num);

/*
 * The number of spline intervals that three of four of the first @num hosts, other than the
 * reference, have at most: if the reference bends, all others seem to; intervals of a few
 * hosts, perhaps by mistake, do not count. And if others bend, a host that seemed straight
 * beside the few known at first may bend, too. 0 or -ENOMEM.
 */
int reduction_intervals_of_others(const struct reduction *r, size_t num, size_t *intervals);

/* Fit the curves of all hosts at once, but those of steered clocks. 0 or -ENOMEM. */
int reduction_fit_jointly(struct reduction *r);

/*
 * Where curves are in doubt, fit them as those of clocks that a daemon steers, with all others.
 * *explains: messages agree much better then; if not, all stays as it is. 0 or -ENOMEM.
 */
int reduction_fit_steered(struct reduction *r, bool *explains);

/* Set a straight correction by the lines of pairs. */
void reduction_set_straight(struct reduction *r, uint32_t h);

/* Find when the curves of all hosts are not to be relied on: 0 or -ENOMEM. */
int reduction_doubt_hosts(struct reduction *r);

/* The corrections of all connected hosts by the probabilistic model: 0 or -ENOMEM. */
int reduction_fit_model(struct reduction *r);

/* Estimate the corrections of all connected hosts: 0 or -ENOMEM. */
int reduction_fit_hosts(struct reduction *r);

/*
 * Shift hosts between which messages pass in one direction only so that none is received before
 * it is sent, if that is possible. 0 or -ENOMEM.
 */
int reduction_make_feasible(struct reduction *r);

struct inside_limits {
	double steepest; /* the largest rate less 1 */
	int64_t coarse;	 /* by how much times of messages may be off, ns */
};

/*
 * inside_keep() - bring a correction inside of its bounds
 * @k: the ranges of the corrected time, and the knots that were made of them
 * @m: the correction
 * @t, @num: further times at which it has to be inside
 * @limits: of the correction
 * @segment: where to put segments that are to replace those of @m, to be freed
 *
 * Return: how many, 0 if the correction is inside, or -ENOMEM.
 */
int inside_keep(const struct knots *k, const struct netsync_model *m, const int64_t *t, size_t num,
		const struct inside_limits *limits, struct netsync_segment **segment);

/*
 * Is a host in doubt as a whole: can many of its bounds with others not be claimed? Then
 * it is rather this one that is wrong, or what is assumed of all, and that no message
 * contradicts the rest of them is chance. Chosen.
 */
bool reduction_is_contradicted(const struct reduction *r, uint32_t h);

/*
 * Make the clock of a host other than the reference; clocks of hosts nearer to the
 * reference must be made: 0, 1 if it is in several intervals that contradict each
 * other, or -ENOMEM.
 */
int reduction_make_clock(const struct reduction *r, uint32_t h);

/*
 * Add the standard deviations of a host's clock to @m, which has its segments, if the method
 * computes them. *knot is to be freed. Return 0 or a negative errno.
 */
int reduction_set_deviations(const struct reduction *r, uint32_t h, struct netsync_model *m,
			     struct netsync_deviation_knot **knot);

/*
 * Check the bounds that were made against the messages that were kept: lower the qualities of
 * pairs that do not agree, and note when the bound of a host cannot be claimed; @last: note the
 * whole host. Return: 0, 1 if clocks are to be made again, or -ENOMEM.
 */
int reduction_check_messages(struct reduction *r, bool last);

/*
 * Lower the qualities of hosts whose bounds are contradicted by messages that were taken to be
 * wrong, from whichever pair these bounds come. Of both hosts of a pair, that is the one with more
 * such pairs. 0 or -ENOMEM.
 */
int reduction_blame_hosts(struct reduction *r);

/*
 * Note that no bound is claimed where the reference's readings report nothing: for methods without
 * curves. 0 or -ENOMEM.
 */
int reduction_forget_untold(struct reduction *r);

/* Set the qualities of the paths of all connected hosts, as those of the pairs are now. */
void reduction_set_qualities(struct reduction *r);

/* The worst quality of a host and of the pairs on its bound's path. */
enum netsync_quality reduction_quality(const struct reduction *r, uint32_t h);

#endif
