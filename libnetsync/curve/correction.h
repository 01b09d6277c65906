/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The correction of one host's clock as a function of its time: a straight part plus a spline,
 * which may have change points.
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
 * A change point: an instant at which the clock did something that oscillators do not do. Its rate
 * changed at once (a rate step), or it was stepped or stood still (a phase step, which may also
 * change the rate). Times are t - from of the correction.
 */
struct change_point {
	double t;	    /* ns */
	double uncertainty; /* maximum error of t, ns */
	double window;	    /* length of the window that it was found in, ns */
	bool phase_step;
	/* The clock was not stepped but suspended: it continued from where it was. */
	bool stood_still;
	bool placed;   /* one of two neighbours, placed together */
	bool may_jump; /* the first of two, which may be a phase step together */
	double offset; /* change of the correction, ns */
	double skew;   /* change of its slope */
};

/* An untrusted interval of the curve: t - from of the correction, ns. */
struct doubt {
	double from;
	double to;
	bool phase_step; /* the clock may also have been stepped */
};

/* The accuracy of a curve at a time: t - from of the correction, ns. */
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
 * t_common = t + offset + frac + skew * (t - from) + curve(t - from). Times are relative to the
 * origin of the host; common time is relative to the origin of the reference, and is initially the
 * reference's own time.
 */
struct correction {
	bool known;
	int64_t from; /* the host's span, ns */
	int64_t to;
	int64_t offset; /* whole ns */
	double frac;	/* fraction of the offset, ns */
	double skew;
	struct spline curve;	     /* of t - from, ns; without coefs: zero */
	struct change_point *change; /* in order of time */
	size_t num_changes;
	struct doubt *doubt; /* in order of time, disjoint */
	size_t num_doubts;
	struct deviation_knot *known_to; /* in order of time; none: accuracy unknown */
	size_t num_known_to;
	bool no_margin;		     /* the curve is untrusted everywhere */
	size_t intervals;	     /* knot intervals of the curve, besides change points */
	size_t others;		     /* knot intervals of other hosts, tried as well */
	size_t tried;		     /* largest number of knot intervals tried */
	bool many;		     /* there are more than two hosts */
	bool pooled;		     /* fitted to thin links, see struct link */
	bool steered;		     /* the rate of the curve may change at any instant */
	bool settled;		     /* the number of intervals is final */
	double expected_error;	     /* error of the curve, ns */
	double skew_walk;	     /* of its oscillator, see struct fit; 0: unknown */
	double mean_delay;	     /* see host_fit_mean_delay_beyond(), ns */
	const struct wander *wander; /* NULL: not known */
};

/*
 * Return the distance between the curves before and after a change point, at the times where it may
 * lie, ns. With the wrong curve, messages seem to be faster by that distance.
 */
double change_point_gap(const struct change_point *b);

/* Return the number of change points before a time since @from. */
size_t correction_changes_before(const struct correction *c, double t);

/* Is a time in the span? If not, it is false. */
static inline bool correction_covers(const struct correction *c, int64_t t)
{
	return t >= c->from && t <= c->to;
}

/* Return the standard deviation of the curve at a time, ns; HUGE_VAL: unknown. */
double correction_deviation_at(const struct correction *c, int64_t t);

/* Convert t to common time: whole ns in *ref; return the rest, below 1 ns. */
double correction_at(const struct correction *c, int64_t t, int64_t *ref);

/* Convert a time on one host to another: whole ns in *at; return the rest. */
double correction_between(const struct correction *from, int64_t t, const struct correction *to,
			  int64_t *at);

/*
 * Return how many kept messages of a pair are received before they are sent, by the corrections of
 * its two hosts. False times (out of the spans) do not count.
 */
size_t correction_inversions(const struct pair *pair, const struct correction *correction[2]);

/* Return the delay of message @p of direction @way by the corrections, ns. */
double correction_delay(const struct correction *correction[2], int way, const struct point *p);

/* Is a message received before it is sent, by the corrections? */
bool correction_inverts(const struct correction *correction[2], int way, const struct point *p);

/*
 * Is a time of the message outside its host's span? @raised: rounding-up offset of its direction.
 */
bool correction_excludes(const struct correction *correction[2], int way, const struct point *p,
			 int64_t raised);

/*
 * Make straight segments from a host to the reference, whose corrections lead to the same common
 * time. Each is within 2 ns of the curve, or within a sixteenth of its expected error. @host,
 * @reference: the origins. *segment is to be freed. Return the number of segments, or -ENOMEM.
 */
int64_t correction_segments(const struct correction *c, const struct correction *to_correction,
			    int64_t host, int64_t reference, struct netsync_segment **segment);

/* Copy a correction: 0 or -ENOMEM. Release the copy in any case. */
int correction_copy(struct correction *to, const struct correction *c);
void correction_release(struct correction *c);

#endif
