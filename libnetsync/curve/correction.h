/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The clock of one host as a curve. */
#ifndef NETSYNC_COURSE_H
#define NETSYNC_COURSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "netsync.h"
#include "curve/spline.h"

/* Where a clock does not run on smoothly. Times are t - from. */
struct brk {
	double t;
	double within;		/* how far off the instant may be, ns */
	double window;		/* that it was found with, ns */
	bool jump;		/* the clock was set, too */
	bool settled;		/* found together with its neighbour */
	double offset;		/* ns by which the correction grows */
	double skew;		/* by which its slope does */
};

/*
 * t_common = t + offset + skew * (t - from) + curve(t - from). Times are
 * relative to the origin of the host, and the common time to that of the
 * reference, whose own it is at first.
 */
struct course {
	bool known;
	int64_t from;		/* span */
	int64_t to;
	int64_t offset;
	double rest;		/* of the offset, ns */
	double skew;
	struct spline curve;	/* of (t - from) in ns; no coefs: straight */
	struct spline_reader reader;	/* of the curve */
	struct brk *breaks;	/* in order of time */
	size_t num_breaks;
	size_t pieces;		/* of the curve, besides breaks */
	double noise;		/* expected error of the curve, ns */
};

/* The number of breaks before a time since @from; of times from it on, first. */
size_t course_breaks_before(const struct course *c, double t);

/* Is a time in its span? Another is false. */
static inline bool course_covers(const struct course *c, int64_t t)
{
	return t >= c->from && t <= c->to;
}

/* t -> common time as whole ns, and the rest below 1 ns. */
double course_at(const struct course *c, int64_t t, int64_t *ref);

/*
 * Straight segments that are never further than 2 ns from the curve that leads
 * from a host to another, the reference, where both courses lead to the same
 * time: their number, or -ENOMEM. @host, @reference: the origins. *segment is
 * to be freed.
 */
int64_t course_segments(const struct course *c, const struct course *to_course,
			int64_t host, int64_t reference,
			struct netsync_segment **segment);

/* The time on a host when it is that on another; the rest is returned. */
double course_between(const struct course *from, int64_t t,
		      const struct course *to, int64_t *at);

void course_release(struct course *c);

#endif
