// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A correction, and the intervals that contain the truth -> a correction inside the intervals that
 * is no steeper than clocks may be. If messages are few, or clocks are steered or stepped, an
 * estimate may be outside its own bound.
 *
 * At instants where the correction is outside, it is moved to the nearest end of the interval;
 * between instants it is linear. A correction that is too steep is replaced by the middle between
 * the least function above it and the greatest function below it whose slopes are allowed.
 * Intervals are first cut to what clocks with allowed slopes can reach, so that the middle is also
 * inside.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "clock.h"
#include "reduce/internal.h"
#include "util/array.h"

/*
 * Least distance of a corrected time from the end of its interval, ns: 1 for the rounding of each
 * of two corrected times, 2 for a rate, and 2 for the tolerance of limits (bound/rate-bound.h).
 */
#define ROUNDING 6
/*
 * Corrections outside by less, ns, are not moved. Clocks of the processors of one host differ by up
 * to some hundred ns, so messages are inconsistent by as much, and the curve runs between them.
 * Chosen: five times the 200 ns in bench-truth.
 */
#define LEAST_MOVE 1000
/*
 * A correction is stepped between two points if it changes by more than this part of the time
 * between them. No unit. Chosen: 5 times the limit of adjtimex(2) (ADJ_TICK, 10 %), and half of the
 * change of a clock that stands still.
 */
#define STEPPED 0.5

struct inside_point {
	int64_t t;	 /* the host's time, ns */
	int64_t offset;	 /* of the reference's time, ns */
	bool after_step; /* the correction is stepped just before the point */
	bool moved;
	struct range range; /* interval of the reference's time that contains the truth, */
	struct range held;  /* and its part that a clock with valid rates can reach */
};

struct inside {
	const struct knots *k;
	const struct netsync_model *model;
	int64_t coarse; /* largest error of message times, ns */
	struct inside_point *point;
	size_t num;
	size_t room;
};

static int add_point(struct inside *in, int64_t t, bool after_step)
{
	if (t < in->k->first || t > in->k->last)
		return 0;
	if (array_grow(&in->point, &in->room, in->num, sizeof(*in->point)))
		return -ENOMEM;
	in->point[in->num++] = (struct inside_point){ .t = t, .after_step = after_step };
	return 0;
}

static int compare_points(const void *a, const void *b)
{
	const struct inside_point *p = a, *q = b;

	if (p->t != q->t)
		return p->t < q->t ? -1 : 1;
	return q->after_step - p->after_step;
}

/* Does a segment begin elsewhere than where its predecessor ends? */
static bool begins_with_step(const struct netsync_segment *s)
{
	double end = (double)s[-1].offset_ns +
		     (s[-1].rate - 1) * (double)(s->from_ns - s[-1].from_ns);

	return fabs((double)s->offset_ns - end) > 2 * ROUNDING;
}

/* Add both ends of each segment; at a step, the end is the last time before it. */
static int add_segments(struct inside *in)
{
	const struct netsync_segment *s = in->model->segments;
	int ret = 0;

	for (uint32_t i = 1; !ret && i < in->model->num_segments; i++) {
		bool step = begins_with_step(&s[i]);

		if (step)
			ret = add_point(in, s[i].from_ns - 1, false);
		if (!ret)
			ret = add_point(in, s[i].from_ns, step);
	}
	return ret;
}

static int add_inside_times(struct inside *in, const int64_t *t, size_t num)
{
	int ret = add_point(in, in->k->first, false);

	if (!ret)
		ret = add_point(in, in->k->last, false);
	for (size_t i = 0; !ret && i < in->k->num; i++)
		ret = add_point(in, in->k->knot[i].time_ns, false);
	for (size_t i = 0; !ret && i < num; i++)
		ret = add_point(in, t[i], false);
	return ret ? ret : add_segments(in);
}

static void sort_points(struct inside *in)
{
	size_t n = 0;

	qsort(in->point, in->num, sizeof(*in->point), compare_points);
	for (size_t i = 0; i < in->num; i++)
		if (!n || in->point[n - 1].t < in->point[i].t)
			in->point[n++] = in->point[i];
	in->num = n;
}

/*
 * Subtract offsets as doubles: far from a clock's span, extrapolated offsets differ by more than 64
 * bits hold.
 */
static double offset_difference(int64_t a, int64_t b)
{
	return (double)((__int128)a - b);
}

/*
 * Move a point into its interval. Return whether it was outside. The limits allow that messages are
 * received later, by a resolution of their stamps. If possible, choose a time with which no message
 * is inverted by the stamps themselves.
 */
static bool move_inside(struct inside_point *p, struct range r, int64_t coarse)
{
	int64_t at = clamp_to_int64((__int128)p->t + p->offset), was = at, least = ROUNDING;
	double width = (double)r.hi - (double)r.lo;

	if (width > 4 * ((double)coarse + ROUNDING))
		least += coarse;
	if (width < 2 * ROUNDING) {
		at = r.lo + (r.hi - r.lo) / 2;
	} else {
		if (r.lo > INT64_MIN)
			at = max64(at, clamp_to_int64((__int128)r.lo + least));
		if (r.hi < INT64_MAX)
			at = min64(at, clamp_to_int64((__int128)r.hi - least));
	}
	if (fabs(offset_difference(at, was)) < LEAST_MOVE)
		return false;
	p->offset = clamp_to_int64((__int128)at - p->t);
	return true;
}

static void find_ranges(struct inside *in)
{
	for (size_t from = 0; from < in->num; from += KNOTS_TOGETHER) {
		struct inside_point *p = &in->point[from];
		struct range range[KNOTS_TOGETHER];
		const size_t num = knots_find_ranges(in->k, p, sizeof(*p), in->num - from, range);

		for (size_t i = 0; i < num; i++)
			p[i].range = p[i].held = range[i];
	}
}

/* Move points into the reachable parts of their intervals. */
static void move_points(struct inside *in)
{
	for (size_t i = 0; i < in->num; i++)
		in->point[i].moved |= move_inside(&in->point[i], in->point[i].held, in->coarse);
}

/* ---- slopes ------------------------------------------------------------- */

/* Return the slope from a point to the next one, as the rate less 1. */
static double slope_to_next(const struct inside_point *p)
{
	return offset_difference(p[1].offset, p->offset) / (double)(p[1].t - p->t);
}

/* Is there a step before a point: of the correction, or by times that the host skipped? */
static bool has_step_before(const struct inside_point *p)
{
	return p->after_step || fabs(slope_to_next(p - 1)) > STEPPED;
}

/* Limit the interval of a point to what a clock can reach from the interval of another point. */
static void limit_point(struct inside_point *p, const struct inside_point *other, double steepest)
{
	const int64_t apart = p->t - other->t;
	const int64_t most = (int64_t)ceil(steepest * fabs((double)apart)) + 1;

	if (other->held.lo > INT64_MIN)
		p->held.lo = max64(p->held.lo,
				   clamp_to_int64((__int128)other->held.lo + apart - most));
	if (other->held.hi < INT64_MAX)
		p->held.hi = min64(p->held.hi,
				   clamp_to_int64((__int128)other->held.hi + apart + most));
}

/*
 * Limit all intervals of a part. Intervals over several hosts may be steeper at their ends than any
 * two clocks, by the largest rate of each pair on the path. If no clock can satisfy them, there is
 * a step within the part.
 */
static void limit_part(struct inside_point *p, size_t num, double steepest)
{
	bool any = true;

	for (size_t i = 1; i < num; i++)
		limit_point(&p[i], &p[i - 1], steepest);
	for (size_t i = num - 1; i-- > 0;)
		limit_point(&p[i], &p[i + 1], steepest);
	for (size_t i = 0; i < num; i++)
		any &= p[i].held.lo <= p[i].held.hi;
	for (size_t i = 0; !any && i < num; i++)
		p[i].held = p[i].range;
}

static bool is_steep(const struct inside_point *p, size_t num, double steepest)
{
	for (size_t i = 0; i + 1 < num; i++)
		if (fabs(offset_difference(p[i + 1].offset, p[i].offset)) >
		    steepest * (double)(p[i + 1].t - p[i].t) + ROUNDING)
			return true;
	return false;
}

/* Make a part less steep. 0 or -ENOMEM. */
static int flatten_part(struct inside_point *p, size_t num, double steepest)
{
	double *above, *below;

	if (!is_steep(p, num, steepest))
		return 0;
	above = malloc(num * sizeof(*above));
	below = malloc(num * sizeof(*below));
	for (size_t i = 0; above && below && i < num; i++)
		above[i] = below[i] = offset_difference(p[i].offset, p->offset);
	for (size_t i = 1; above && below && i < num; i++) {
		double rise = steepest * (double)(p[i].t - p[i - 1].t);

		above[i] = fmax(above[i], above[i - 1] - rise);
		below[i] = fmin(below[i], below[i - 1] + rise);
	}
	for (size_t i = num - 1; above && below && i-- > 0;) {
		double rise = steepest * (double)(p[i + 1].t - p[i].t);

		above[i] = fmax(above[i], above[i + 1] - rise);
		below[i] = fmin(below[i], below[i + 1] + rise);
	}
	/* Update the first offset last: the others are relative to it. */
	for (size_t i = num; above && below && i-- > 0;) {
		p[i].offset = clamp_to_int64(p->offset +
					     (__int128)round((above[i] + below[i]) / 2));
		p[i].moved = true;
	}
	free(above);
	free(below);
	return above && below ? 0 : -ENOMEM;
}

/* Return the first point of the next part. */
static size_t next_part(const struct inside *in, size_t from)
{
	size_t to = from + 1;

	while (to < in->num && !has_step_before(&in->point[to]))
		to++;
	return to;
}

static void limit_points(struct inside *in, double steepest)
{
	for (size_t from = 0, to; from < in->num; from = to) {
		to = next_part(in, from);
		limit_part(&in->point[from], to - from, steepest);
	}
}

static int flatten_points(struct inside *in, double steepest)
{
	int ret = 0;

	for (size_t from = 0, to; !ret && from < in->num; from = to) {
		to = next_part(in, from);
		ret = flatten_part(&in->point[from], to - from, steepest);
	}
	return ret;
}

/* ---- segments ----------------------------------------------------------- */

/* Make segments between points, except for points on an existing line. */
static struct netsync_segment *make_inside_segments(struct inside *in, uint32_t *num)
{
	struct netsync_segment *s = calloc(in->num, sizeof(*s));
	const struct inside_point *p = in->point;

	*num = 0;
	for (size_t i = 0; s && i + 1 < in->num; i++) {
		struct netsync_segment *new = &s[(*num)++];
		double rise = p[i + 1].after_step && i ? s[*num - 2].rate - 1 :
							 slope_to_next(&p[i]);

		/* Just before a step, the time to the next point is zero. */
		*new = (struct netsync_segment){
			.from_ns = p[i].t,
			.to_ns = p[i + 1].t,
			.offset_ns = p[i].offset,
			.rate = fmax(1 + rise, 1e-12),
		};
	}
	return s;
}

static bool has_moved(const struct inside *in)
{
	for (size_t i = 0; i < in->num; i++)
		if (in->point[i].moved)
			return true;
	return false;
}

int inside_keep(const struct knots *k, const struct netsync_model *m, const int64_t *t, size_t num,
		const struct inside_limits *limits, struct netsync_segment **segment)
{
	struct inside in = { .k = k, .model = m, .coarse = limits->coarse };
	int ret = add_inside_times(&in, t, num);
	uint32_t n = 0;

	*segment = NULL;
	if (!ret)
		sort_points(&in);
	for (size_t i = 0; !ret && i < in.num; i++) {
		int64_t at = in.point[i].t;

		netsync_convert(k->clock, in.point[i].t, &at, NULL);
		in.point[i].offset = clamp_to_int64((__int128)at - in.point[i].t);
	}
	if (!ret && in.num > 1) {
		find_ranges(&in);
		limit_points(&in, limits->steepest);
		move_points(&in);
		ret = flatten_points(&in, limits->steepest);
		if (!ret && has_moved(&in)) {
			move_points(&in);
			*segment = make_inside_segments(&in, &n);
			ret = *segment ? (int)n : -ENOMEM;
		}
	}
	free(in.point);
	return ret;
}
