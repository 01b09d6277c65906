/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The correction of one host's clock as a function of its time: a straight
 * part, and a spline beyond it, which may have change points.
 */
#ifndef NETSYNC_CURVE_CORRECTION_H
#define NETSYNC_CURVE_CORRECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "curve/spline.h"
#include "message/message.h"
#include "netsync.h"

struct wander;

/*
 * A change point: an instant at which the clock did what no oscillator does by
 * itself. Its rate changed at once (a rate step), or it was set or stood still
 * (a phase step, which may change the rate, too). Times are t - from of the
 * correction.
 */
struct change_point {
	double t;	    /* ns */
	double uncertainty; /* how far off t may be, ns */
	double window;	    /* length of the window that showed it, ns */
	bool phase_step;
	/* The clock went on where it was: it was not set, but suspended. */
	bool stood_still;
	bool placed;   /* one of two neighbours, placed together */
	bool may_jump; /* the first one; both may rather be a phase step */
	double offset; /* by which the correction grows, ns */
	double skew;   /* by which its slope grows */
};

/* When a curve is not to be relied on: t - from of the correction, ns. */
struct doubt {
	double from;
	double to;
	bool phase_step; /* the clock may have been set, too */
};

/* How well a curve is known at a time: t - from of the correction, ns. */
struct deviation_knot {
	double t;
	double deviation; /* standard deviation, if minimum delays are symmetric */
	/*
	 * Further deviation half-way from the previous knot, independent of those of both knots.
	 * correction_deviation_at() does not include it.
	 */
	double between;
};

/*
 * t_common = t + offset + frac + skew * (t - from) + curve(t - from). Times are
 * relative to the origin of the host, and the common time to that of the
 * reference, whose own time it is at first.
 */
struct correction {
	bool known;
	int64_t from; /* the host's span, ns */
	int64_t to;
	int64_t offset; /* whole ns */
	double frac;	/* the rest of the offset, ns */
	double skew;
	struct spline curve;	     /* of t - from, ns; without coefs: zero */
	struct change_point *change; /* in order of time */
	size_t num_changes;
	struct doubt *doubt; /* in order of time, apart from each other */
	size_t num_doubts;
	struct deviation_knot *known_to; /* in order of time; none: it is not known */
	size_t num_known_to;
	bool no_margin;		     /* the curve is nowhere to be relied on */
	size_t intervals;	     /* of the curve, besides change points */
	size_t others;		     /* those of other hosts: so many are tried, too */
	size_t tried;		     /* the most that were tried of it */
	bool many;		     /* it is of one of more than two hosts */
	bool pooled;		     /* it was fitted by thin links, see struct link */
	bool steered;		     /* the curve is one whose rate may change at once anywhere */
	bool settled;		     /* intervals are those that are wanted */
	double expected_error;	     /* of the curve, ns */
	double skew_walk;	     /* of its oscillator, see struct fit; 0: not known */
	double mean_delay;	     /* see host_fit_mean_delay_beyond(), ns */
	const struct wander *wander; /* NULL: not known */
};

/*
 * How far the curves before and after a change point are apart, where it may have been,
 * ns: with the wrong one of them, messages seem to be quicker by as much.
 */
double change_point_gap(const struct change_point *b);

/* How many change points lie before a time since @from. */
size_t correction_changes_before(const struct correction *c, double t);

/* Is a time in the span? Another one is false. */
static inline bool correction_covers(const struct correction *c, int64_t t)
{
	return t >= c->from && t <= c->to;
}

/* The standard deviation of the curve at a time, ns; HUGE_VAL where it is not known. */
double correction_deviation_at(const struct correction *c, int64_t t);

/* t -> common time: whole ns in *ref, and the rest, below 1 ns. */
double correction_at(const struct correction *c, int64_t t, int64_t *ref);

/* Time on one host -> time on another: whole ns in *at, and the rest. */
double correction_between(const struct correction *from, int64_t t, const struct correction *to,
			  int64_t *at);

/*
 * How many of a pair's kept messages are received before they are sent, by the
 * corrections of its two hosts? False times (out of the spans) do not count.
 */
size_t correction_inversions(const struct pair *pair, const struct correction *correction[2]);

/* How long a message took, @p of direction @way, by the corrections, ns. */
double correction_delay(const struct correction *correction[2], int way, const struct point *p);

/* Is it received before it is sent? */
bool correction_inverts(const struct correction *correction[2], int way, const struct point *p);

/* Is a time of the message out of its host's span? @raised: of its direction. */
bool correction_excludes(const struct correction *correction[2], int way, const struct point *p,
			 int64_t raised);

/*
 * Straight segments that are never further than 2 ns, or a sixteenth of what it is expected
 * to be off, from the curve that leads from a host to the reference, where both
 * corrections lead to the same time: their number, or -ENOMEM. @host, @reference: the
 * origins. *segment is to be freed.
 */
int64_t correction_segments(const struct correction *c, const struct correction *to_correction,
			    int64_t host, int64_t reference, struct netsync_segment **segment);

/* 0 or -ENOMEM; release it in any case. */
int correction_copy(struct correction *to, const struct correction *c);
void correction_release(struct correction *c);

#endif
