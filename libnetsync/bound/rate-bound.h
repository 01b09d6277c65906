/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How far apart the clocks of a pair can be: guaranteed, if neither their
 * skew nor its change exceed what is assumed.
 *
 * Coordinates are those of message.h: x = time on host[0], f(x) = time on
 * host[1] - time on host[0]. Messages from host[0] are upper limits of f,
 * those from host[1] lower ones.
 */
#ifndef NETSYNC_BOUND_H
#define NETSYNC_BOUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "message/hull.h"

/* Between these something lies; where an end is not known, the extremes. */
struct range {
	int64_t lo;		/* INT64_MIN: not known */
	int64_t hi;		/* INT64_MAX: not known */
};

/* What is taken for granted; both as slopes of f. */
struct limits {
	double slope;		/* |f'| is at most that, below 1 */
	double bend;		/* |f''|, per ns; 0: straight clocks */
};

/*
 * An instant at which f'' has no limit. It lies somewhere in a window. Windows
 * that overlap are taken as one; a clock that is set in one of these is so
 * once, and nothing else happens to it meanwhile.
 */
struct jolt {
	int64_t from;
	int64_t to;
	bool set;		/* a clock was set: f itself jumps */
};

/* An upper limit of f, or of -f, and of its slope there; see bound.c. */
struct stake {
	int64_t x;
	int64_t y;
	double rise;		/* f' is at most that */
	double fall;		/* -f' is at most that */
};

/* A stretch in which f bends steadily, or the window of a jolt. */
struct zone {
	int64_t from;
	int64_t to;
	double bend;
	struct stake *stake[2];	/* limits of f; of -f */
	size_t stakes[2];
};

/* Zones through which f does not jump. */
struct part {
	struct zone *zone;
	size_t zones;
	struct range x;		/* with the windows at both ends */
	struct range other;	/* the same as time on host[1] */
};

struct bound {
	struct limits limits;
	struct part *part;
	size_t parts;
	struct zone *zone;
	struct stake *stake;
	/*
	 * How many stakes leave no room for f. Then something that was taken
	 * for granted is wrong, and no limit may be relied on.
	 */
	size_t clashes;
};

/**
 * bound_make() - what the messages of a pair say of its clocks
 * @b: filled in
 * @upper: upper limits of f, x strictly rising
 * @lower: lower limits of f, negated, x strictly rising
 * @jolts: by their beginnings
 *
 * Times are whole ns: limits are taken to be 1 ns less sharp.
 *
 * Return: 0 or -ENOMEM. Time and memory are proportional to the input.
 */
int bound_make(struct bound *b, const struct limits *limits,
	       const struct point *upper, size_t num_upper,
	       const struct point *lower, size_t num_lower,
	       const struct jolt *jolts, size_t num_jolts);

/* Limits of f(x). */
struct range bound_at(const struct bound *b, int64_t x);

/* Times on one host -> those that they can be on the other. */
struct range bound_to_second(const struct bound *b, struct range x);
struct range bound_to_first(const struct bound *b, struct range t);

void bound_release(struct bound *b);

#endif
