// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A time on a host's clock and the clock's model -> time on the reference clock, with
 * bounds of its error.
 *
 *	reference time
 *	 ^          ..''  + above, between knots
 *	 |     ..''___--'   corrected time: a line in each segment
 *	 | ..''_--'  ..'' - below, between knots
 *	 |_--'  ..''
 *	 +-----|--------|-> host time
 *	      knot     knot
 */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "clock.h"
#include "util/number.h"
#include "util/search.h"

/* Sizes of the struct and its elements in the first version of the library, in bytes. */
#define MIN_MODEL_SIZE (offsetof(struct netsync_model, growth_ppm) + 2 * sizeof(double))
#define MIN_SEGMENT_SIZE (offsetof(struct netsync_segment, bound_ns) + sizeof(int64_t))
#define MIN_KNOT_SIZE (offsetof(struct netsync_knot, above_ns) + sizeof(int64_t))
#define MIN_DEVIATION_SIZE (offsetof(struct netsync_deviation_knot, deviation_ns) + sizeof(int64_t))

struct netsync_clock {
	struct netsync_segment *segments;
	struct netsync_knot *knots;
	struct netsync_deviation_knot *deviations;
	uint32_t num_segments;
	uint32_t num_knots;
	uint32_t num_deviations;
	double growth_ppm[2];
};

int copy_sized_struct(void *to, const void *from, uint32_t size)
{
	uint32_t known;

	memcpy(&known, to, sizeof(known));
	if (known < 2 * sizeof(known))
		return -EINVAL;
	memcpy((char *)to + sizeof(known), (const char *)from + sizeof(known),
	       (known < size ? known : size) - sizeof(known));
	return 0;
}

/* Does a caller's model have segments, and elements of at least the minimum size? */
static bool has_model_elements(const struct netsync_model *m)
{
	return m->num_segments && m->segments && m->segment_size >= MIN_SEGMENT_SIZE &&
	       (!m->num_knots || (m->knots && m->knot_size >= MIN_KNOT_SIZE)) &&
	       (!m->num_deviations || (m->deviations && m->deviation_size >= MIN_DEVIATION_SIZE));
}

static bool is_clock_valid(const struct netsync_clock *c)
{
	for (uint32_t i = 0; i < c->num_segments; i++) {
		const struct netsync_segment *s = &c->segments[i];

		if (s->to_ns < s->from_ns || !isfinite(s->rate) || s->rate <= 0 ||
		    s->bound_ns < 0 || (i && s->from_ns != s[-1].to_ns))
			return false;
	}
	for (uint32_t i = 0; i < c->num_knots; i++) {
		const struct netsync_knot *k = &c->knots[i];

		if (k->below_ns < 0 || k->above_ns < 0 || (i && k->time_ns <= k[-1].time_ns))
			return false;
	}
	for (uint32_t i = 0; i < c->num_deviations; i++) {
		const struct netsync_deviation_knot *d = &c->deviations[i];

		if (d->deviation_ns < 0 || (i && d->time_ns <= d[-1].time_ns))
			return false;
	}
	return c->growth_ppm[0] >= 0 && c->growth_ppm[1] >= 0;
}

/* Copy elements of one size to zeroed elements of another size. */
static void copy_clock_elements(void *to, size_t to_size, const void *from, size_t from_size,
				uint32_t num)
{
	const size_t size = to_size < from_size ? to_size : from_size;

	for (uint32_t i = 0; i < num; i++)
		memcpy((char *)to + i * to_size, (const char *)from + i * from_size, size);
}

/* Copy the numbers of a caller's model, whose size is valid, to a new clock with its arrays. */
static void copy_clock_numbers(struct netsync_clock *c, const struct netsync_model *m)
{
	c->segments = (struct netsync_segment *)(c + 1);
	c->knots = (struct netsync_knot *)(c->segments + m->num_segments);
	c->deviations = (struct netsync_deviation_knot *)(c->knots + m->num_knots);
	copy_clock_elements(c->segments, sizeof(*c->segments), m->segments, m->segment_size,
			    m->num_segments);
	copy_clock_elements(c->knots, sizeof(*c->knots), m->knots, m->knot_size, m->num_knots);
	copy_clock_elements(c->deviations, sizeof(*c->deviations), m->deviations, m->deviation_size,
			    m->num_deviations);
	c->num_segments = m->num_segments;
	c->num_knots = m->num_knots;
	c->num_deviations = m->num_deviations;
	c->growth_ppm[0] = m->growth_ppm[0];
	c->growth_ppm[1] = m->growth_ppm[1];
}

int netsync_clock_new(const struct netsync_model *model, struct netsync_clock **clock)
{
	struct netsync_model m = { .size = 0 };
	struct netsync_clock *c;

	if (!model || !clock || model->size < MIN_MODEL_SIZE)
		return -EINVAL;
	memcpy(&m, model, model->size < sizeof(m) ? model->size : sizeof(m));
	if (!has_model_elements(&m))
		return -EINVAL;
	c = calloc(1, sizeof(*c) + m.num_segments * sizeof(*c->segments) +
			      m.num_knots * sizeof(*c->knots) +
			      m.num_deviations * sizeof(*c->deviations));
	if (!c)
		return -ENOMEM;
	copy_clock_numbers(c, &m);
	if (!is_clock_valid(c)) {
		free(c);
		return -EINVAL;
	}
	*clock = c;
	return 0;
}

void netsync_clock_free(struct netsync_clock *clock)
{
	free(clock);
}

int netsync_clock_model(const struct netsync_clock *clock, struct netsync_model *model)
{
	struct netsync_model m = {
		.num_segments = clock->num_segments,
		.num_knots = clock->num_knots,
		.segment_size = sizeof(*clock->segments),
		.knot_size = sizeof(*clock->knots),
		.segments = clock->segments,
		.knots = clock->knots,
		.growth_ppm = { clock->growth_ppm[0], clock->growth_ppm[1] },
		.num_deviations = clock->num_deviations,
		.deviation_size = sizeof(*clock->deviations),
		.deviations = clock->deviations,
	};

	return copy_sized_struct(model, &m, sizeof(m));
}

const struct netsync_segment *netsync_model_segment(const struct netsync_model *model,
						    uint32_t index)
{
	return (const void *)((const char *)model->segments + (size_t)index * model->segment_size);
}

const struct netsync_knot *netsync_model_knot(const struct netsync_model *model, uint32_t index)
{
	return (const void *)((const char *)model->knots + (size_t)index * model->knot_size);
}

const struct netsync_deviation_knot *netsync_model_deviation(const struct netsync_model *model,
							     uint32_t index)
{
	return (const void *)((const char *)model->deviations +
			      (size_t)index * model->deviation_size);
}

/*
 * Find the segment of @t. Search near @near, and update @near. If @near is NULL, search all
 * segments.
 */
static const struct netsync_segment *find_segment(const struct netsync_clock *c, int64_t t,
						  struct clock_place *near)
{
	if (!near)
		return &c->segments[LAST_UNTIL(c->segments, c->num_segments, from_ns, t)];
	near->segment = (uint32_t)LAST_NEAR(c->segments, c->num_segments, from_ns, t,
					    near->segment);
	return &c->segments[near->segment];
}

static double compute_time_distance(int64_t from, int64_t to)
{
	int64_t d;

	return __builtin_sub_overflow(to, from, &d) ? (double)((__int128)to - from) : (double)d;
}

/*
 * Largest distances of the true time below and above the corrected time, in ns; NETSYNC_UNKNOWN
 * if not known.
 */
struct sides {
	int64_t below;
	int64_t above;
};

/* Return the index of the last knot at or before @t, or 0 if there is none. */
static uint32_t find_knot(const struct netsync_clock *c, int64_t t, struct clock_place *near)
{
	if (!near)
		return (uint32_t)LAST_UNTIL(c->knots, c->num_knots, time_ns, t);
	near->knot = (uint32_t)LAST_NEAR(c->knots, c->num_knots, time_ns, t, near->knot);
	return near->knot;
}

/* Return a + part * (b - a) + more, rounded up, or NETSYNC_UNKNOWN if the result does not fit. */
static int64_t interpolate_bound(int64_t a, int64_t b, double part, double more)
{
	double v;

	if (a == NETSYNC_UNKNOWN || (part && b == NETSYNC_UNKNOWN))
		return NETSYNC_UNKNOWN;
	v = ((double)b - (double)a) * part + more;
	return (double)a + v < 0x1p62 ? a + (int64_t)ceil(v) : NETSYNC_UNKNOWN;
}

static struct sides find_bounds_at(const struct netsync_clock *c, int64_t t,
				   struct clock_place *near)
{
	struct sides s = { NETSYNC_UNKNOWN, NETSYNC_UNKNOWN };
	const struct netsync_knot *k, *next;
	double part = 0, more = 0;
	uint32_t i;

	if (!c->num_knots)
		return s;
	i = find_knot(c, t, near);
	k = next = &c->knots[i];
	if (t < k->time_ns) {
		more = c->growth_ppm[0] * 1e-6 * compute_time_distance(t, k->time_ns);
	} else if (i == c->num_knots - 1) {
		more = c->growth_ppm[1] * 1e-6 * compute_time_distance(k->time_ns, t);
	} else {
		next = k + 1;
		part = compute_time_distance(k->time_ns, t) /
		       compute_time_distance(k->time_ns, next->time_ns);
	}
	s.below = interpolate_bound(k->below_ns, next->below_ns, part, more);
	s.above = interpolate_bound(k->above_ns, next->above_ns, part, more);
	return s;
}

static int convert_time(const struct netsync_clock *clock, int64_t t, int64_t *t_ref,
			struct clock_place *near)
{
	const struct netsync_segment *s = find_segment(clock, t, near);
	double skewed = (s->rate - 1) * compute_time_distance(s->from_ns, t);
	__int128 r = (__int128)t + s->offset_ns;

	if (!(fabs(skewed) < 0x1p62))
		return -ERANGE;
	r += llround(skewed);
	if (r != (int64_t)r)
		return -ERANGE;
	*t_ref = (int64_t)r;
	return 0;
}

int netsync_convert(const struct netsync_clock *clock, int64_t t, int64_t *t_ref, int64_t *bound)
{
	int ret = convert_time(clock, t, t_ref, NULL);

	if (!ret && bound) {
		struct sides w = find_bounds_at(clock, t, NULL);

		*bound = max64(w.below, w.above);
	}
	return ret;
}

int netsync_convert_many(const struct netsync_clock *clock, size_t num, const int64_t *t,
			 int64_t *t_ref, int64_t *bound)
{
	for (size_t i = 0; i < num; i++) {
		int ret = netsync_convert(clock, t[i], &t_ref[i], bound ? &bound[i] : NULL);

		if (ret)
			return ret;
	}
	return 0;
}

/* Return the deviation at @t between two knots, or at the only one, or NETSYNC_UNKNOWN. */
static int64_t interpolate_deviation(const struct netsync_clock *c, int64_t t)
{
	const struct netsync_deviation_knot *k, *next;
	double part = 0;

	if (!c->num_deviations || t < c->deviations[0].time_ns ||
	    t > c->deviations[c->num_deviations - 1].time_ns)
		return NETSYNC_UNKNOWN;
	k = next = &c->deviations[LAST_UNTIL(c->deviations, c->num_deviations, time_ns, t)];
	if (t > k->time_ns) {
		next = k + 1;
		part = compute_time_distance(k->time_ns, t) /
		       compute_time_distance(k->time_ns, next->time_ns);
	}
	return interpolate_bound(k->deviation_ns, next->deviation_ns, part, 0);
}

int64_t netsync_deviation(const struct netsync_clock *clock, int64_t t)
{
	const int64_t deviation = interpolate_deviation(clock, t);
	struct sides w;

	if (deviation == NETSYNC_UNKNOWN)
		return deviation;
	w = find_bounds_at(clock, t, NULL);
	return min64(deviation, max64(w.below, w.above));
}

void netsync_deviation_many(const struct netsync_clock *clock, size_t num, const int64_t *t,
			    int64_t *deviation)
{
	for (size_t i = 0; i < num; i++)
		deviation[i] = netsync_deviation(clock, t[i]);
}

static int compute_time_interval(const struct netsync_clock *clock, int64_t t, int64_t *lo,
				 int64_t *hi, struct clock_place *near)
{
	struct sides w = find_bounds_at(clock, t, near);
	int64_t at;
	int ret = convert_time(clock, t, &at, near);

	if (ret)
		return ret;
	if (w.below == NETSYNC_UNKNOWN || __builtin_sub_overflow(at, w.below, lo))
		*lo = INT64_MIN;
	if (w.above == NETSYNC_UNKNOWN || __builtin_add_overflow(at, w.above, hi))
		*hi = INT64_MAX;
	return 0;
}

int netsync_interval(const struct netsync_clock *clock, int64_t t, int64_t *lo, int64_t *hi)
{
	return compute_time_interval(clock, t, lo, hi, NULL);
}

/* ---- ranges ------------------------------------------------------------ */

static void extend_range_by_interval(const struct netsync_clock *c, int64_t t, struct range *r,
				     struct clock_place *near)
{
	int64_t lo = INT64_MIN, hi = INT64_MAX;

	compute_time_interval(c, t, &lo, &hi, near);
	r->lo = min64(r->lo, lo);
	r->hi = max64(r->hi, hi);
}

struct range clock_convert_range(const struct netsync_clock *c, struct range t,
				 struct clock_place *near)
{
	struct range r = { INT64_MAX, INT64_MIN };
	struct clock_place from;

	if (t.lo == INT64_MIN || t.hi == INT64_MAX) {
		const struct range lo = { t.lo, t.lo }, hi = { t.hi, t.hi };

		/* A clock runs forward, so a finite end of t bounds the same end of r. */
		r = (struct range){ INT64_MIN, INT64_MAX };
		if (t.lo > INT64_MIN)
			r.lo = clock_convert_range(c, lo, near).lo;
		if (t.hi < INT64_MAX)
			r.hi = clock_convert_range(c, hi, near).hi;
		return r;
	}
	/*
	 * Both bounds are linear between knots and segment ends, so it suffices to check these
	 * points.
	 */
	extend_range_by_interval(c, t.lo, &r, near);
	from = *near;
	for (uint32_t i = from.knot; i < c->num_knots && c->knots[i].time_ns < t.hi; i++)
		if (c->knots[i].time_ns > t.lo)
			extend_range_by_interval(c, c->knots[i].time_ns, &r, near);
	for (uint32_t i = from.segment + 1; i < c->num_segments && c->segments[i].from_ns <= t.hi;
	     i++) {
		extend_range_by_interval(c, c->segments[i].from_ns - 1, &r, near);
		extend_range_by_interval(c, c->segments[i].from_ns, &r, near);
	}
	extend_range_by_interval(c, t.hi, &r, near);
	return r;
}

void clock_set_bounds(struct netsync_clock *c)
{
	uint32_t k = 0;

	for (uint32_t i = 0; i < c->num_segments; i++) {
		struct netsync_segment *s = &c->segments[i];
		struct sides from = find_bounds_at(c, s->from_ns, NULL);
		struct sides to = find_bounds_at(c, s->to_ns, NULL);

		s->bound_ns = max64(max64(from.below, from.above), max64(to.below, to.above));
		while (k < c->num_knots && c->knots[k].time_ns < s->to_ns) {
			const struct netsync_knot *in = &c->knots[k++];

			if (in->time_ns > s->from_ns)
				s->bound_ns = max64(s->bound_ns, max64(in->below_ns, in->above_ns));
		}
	}
}

/* ---- order ------------------------------------------------------------- */

enum netsync_sequence netsync_order(const struct netsync_clock *clock_a, int64_t t1,
				    const struct netsync_clock *clock_b, int64_t t2)
{
	struct range a, b;

	if (clock_a == clock_b)
		return t1 < t2 ? NETSYNC_BEFORE : t1 > t2 ? NETSYNC_AFTER : NETSYNC_UNCERTAIN;
	if (netsync_interval(clock_a, t1, &a.lo, &a.hi) ||
	    netsync_interval(clock_b, t2, &b.lo, &b.hi))
		return NETSYNC_UNCERTAIN;
	return a.hi < b.lo ? NETSYNC_BEFORE : b.hi < a.lo ? NETSYNC_AFTER : NETSYNC_UNCERTAIN;
}
