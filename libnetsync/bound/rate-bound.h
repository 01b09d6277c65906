/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The rate bound of a pair: from the limits that its messages are, to those of
 * the difference f of its two clocks at any time, if neither skew nor drift
 * exceed what is assumed (interval analysis; see rate-bound.c).
 *
 * Coordinates are those of message.h: x = time on host[0], f(x) = time on
 * host[1] - time on host[0]. Messages from host[0] are upper limits of f,
 * those from host[1] lower ones.
 */
#ifndef NETSYNC_BOUND_RATE_BOUND_H
#define NETSYNC_BOUND_RATE_BOUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "message/hull.h"
#include "util/number.h"

/* The assumptions, for f. */
struct limits {
	double slope; /* the largest |f'|, below 1 */
	double bend;  /* the largest |f''|, 1 / ns; 0: straight clocks */
	double slew;  /* by how much larger |f'| may be in a window */
};

/*
 * Those for two clocks, each of which has a skew and a drift (1 / ns) to true time, and
 * is slewed by up to @slew besides where it is steered.
 */
struct limits limits_of_clocks(double skew, double drift, double slew);

/*
 * The uncertainty window of a change point, at which f'' has no limit. Of windows that overlap,
 * those with a phase step are taken as one; rate steps may be in it, before it and after.
 * Windows of phase steps that only a general window joins are apart.
 * Where they have several phase steps, or messages are too rare in it to show a second
 * one (a clock that was set, and set right again), nothing is known.
 */
struct change_window {
	int64_t from;
	int64_t to;
	bool phase_step; /* f itself is discontinuous */
	double gap;	 /* between the curves on either side, ns; 0: not known */
	double offset;	 /* by which f grows at the phase step, ns; 0: not known */
	double largest;	 /* the phase step is at most that, ns; 0: not known */
	bool is_general; /* there is no drift limit, although nothing happened: it joins no others */
};

/* An upper limit of f, or of -f, and of its slope there. */
struct bound_vertex {
	int64_t x;
	int64_t y;
	double rise; /* f' is at most that */
	double fall; /* -f' is at most that */
};

/* A stretch of time with one limit of |f''|; in a change window, none. */
struct bound_segment {
	int64_t from;
	int64_t to;
	double bend;
	bool divided; /* a phase step is in it: of no message is known on which side */
	struct bound_vertex *vertex[2]; /* limits of f; of -f */
	size_t num_vertices[2];
};

/* Segments through which f is continuous. */
struct bound_part {
	struct bound_segment *segment;
	size_t num_segments;
	struct range x;		  /* with the windows at both ends */
	struct range shown;	  /* the same, if host[0] may have been set back at these ends */
	struct range other;	  /* the same as time on host[1], whatever f is at both ends, */
	struct range other_inner; /* and up to where f has all of its values there */
	double step;	   /* f's to the next part is at most that, ns; HUGE_VAL: not known */
	size_t steps;	   /* phase steps to the next part that were found */
	bool ends_unknown; /* nothing is known in the window between it and the next part */
};

struct rate_bound {
	struct limits limits;
	struct bound_part *part;
	size_t parts;
	struct bound_segment *segment;
	struct bound_vertex *vertex;
	/*
	 * Vertices at which no f is possible. Where there is one, an assumption
	 * or a message is wrong, and no limit may be relied on.
	 */
	size_t infeasible;
	int64_t short_by; /* the most that limits lack for an f there, ns; 0: nothing */
	size_t vertices;  /* of all */
};

/**
 * rate_bound_make() - the limits of f, from the messages of a pair
 * @b: filled in
 * @upper: upper limits of f, x strictly rising
 * @lower: lower limits of f, negated, x strictly rising
 * @limits: the assumptions
 * @windows: of change points, by their beginnings
 *
 * Times are whole ns: limits are taken to be 1 ns less sharp.
 *
 * Return: 0 or -ENOMEM. Time and memory are proportional to the input.
 */
int rate_bound_make(struct rate_bound *b, const struct limits *limits, const struct point *upper,
		    size_t num_upper, const struct point *lower, size_t num_lower,
		    const struct change_window *windows, size_t num_windows);

/* Is a time of host[0] in a window in which f may have stepped several times? */
bool rate_bound_is_unknown_at(const struct rate_bound *b, int64_t x);

/* The interval that f(x) lies in. */
struct range rate_bound_at(const struct rate_bound *b, int64_t x);

/* Where in a bound a time was found; the next one is looked for near it. */
struct bound_place {
	size_t segment;
	size_t vertex[2];
};

/* Times on one host -> those that they can be on the other. */
struct range rate_bound_to_second(const struct rate_bound *b, struct range x,
				  struct bound_place *near);
struct range rate_bound_to_first(const struct rate_bound *b, struct range t,
				 struct bound_place *near);

void rate_bound_release(struct rate_bound *b);

#endif
