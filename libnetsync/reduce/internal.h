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

/* Properties of the path from a host to the reference, available without walking it. */
struct path {
	/* First host on the path, starting with this one, that has windows; or the reference: */
	uint32_t windowed; /* windows of any kind, */
	uint32_t stepped;  /* or change points of its own clock */
	/* worst quality of the pairs on the bound's path that have messages in both directions */
	enum netsync_quality quality;
	bool complete; /* the correction's path has messages in both directions */
};

/* A host's time, converted to the reference along the lines of pairs. */
struct carried {
	int64_t t;     /* whole ns, relative to the origin */
	double frac;   /* fraction of t, ns */
	double skew;   /* rate of the whole path - 1 */
	double growth; /* largest error of skew, if clocks are straight */
	bool complete; /* all pairs have messages in both directions */
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
	struct pair_bound *pair_bound; /* indexed by pair */
	struct correction *correction; /* indexed by host */
	struct wander *wander;	       /* indexed by host; zero: not measured */
	/*
	 * For each host whose clock is made: the windows, on the host's clock, in which the bound
	 * of the pair to the next host on its path to the reference assumes no drift limit.
	 */
	struct windows *steep;
	/*
	 * For each host: the windows on its clock without a bound, because messages contradict it.
	 */
	struct windows *forgotten;
	struct carried *way; /* for each host, at the start of its span */
	struct path *path;   /* for each host; windows of hosts whose clocks are made */
	/*
	 * For each pair: the largest shortfall of its messages, ns, that keeps clocks without steps
	 * from satisfying them; 0: there is none.
	 */
	int64_t *short_by;
	bool *disputed; /* for each pair: messages are inconsistent with the results */
	/*
	 * For each pair: some messages contradict the bounds that are claimed, and were considered
	 * wrong.
	 */
	bool *outvoted;
	bool distrusted;	/* no bound is to be claimed */
	bool reference_doubted; /* the whole reference is untrusted */
};

/* Convert a host's time to the reference. Paths of hosts nearer to it are known. */
struct carried reduction_carry(const struct reduction *r, uint32_t host, int64_t t);

/* Find the paths of all hosts, each from that of the next host: ->by_noise is known. */
void reduction_find_ways(struct reduction *r);

/* Set the islands of all hosts, and the reference, unless it was specified. */
void reduction_find_islands(struct reduction *r);

/* Find the links to neighbours whose corrections are known: *link, to be freed. 0 or -ENOMEM. */
int reduction_find_links(const struct reduction *r, uint32_t h, struct link **link, size_t *num);

/*
 * Find the number of knot intervals that three of four of the first @num hosts, other than the
 * reference, have at most. If the reference bends, all others seem to. Intervals of a few hosts,
 * perhaps by mistake, do not count. And if others bend, a host may bend that seemed straight
 * relative to the few hosts known at first. 0 or -ENOMEM.
 */
int reduction_intervals_of_others(const struct reduction *r, size_t num, size_t *intervals);

/* Fit the curves of all hosts jointly, except those of steered clocks. 0 or -ENOMEM. */
int reduction_fit_jointly(struct reduction *r);

/*
 * Fit untrusted curves jointly with all others, as those of clocks that a daemon steers. *explains:
 * messages agree much better then; if not, nothing is changed. 0 or -ENOMEM.
 */
int reduction_fit_steered(struct reduction *r, bool *explains);

/* Set a straight correction from the lines of pairs. */
void reduction_set_straight(struct reduction *r, uint32_t h);

/* Find the corrections of all connected hosts by the probabilistic model: 0 or -ENOMEM. */
int reduction_fit_model(struct reduction *r);

/* Estimate the corrections of all connected hosts: 0 or -ENOMEM. */
int reduction_fit_hosts(struct reduction *r);

/*
 * Shift hosts between which messages pass in one direction only, so that no message is received
 * before it is sent, if that is possible. 0 or -ENOMEM.
 */
int reduction_make_feasible(struct reduction *r);

struct inside_limits {
	double steepest; /* the largest rate less 1 */
	int64_t coarse;	 /* largest error of message times, ns */
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
 * Is the whole host untrusted: are many of its bounds with others unclaimed? The host is then more
 * likely wrong, or an assumption about all clocks, and the other bounds are uncontradicted only by
 * chance. Chosen.
 */
bool reduction_is_contradicted(const struct reduction *r, uint32_t h);

/*
 * Make the clock of a host other than the reference; clocks of hosts nearer to the reference must
 * be made. Return 0, 1 if its intervals over several neighbours are inconsistent, or -ENOMEM.
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
 * Lower the qualities of hosts whose bounds are contradicted by messages that were considered
 * wrong, whichever pair made these bounds. The host of a pair with more such pairs is lowered. 0 or
 * -ENOMEM.
 */
int reduction_blame_hosts(struct reduction *r);

/*
 * Note that no bound is claimed in unreported intervals of the reference's readings: for methods
 * without curves. 0 or -ENOMEM.
 */
int reduction_forget_unreported(struct reduction *r);

/* Set the qualities of the paths of all connected hosts from the current qualities of the pairs. */
void reduction_set_qualities(struct reduction *r);

/* Return the worst quality of a host and of the pairs on its bound's path. */
enum netsync_quality reduction_quality(const struct reduction *r, uint32_t h);

#endif
