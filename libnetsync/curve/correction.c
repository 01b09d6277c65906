// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "curve/correction.h"
#include "util/number.h"
#include "util/search.h"
#include "util/whole.h"

/*
 * Maximum distance of a curve from its straight segments: 2 ns, less rounding; at least this part
 * of the curve's expected error (chosen; it adds nothing visible); and this part of the span, the
 * resolution of doubles.
 */
#define TOLERANCE 1.5
#define OF_ERROR (1.0 / 16)
#define PRECISION 0x1p-51
/* The shortest segment: in ns; as a share of the span. Chosen. */
#define SHORTEST 1000
#define MOST_SEGMENTS (1 << 20)
/* Number of steps of an inversion: each leaves less than a thousandth of the error. */
#define MAX_STEPS 8
/* Number of steps to find the end of a bridge. */
#define BRIDGE_STEPS 4
/* Rates are positive; a clock that stands still gets this rate. Chosen. */
#define SLOWEST 1e-12
/* Beyond its ends, a curve continues with the slope of this part of its span. Chosen. */
#define END_PARTS 1024

double correction_at(const struct correction *c, int64_t t, int64_t *ref)
{
	double d = (double)(t - c->from), v = c->frac + c->skew * d;

	if (c->curve.coefs) {
		/* Beyond its ends, the curve is linear. */
		double end = (double)(c->to - c->from);
		double in = fmin(fmax(d, 0), end);
		double h = end / END_PARTS;

		v += spline_at(&c->curve, in);
		if (in < d)
			v += (d - in) *
			     (spline_at(&c->curve, end) - spline_at(&c->curve, end - h)) / h;
		else if (in > d)
			v += (d - in) * (spline_at(&c->curve, h) - spline_at(&c->curve, 0)) / h;
	}
	*ref = t + c->offset;
	return add_whole_ns(ref, v);
}

double change_point_gap(const struct change_point *b)
{
	return (b->phase_step ? fabs(b->offset) : 0) + fabs(b->skew) * 2 * b->uncertainty;
}

double correction_deviation_at(const struct correction *c, int64_t t)
{
	const double d = (double)(t - c->from);
	const struct deviation_knot *k;
	double part;
	size_t n;

	if (!c->num_known_to)
		return HUGE_VAL;
	n = NUM_BEFORE(c->known_to, c->num_known_to, t, d);
	k = &c->known_to[n];
	/* Before the first knot and after the last one, use their deviations. */
	if (!n)
		return k->deviation;
	if (n == c->num_known_to)
		return k[-1].deviation;
	part = (d - k[-1].t) / (k->t - k[-1].t);
	return k[-1].deviation + part * (k->deviation - k[-1].deviation);
}

size_t correction_changes_before(const struct correction *c, double t)
{
	return NUM_BEFORE(c->change, c->num_changes, t, t);
}

/* Copy an array: 0 or -ENOMEM; *copy is NULL if the array is empty. */
static int duplicate_array(const void *from, size_t num, size_t size, void **copy)
{
	*copy = num ? malloc(num * size) : NULL;
	if (!num)
		return 0;
	if (!*copy)
		return -ENOMEM;
	memcpy(*copy, from, num * size);
	return 0;
}

int correction_copy(struct correction *to, const struct correction *c)
{
	void *change = NULL, *doubt = NULL, *known_to = NULL;
	int ret;

	*to = *c;
	ret = spline_copy(&to->curve, &c->curve);
	if (!ret)
		ret = duplicate_array(c->change, c->num_changes, sizeof(*c->change), &change);
	if (!ret)
		ret = duplicate_array(c->doubt, c->num_doubts, sizeof(*c->doubt), &doubt);
	if (!ret)
		ret = duplicate_array(c->known_to, c->num_known_to, sizeof(*c->known_to),
				      &known_to);
	to->change = change;
	to->doubt = doubt;
	to->known_to = known_to;
	if (ret)
		correction_release(to);
	return ret;
}

void correction_release(struct correction *c)
{
	spline_free(&c->curve);
	free(c->change);
	free(c->doubt);
	free(c->known_to);
	c->change = NULL;
	c->doubt = NULL;
	c->known_to = NULL;
	c->num_changes = c->num_doubts = c->num_known_to = 0;
	c->no_margin = false;
}

double correction_between(const struct correction *from, int64_t t, const struct correction *to,
			  int64_t *at)
{
	int64_t common, now, x;
	double rest = correction_at(from, t, &common), left = 0;

	/* Rates differ so little that the error falls by a factor of thousands in every round. */
	x = common;
	for (int i = 0; i < MAX_STEPS; i++) {
		left = rest - correction_at(to, x, &now);
		if (now == common)
			break;
		x = max64(min64(x + common - now, FARTHEST), -FARTHEST);
	}
	*at = x;
	return add_whole_ns(at, left + (double)(common - now));
}

/* ---- messages ---------------------------------------------------------- */

bool correction_excludes(const struct correction *correction[2], int way, const struct point *p,
			 int64_t raised)
{
	int64_t y = way ? raised - p->y : p->y - raised;

	return !correction_covers(correction[0], p->x) ||
	       !correction_covers(correction[1], p->x + y);
}

double correction_delay(const struct correction *correction[2], int way, const struct point *p)
{
	int64_t y = way ? -p->y : p->y, ref[2];
	double frac = -correction_at(correction[0], p->x, &ref[0]), delay;

	frac += correction_at(correction[1], p->x + y, &ref[1]);
	delay = (double)((__int128)ref[1] - ref[0]) + frac;
	return way ? -delay : delay;
}

bool correction_inverts(const struct correction *correction[2], int way, const struct point *p)
{
	/* Times are whole ns. */
	return correction_delay(correction, way, p) < -1;
}

size_t correction_inversions(const struct pair *pair, const struct correction *correction[2])
{
	size_t num = 0;

	for (int way = 0; way < 2; way++) {
		const struct direction *d = &pair->direction[way];

		for (size_t i = 0; i < d->envelope.num; i++) {
			const struct bin *b = &d->envelope.bin[i];

			for (uint32_t k = 0; k < b->corners; k++) {
				const struct point *p = &b->corner[k];

				num += !correction_excludes(correction, way, p, d->raised) &&
				       correction_inverts(correction, way, p);
			}
		}
	}
	return num;
}

/* ---- segments ---------------------------------------------------------- */

/* The path from a host to the reference. */
struct way {
	const struct correction *from;
	const struct correction *to;
	double tolerance;
	int64_t shortest;
};

/* Return the correction of a host at a time, relative to the origins. */
static double correction_to_reference_at(const struct way *w, int64_t t, int64_t *whole)
{
	int64_t at;
	double rest = correction_between(w->from, t, w->to, &at);

	*whole = at - t;
	return rest;
}

static int64_t correction(const struct way *w, int64_t t)
{
	int64_t whole;
	double rest = correction_to_reference_at(w, t, &whole);

	return whole + llround(rest);
}

static bool straight_segment_fits(const struct way *w, int64_t from, int64_t to)
{
	int64_t base, v;
	double a = correction_to_reference_at(w, from, &base);
	double b = correction_to_reference_at(w, to, &v) + (double)(v - base);

	for (int i = 1; i < 4; i++) {
		int64_t t = from + (to - from) / 4 * i;
		double part = (double)(t - from) / (double)(to - from);
		double y = correction_to_reference_at(w, t, &v) + (double)(v - base);

		if (fabs(y - a - (b - a) * part) > w->tolerance)
			return false;
	}
	return true;
}

/* Return the first change point after @from, or NULL. */
static const struct change_point *change_point_after(const struct correction *c, int64_t from)
{
	for (size_t i = 0; i < c->num_changes; i++)
		if (c->from + (int64_t)c->change[i].t > from)
			return &c->change[i];
	return NULL;
}

/* Return the end of the straight segment that begins at @from and is at most @most long. */
static int64_t straight_segment_end(const struct way *w, int64_t from, int64_t to, int64_t most)
{
	if (to - from > most)
		to = from + most;
	while (to - from > w->shortest && !straight_segment_fits(w, from, to))
		to = from + (to - from) / 2;
	return to;
}

struct segments {
	struct netsync_segment *segment;
	size_t num;
	size_t room;
	int64_t host; /* origins */
	int64_t reference;
};

/* Add a segment from one correction to another. */
static int add_segment(struct segments *s, int64_t from, int64_t to, int64_t at, double rate)
{
	if (array_grow(&s->segment, &s->room, s->num, sizeof(*s->segment)))
		return -ENOMEM;
	s->segment[s->num++] = (struct netsync_segment){
		.from_ns = s->host + from,
		.to_ns = s->host + to,
		.offset_ns = clamp_to_int64((__int128)s->reference - s->host + at),
		.rate = fmax(rate, SLOWEST),
	};
	return 0;
}

/*
 * A clock that was stepped forward skipped some times. The reference stands still during these,
 * because it must not run backward. @before: the correction at *from; the curve after the change
 * point at @t determines the end.
 */
static int add_bridge(struct segments *s, const struct way *w, int64_t *from, int64_t t,
		      int64_t before)
{
	int64_t to = t;

	/* The curve is almost level: each step leaves a thousandth of the error. */
	for (int i = 0; i < BRIDGE_STEPS; i++)
		to = max64(*from + before - correction(w, to), t);
	to = min64(to, w->from->to);
	if (to <= *from)
		return 0;
	if (add_segment(s, *from, to, before, SLOWEST))
		return -ENOMEM;
	*from = to;
	return 0;
}

/*
 * Return half of the duration that a clock skipped, in the middle of which the change point lies.
 */
static int64_t half_of_skipped_time(const struct change_point *b)
{
	return b && b->phase_step && !b->stood_still ? llround(fmax(-b->offset, 0) / 2) : 0;
}

static int add_smooth(struct segments *s, const struct way *w, int64_t from, int64_t to,
		      int64_t *end)
{
	int64_t length = to - from;

	while (from < to) {
		int64_t next = straight_segment_end(w, from, to, 2 * length);
		int64_t at, last;
		double rest[2], rise = 0;

		/* The rate of a segment that is too short would consist of rounding errors. */
		if (to - next < w->shortest)
			next = to;
		/* Just before a change point, use the curve before it. */
		last = next < to ? next : max64(next - 1, from);
		rest[0] = correction_to_reference_at(w, from, &at);
		rest[1] = correction_to_reference_at(w, last, end);
		if (last > from)
			rise = ((double)(*end - at) + rest[1] - rest[0]) / (double)(last - from);
		*end += llround(rest[1]);
		if (add_segment(s, from, next, at + llround(rest[0]), 1 + rise))
			return -ENOMEM;
		length = next - from;
		from = next;
	}
	return 0;
}

int64_t correction_segments(const struct correction *c, const struct correction *to_correction,
			    int64_t host, int64_t reference, struct netsync_segment **segment)
{
	struct segments s = { .host = host, .reference = reference };
	int64_t span = max64(c->to - c->from, to_correction->to - to_correction->from);
	double error = fmax(c->expected_error, to_correction->expected_error);
	const struct way w = {
		.from = c,
		.to = to_correction,
		.tolerance = fmax(TOLERANCE, OF_ERROR * error) + PRECISION * (double)span,
		.shortest = max64(SHORTEST, span / MOST_SEGMENTS),
	};
	int64_t from = c->from, end = correction(&w, from);
	bool bends = c->curve.coefs || to_correction->curve.coefs;
	int ret = 0;

	if (!bends || from == c->to)
		ret = add_segment(&s, from, c->to, end, 1 + c->skew);
	while (!ret && bends && from < c->to) {
		const struct change_point *b = change_point_after(c, from);
		int64_t t = b ? min64(c->from + (int64_t)b->t, c->to) : c->to;
		int64_t to = max64(t - half_of_skipped_time(b), from);

		if (to == from)
			end = correction(&w, from);
		ret = add_smooth(&s, &w, from, to, &end);
		from = to;
		if (!ret && b && b->phase_step)
			ret = add_bridge(&s, &w, &from, t, end);
		from = max64(from, t);
	}
	if (ret)
		free(s.segment);
	*segment = ret ? NULL : s.segment;
	return ret ? ret : (int64_t)s.num;
}
