// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * With |f''| <= k, g(x) = f(x) + k/2 x^2 is convex, and so lies below the
 * chords between its upper limits: the lower hull of (x, y + k/2 x^2), less
 * k/2 x^2, is an upper limit of f everywhere between. Seen from a corner
 * (x0, y0) on the left of it that is
 *	y0 + (y1 - y0) (x - x0) / (x1 - x0) + k/2 (x - x0) (x1 - x),
 * which needs no squares of large numbers.
 *
 * h(x) = f(x) - k/2 x^2 is concave: a lower limit l at x - d and an upper one u
 * at x leave no more slope than (u - l) / d + k/2 d at x. From a corner onward f
 * rises with that slope at most, k more of it each ns, until it is the largest
 * skew. The d that says most is found on the hull of the lower limits: the
 * concave one of (x, l - k/2 x^2), whose mirror image is made the same way.
 *
 * All of it holds upside down. A side is kept as upper limits of f (UPPER) or
 * of -f (LOWER), and one code serves both. Of which points a limit is made may
 * be decided with rounding errors: each is valid, one is the best.
 *
 * In the window of a change point k is infinite: the largest skew is left, and what
 * both clocks may be slewed by.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bound/rate-bound.h"
#include "util/number.h"
#include "util/search.h"

enum { UPPER, LOWER };

/*
 * Two phase steps of opposite signs, as of a machine that was paused and whose clock was then set
 * right, show in messages between them only. A clock that was stepped is taken to have been
 * stepped once in a window, where no messages of one direction are farther apart, ns.
 * Chosen: who sets a clock twice takes longer.
 */
#define LONG_SILENCE 1e9

/* Half of the range of times: sums of two stay in it. */
#define FAR 0x1p61

/* ---- one segment ------------------------------------------------------- */

/* Up to the next whole ns, whatever was lost in the last digits of v. */
static int64_t up(double v)
{
	return (int64_t)ceil(v + fabs(v) * 0x1p-48);
}

/* The largest slope in a segment. */
static double steepest_of(const struct rate_bound *b, const struct bound_segment *z)
{
	return b->limits.slope + (isinf(z->bend) ? b->limits.slew : 0);
}

/* By how much f rises within d at most, with a slope of @rise at first. */
static double growth(const struct rate_bound *b, const struct bound_segment *z, double rise,
		     double d)
{
	double steepest = steepest_of(b, z);
	double part = z->bend ? (steepest - rise) / z->bend : HUGE_VAL;

	if (!(part > 0))
		return steepest * d;
	if (d <= part)
		return (rise + z->bend / 2 * d) * d;
	return (rise + z->bend / 2 * part) * part + steepest * (d - part);
}

static double later_slope(const struct rate_bound *b, const struct bound_segment *z, double rise,
			  double d)
{
	return fmin(rise + z->bend * d, steepest_of(b, z));
}

/* Does p lie on or above the chord of its neighbours? */
static bool redundant(const struct bound_segment *z, const struct bound_vertex *a,
		      const struct bound_vertex *p, const struct bound_vertex *c)
{
	double ap = (double)(p->x - a->x), pc = (double)(c->x - p->x);

	return (double)(p->y - a->y) * pc - (double)(c->y - p->y) * ap >=
	       z->bend / 2 * ap * pc * (ap + pc);
}

/* A limit to the right of all others. */
static void append(struct bound_segment *z, int side, int64_t x, int64_t y)
{
	struct bound_vertex *s = z->vertex[side], new = { .x = x, .y = y };
	size_t n = z->num_vertices[side];

	if (n && s[n - 1].x == x) {
		if (s[n - 1].y <= y)
			return;
		n--;
	}
	while (n >= 2 && redundant(z, &s[n - 2], &s[n - 1], &new))
		n--;
	s[n++] = new;
	z->num_vertices[side] = n;
}

/* The last one at or before x; 0 if there is none. */
static size_t find_vertex(const struct bound_vertex *s, size_t n, int64_t x)
{
	return LAST_UNTIL(s, n, x, x);
}

/* The slope that an opposite limit leaves at s. */
static double slope_from(const struct bound_segment *z, const struct bound_vertex *s,
			 const struct bound_vertex *opposite)
{
	double d = fabs((double)(s->x - opposite->x));

	return (double)(s->y + opposite->y) / d + z->bend / 2 * d;
}

/*
 * The least slope that opposite limits first .. last leave at s, all of them
 * on one side of it. Along a hull it falls, then rises.
 */
static double least_slope(const struct bound_segment *z, const struct bound_vertex *s,
			  const struct bound_vertex *opposite, size_t first, size_t last)
{
	while (first < last) {
		size_t mid = first + (last - first) / 2;

		if (slope_from(z, s, &opposite[mid]) <= slope_from(z, s, &opposite[mid + 1]))
			last = mid;
		else
			first = mid + 1;
	}
	return slope_from(z, s, &opposite[first]);
}

/* The smaller slope, unless it is impossible: limits contradict each other. */
static double smaller_slope(double slope, double steepest, double other)
{
	return other < -steepest ? slope : fmin(slope, other);
}

/* Slopes at the vertices of a side, and how they limit the next ones. */
static void set_slopes(const struct rate_bound *b, struct bound_segment *z, int side)
{
	const struct bound_vertex *opp = z->vertex[!side];
	struct bound_vertex *s = z->vertex[side];
	size_t n = z->num_vertices[side], m = z->num_vertices[!side];
	double steepest = steepest_of(b, z);

	for (size_t i = 0; i < n; i++) {
		size_t last = m ? find_vertex(opp, m, s[i].x - 1) : 0;

		s[i].rise = steepest;
		if (i) {
			double d = (double)(s[i].x - s[i - 1].x);

			s[i].y = min64(s[i].y, s[i - 1].y + up(growth(b, z, s[i - 1].rise, d)));
			s[i].rise = later_slope(b, z, s[i - 1].rise, d);
		}
		if (m && opp[0].x < s[i].x)
			s[i].rise = smaller_slope(s[i].rise, steepest,
						  least_slope(z, &s[i], opp, 0, last));
	}
	for (size_t i = n; i-- > 0;) {
		size_t next = m ? find_vertex(opp, m, s[i].x) : 0;

		s[i].fall = steepest;
		if (i + 1 < n) {
			double d = (double)(s[i + 1].x - s[i].x);

			s[i].y = min64(s[i].y, s[i + 1].y + up(growth(b, z, s[i + 1].fall, d)));
			s[i].fall = later_slope(b, z, s[i + 1].fall, d);
		}
		if (m && opp[m - 1].x > s[i].x)
			s[i].fall = smaller_slope(
				s[i].fall, steepest,
				least_slope(z, &s[i], opp, next + (opp[next].x <= s[i].x), m - 1));
	}
}

/* The upper limit of f (or of -f) at x, which may be outside of the segment. */
static int64_t limit_in(const struct rate_bound *b, const struct bound_segment *z, int side,
			int64_t x, struct bound_place *near)
{
	const struct bound_vertex *s = z->vertex[side];
	size_t n = z->num_vertices[side], i;
	double least, d;
	int64_t from;

	if (!n)
		return INT64_MAX;
	i = near->vertex[side] = LAST_NEAR(s, n, x, x, near->vertex[side]);
	from = s[i].y;
	if (fabs((double)x - (double)s[i].x) > FAR)
		return INT64_MAX;
	d = (double)(x - s[i].x);
	least = d < 0 ? growth(b, z, s[i].fall, -d) : growth(b, z, s[i].rise, d);
	if (d > 0 && i + 1 < n) {
		double span = (double)(s[i + 1].x - s[i].x);
		double rest = (double)(s[i + 1].x - x);
		double next = (double)(s[i + 1].y - from);

		least = fmin(least, next + growth(b, z, s[i + 1].fall, rest));
		least = fmin(least, next * (d / span) + z->bend / 2 * d * rest);
	}
	return (double)from + least < FAR ? from + up(least) : INT64_MAX;
}

/* ---- segments together ---------------------------------------------------- */

/* By the segment of a part that holds x, or is nearest to it. */
static int64_t limit_at(const struct rate_bound *b, const struct bound_part *p, int side, int64_t x,
			struct bound_place *near)
{
	near->segment = LAST_NEAR(p->segment, p->num_segments, from, x, near->segment);
	return limit_in(b, &p->segment[near->segment], side, x, near);
}

/* A limit at its border holds in the next segment, too. */
static void propagate(const struct rate_bound *b, const struct bound_segment *from,
		      struct bound_segment *to, int64_t border)
{
	struct bound_place near = { 0 };

	for (int side = UPPER; side <= LOWER; side++) {
		int64_t y = limit_in(b, from, side, border, &near);

		if (y < INT64_MAX)
			append(to, side, border, y);
	}
}

static void settle(const struct rate_bound *b, struct bound_segment *z)
{
	set_slopes(b, z, UPPER);
	set_slopes(b, z, LOWER);
}

/* Room for the points, and for what the neighbours propagate. */
struct filling {
	const struct point *point[2];
	size_t num[2];
	size_t done[2];
	struct bound_vertex *free;
};

static void fill_segment(const struct rate_bound *b, struct bound_segment *z,
			 const struct bound_segment *before, struct filling *in)
{
	size_t last[2];

	for (int side = UPPER; side <= LOWER; side++) {
		last[side] = in->done[side];
		while (!z->divided && last[side] < in->num[side] &&
		       in->point[side][last[side]].x <= z->to)
			last[side]++;
		z->vertex[side] = in->free;
		in->free += last[side] - in->done[side] + 2;
	}
	if (before)
		propagate(b, before, z, z->from);
	for (int side = UPPER; side <= LOWER; side++) {
		for (; in->done[side] < last[side]; in->done[side]++) {
			const struct point *p = &in->point[side][in->done[side]];

			append(z, side, p->x, p->y + 1);
		}
	}
	settle(b, z);
}

/* Points in the window of a phase step are of unknown sides of it. */
static void skip_points(struct filling *in, int64_t to)
{
	for (int side = UPPER; side <= LOWER; side++)
		while (in->done[side] < in->num[side] && in->point[side][in->done[side]].x <= to)
			in->done[side]++;
}

static void make_part(struct rate_bound *b, struct bound_part *p, struct filling *in)
{
	for (size_t i = 0; i < p->num_segments; i++)
		fill_segment(b, &p->segment[i], i ? &p->segment[i - 1] : NULL, in);
	for (size_t i = p->num_segments - 1; i-- > 0;) {
		propagate(b, &p->segment[i + 1], &p->segment[i], p->segment[i].to);
		settle(b, &p->segment[i]);
	}
}

/* Vertices at which the limits leave nothing; between, they leave more. */
static void count_infeasible(struct rate_bound *b, const struct bound_part *p,
			     const struct bound_segment *z)
{
	struct bound_place near = { 0 };

	for (int side = UPPER; side <= LOWER; side++) {
		b->vertices += z->num_vertices[side];
		for (size_t i = 0; i < z->num_vertices[side]; i++) {
			int64_t x = z->vertex[side][i].x, u, l;

			u = limit_at(b, p, UPPER, x, &near);
			l = limit_at(b, p, LOWER, x, &near);
			if (u == INT64_MAX || l == INT64_MAX || u + l >= 0)
				continue;
			b->infeasible++;
			b->short_by = max64(b->short_by, -(u + l));
		}
	}
}

/* ---- the pair ---------------------------------------------------------- */

/* A segment without a drift limit, behind *@z, unless it is empty. */
static void add_steep_segment(struct bound_part *p, struct bound_segment **z, int64_t from,
			      int64_t to, bool divided)
{
	if (from >= to && !divided)
		return;
	*++*z = (struct bound_segment){ from, to, .bend = HUGE_VAL, .divided = divided };
	p->num_segments++;
}

/* The most that f steps by in a window. */
static double step_in(const struct change_window *w)
{
	if (!w->phase_step)
		return 0;
	return w->largest > 0 ? w->largest : HUGE_VAL;
}

/* Windows that overlap. */
struct overlap {
	struct range all;
	bool rate_step; /* a window without a phase step is among them */
};

/* Those that overlap with windows[*i], and where the next ones begin. */
static struct overlap find_overlap(const struct change_window *windows, size_t n, size_t *i)
{
	struct overlap o = { .all = { windows[*i].from, windows[*i].to } };

	for (; *i < n && windows[*i].from <= o.all.hi; ++*i) {
		o.all.hi = max64(o.all.hi, windows[*i].to);
		o.rate_step |= !windows[*i].phase_step;
	}
	return o;
}

/* Windows that overlap, apart from general ones, and have a phase step. */
struct step_group {
	struct range divided;
	double step; /* the most that f steps by */
	size_t steps;
};

/* The next ones of windows[*i], ..., up to before @end: are there any? */
static bool next_step_group(const struct change_window *windows, size_t end, size_t *i,
			    struct step_group *g)
{
	int64_t until = INT64_MIN;

	*g = (struct step_group){ { INT64_MAX, INT64_MIN }, 0, 0 };
	for (; *i < end; ++*i) {
		const struct change_window *w = &windows[*i];

		if (w->is_general)
			continue;
		if (g->steps && w->from > until)
			break;
		until = max64(until, w->to);
		if (!w->phase_step)
			continue;
		g->divided.lo = min64(g->divided.lo, w->from);
		g->divided.hi = max64(g->divided.hi, w->to);
		g->step += step_in(w);
		g->steps++;
	}
	return g->steps;
}

/*
 * Divide time at the windows. Of windows that overlap, only the times of those with a phase step
 * are divided: a message before or after these tells what f is on its side, and one between two
 * groups of them tells what f is between these.
 */
static void make_segments(struct rate_bound *b, const struct change_window *windows, size_t n)
{
	struct bound_segment *z = b->segment;
	struct bound_part *p = b->part;

	*p = (struct bound_part){ .segment = z, .num_segments = 1, .x = { INT64_MIN, INT64_MAX } };
	*z = (struct bound_segment){ .from = INT64_MIN, .bend = b->limits.bend };
	for (size_t i = 0; i < n;) {
		size_t at = i;
		const struct overlap o = find_overlap(windows, n, &i);
		int64_t from = o.all.lo;
		struct step_group g;

		z->to = o.all.lo;
		while (next_step_group(windows, i, &at, &g)) {
			const struct range d = g.divided;

			if (o.rate_step) {
				add_steep_segment(p, &z, from, d.lo, false);
				add_steep_segment(p, &z, d.lo, d.hi, true);
			}
			p->x.hi = d.hi;
			p->step = g.step;
			p->steps = g.steps;
			*++p = (struct bound_part){ .segment = z + 1, .x = { d.lo, INT64_MAX } };
			if (o.rate_step)
				add_steep_segment(p, &z, d.lo, d.hi, true);
			from = d.hi;
		}
		if (o.rate_step)
			add_steep_segment(p, &z, from, o.all.hi, false);
		*++z = (struct bound_segment){ .from = o.all.hi, .bend = b->limits.bend };
		p->num_segments++;
	}
	z->to = INT64_MAX;
	b->parts = (size_t)(p - b->part) + 1;
}

/*
 * The end of a part as time t = x + f(x) on host[1]: an upper limit of t if @side is UPPER,
 * of -t if it is LOWER, given that of the next part on this side, @beyond. Without messages
 * of its own, the part ends where the next one begins, but for the phase step between.
 */
static int64_t end_of(const struct rate_bound *b, const struct bound_part *p, int side,
		      int64_t beyond)
{
	const struct bound_part *next = side == UPPER ? p + 1 : p - 1;
	double step = side == UPPER ? p->step : next->step;
	int64_t x = side == UPPER ? p->x.hi : p->x.lo;
	int64_t signed_x = side == UPPER ? x : -x;
	struct bound_place near = { 0 };
	int64_t y = limit_at(b, p, side, x, &near);

	if (y != INT64_MAX)
		return signed_x + y;
	y = limit_at(b, next, side, x, &near);
	if (y != INT64_MAX)
		beyond = signed_x + y;
	return beyond != INT64_MAX && (double)beyond + step < FAR ? beyond + up(step) : INT64_MAX;
}

/*
 * Which times of host[1] can each part be about? Were it any, as of a part without
 * messages, nothing would be known of any time of host[1].
 */
static void set_others(struct rate_bound *b)
{
	int64_t end = INT64_MAX;

	for (size_t i = b->parts; i-- > 0;) {
		if (i + 1 < b->parts)
			end = end_of(b, &b->part[i], UPPER, end);
		b->part[i].other.hi = end;
	}
	end = INT64_MAX;
	for (size_t i = 0; i < b->parts; i++) {
		if (i)
			end = end_of(b, &b->part[i], LOWER, end);
		b->part[i].other.lo = end == INT64_MAX ? INT64_MIN : -end;
	}
}

/* The most that f rises by from a part to the next one at @x; INT64_MAX if it is not known. */
static int64_t most_rise(const struct rate_bound *b, const struct bound_part *p, int64_t x)
{
	struct bound_place near = { 0 };
	const int64_t lower = limit_at(b, p, LOWER, x, &near);
	const int64_t upper = limit_at(b, p + 1, UPPER, x, &near);

	return lower == INT64_MAX || upper == INT64_MAX ? INT64_MAX : max64(lower + upper, 0);
}

/*
 * If a step is found only because no clock goes as far in a silence, host[0] may have been set back,
 * not host[1] forward. Then host[0] shows times before the window again, and has shown times after
 * it before; on host[1], the step is between the messages around the window. The windows of other
 * steps include what they skip or show twice.
 */
static void widen_others(struct rate_bound *b)
{
	for (size_t i = 0; i + 1 < b->parts; i++) {
		struct bound_part *p = &b->part[i], *next = p + 1;
		const int64_t begin = next->x.lo, end = p->x.hi;
		struct bound_place near = { 0 };
		int64_t rise, y;

		if (!isinf(p->step))
			continue;
		rise = max64(most_rise(b, p, begin), most_rise(b, p, end));
		p->shown.hi = rise == INT64_MAX ? INT64_MAX : end + rise;
		next->shown.lo = rise == INT64_MAX ? INT64_MIN : begin - rise;
		y = limit_at(b, next, UPPER, end, &near);
		if (y != INT64_MAX)
			p->other.hi = max64(p->other.hi, end + y);
		y = limit_at(b, p, LOWER, begin, &near);
		if (y != INT64_MAX)
			next->other.lo = min64(next->other.lo, begin - y);
	}
}

/* The end of a part as above, with the other limit of f: INT64_MAX if there is none. */
static int64_t inner_end_of(const struct rate_bound *b, const struct bound_part *p, int side)
{
	const int64_t x = side == UPPER ? p->x.hi : p->x.lo;
	struct bound_place near = { 0 };
	const int64_t y = limit_at(b, p, !side, x, &near);

	return y == INT64_MAX ? INT64_MAX : side == UPPER ? x - y : x + y;
}

/* By f at both ends of each part; without it, by the ends that are known. */
static void set_inner_others(struct rate_bound *b)
{
	for (size_t i = 0; i < b->parts; i++) {
		struct bound_part *p = &b->part[i];
		const int64_t lo = i ? inner_end_of(b, p, LOWER) : INT64_MAX;
		const int64_t hi = i + 1 < b->parts ? inner_end_of(b, p, UPPER) : INT64_MAX;

		p->other_inner.lo = lo == INT64_MAX ? p->other.lo : lo;
		p->other_inner.hi = hi == INT64_MAX ? p->other.hi : hi;
	}
}

/*
 * Are messages of a direction farther apart in a window, or around it, than LONG_SILENCE, by
 * both clocks? One that stood still shows no time meanwhile.
 */
static bool has_silence(const struct point *p, size_t num, int side, const struct range *window)
{
	size_t i = NUM_BEFORE(p, num, x, window->lo);

	for (; i < num && (!i || p[i - 1].x <= window->hi); i++) {
		double apart, other;

		if (!i)
			continue;
		apart = (double)(p[i].x - p[i - 1].x);
		other = (double)(p[i].y - p[i - 1].y);
		other = apart + (side == UPPER ? other : -other);
		if (fmin(apart, other) > LONG_SILENCE)
			return true;
	}
	return false;
}

/* Find the windows in which f may have stepped several times. */
static void find_unknown(struct rate_bound *b, const struct filling *in)
{
	for (size_t i = 0; i + 1 < b->parts; i++) {
		const struct range window = { b->part[i + 1].x.lo, b->part[i].x.hi };
		bool unknown = b->part[i].steps > 1;

		for (int side = UPPER; side <= LOWER && !unknown; side++)
			unknown = has_silence(in->point[side], in->num[side], side, &window);
		b->part[i].ends_unknown = unknown;
	}
}

/*
 * With clocks a and b of true time, f'' = (b'' a' - b' a'') / a'^3 in time of a,
 * where a' and b' are within 1 +- skew, a'' and b'' within +- drift.
 */
struct limits limits_of_clocks(double skew, double drift, double slew)
{
	return (struct limits){
		.slope = skew,
		.slew = 2 * slew,
		.bend = 2 * drift * (1 + skew) / pow(1 - skew, 3),
	};
}

int rate_bound_make(struct rate_bound *b, const struct limits *limits, const struct point *upper,
		    size_t num_upper, const struct point *lower, size_t num_lower,
		    const struct change_window *windows, size_t num_windows)
{
	size_t segments = 3 * num_windows + 1;
	struct filling in = { .point = { upper, lower }, .num = { num_upper, num_lower } };

	*b = (struct rate_bound){ .limits = *limits };
	b->part = calloc(num_windows + 1, sizeof(*b->part));
	b->segment = calloc(segments, sizeof(*b->segment));
	b->vertex = malloc((num_upper + num_lower + 4 * segments) * sizeof(*b->vertex));
	if (!b->part || !b->segment || !b->vertex) {
		rate_bound_release(b);
		return -ENOMEM;
	}
	make_segments(b, windows, num_windows);
	in.free = b->vertex;
	find_unknown(b, &in);
	for (size_t i = 0; i < b->parts; i++) {
		struct bound_part *p = &b->part[i];

		if (i)
			skip_points(&in,
				    p->segment[0].divided ? p->segment[0].to : p->segment[0].from);
		make_part(b, p, &in);
		for (size_t j = 0; j < p->num_segments; j++)
			count_infeasible(b, p, &p->segment[j]);
	}
	set_others(b);
	set_inner_others(b);
	for (size_t i = 0; i < b->parts; i++)
		b->part[i].shown = b->part[i].x;
	widen_others(b);
	return 0;
}

void rate_bound_release(struct rate_bound *b)
{
	free(b->part);
	free(b->segment);
	free(b->vertex);
	memset(b, 0, sizeof(*b));
}

/* ---- questions --------------------------------------------------------- */

static bool meet(const struct range *a, const struct range *b)
{
	return a->lo <= b->hi && b->lo <= a->hi;
}

static void widen(struct range *r, int64_t lo, int64_t hi)
{
	r->lo = min64(r->lo, lo);
	r->hi = max64(r->hi, hi);
}

/* Does a range of times of host[0], or of host[1], meet a window of which nothing is known? */
static bool meets_unknown(const struct rate_bound *b, const struct range *t, bool of_second)
{
	for (size_t i = 0; i + 1 < b->parts; i++) {
		const struct bound_part *p = &b->part[i];
		const struct range window = { of_second ? p[1].other.lo : p[1].x.lo,
					      of_second ? p->other.hi : p->x.hi };

		if (p->ends_unknown && meet(&window, t))
			return true;
	}
	return false;
}

bool rate_bound_is_unknown_at(const struct rate_bound *b, int64_t x)
{
	return meets_unknown(b, &(struct range){ x, x }, false);
}

struct range rate_bound_at(const struct rate_bound *b, int64_t x)
{
	const struct range here = { x, x };
	struct range r = { INT64_MAX, INT64_MIN };
	struct bound_place near = { 0 };

	if (rate_bound_is_unknown_at(b, x))
		return (struct range){ INT64_MIN, INT64_MAX };
	for (size_t i = 0; i < b->parts; i++) {
		const struct bound_part *p = &b->part[i];
		int64_t lo, hi;

		if (!meet(&p->x, &here))
			continue;
		lo = limit_at(b, p, LOWER, x, &near);
		hi = limit_at(b, p, UPPER, x, &near);
		widen(&r, lo == INT64_MAX ? INT64_MIN : -lo, hi);
	}
	return r;
}

struct range rate_bound_to_second(const struct rate_bound *b, struct range x,
				  struct bound_place *near)
{
	struct range r = { INT64_MAX, INT64_MIN };

	if (meets_unknown(b, &x, false))
		return (struct range){ INT64_MIN, INT64_MAX };
	for (size_t i = 0; i < b->parts; i++) {
		const struct bound_part *p = &b->part[i];
		int64_t lo = max64(x.lo, p->x.lo), hi = min64(x.hi, p->x.hi);
		int64_t below, above;

		if (lo > hi)
			continue;
		below = lo == INT64_MIN ? INT64_MAX : limit_at(b, p, LOWER, lo, near);
		above = hi == INT64_MAX ? INT64_MAX : limit_at(b, p, UPPER, hi, near);
		/* t + f(t) rises with t, as clocks go forward. */
		widen(&r, below == INT64_MAX ? INT64_MIN : lo - below,
		      above == INT64_MAX ? INT64_MAX : hi + above);
	}
	return r;
}

/*
 * The end of those x for which x + f(x) can be t: the last one if @side is
 * LOWER, else the first. Each step is closer by the largest skew.
 */
static int64_t solve(const struct rate_bound *b, const struct bound_part *p, int side, int64_t t,
		     struct bound_place *near)
{
	int64_t unknown = side == UPPER ? INT64_MIN : INT64_MAX;
	double q = b->limits.slope + b->limits.slew;
	int64_t x, slack;
	size_t i = 0;

	while (i < p->num_segments && !p->segment[i].num_vertices[side])
		i++;
	if (t == INT64_MIN || t == INT64_MAX || i == p->num_segments)
		return unknown;
	/* From where does not depend on where times are counted from. */
	x = p->segment[i].vertex[side]->y;
	x = side == UPPER ? t - x : t + x;
	for (int step = 0; step < 200; step++) {
		int64_t y = limit_at(b, p, side, x, near), next;

		if (y == INT64_MAX)
			return unknown;
		next = side == UPPER ? t - y : t + y;
		slack = next > x ? next - x : x - next;
		x = next;
		if (slack > 1)
			continue;
		/* How far the steps to come can still go, and rounding. */
		slack = up(q / (1 - q) * (double)slack) + 1;
		return side == UPPER ? x - slack : x + slack;
	}
	return unknown;
}

struct range rate_bound_to_first(const struct rate_bound *b, struct range t,
				 struct bound_place *near)
{
	struct range r = { INT64_MAX, INT64_MIN }, all = r;

	if (meets_unknown(b, &t, true))
		return (struct range){ INT64_MIN, INT64_MAX };
	for (size_t i = 0; i < b->parts; i++) {
		const struct bound_part *p = &b->part[i];
		struct range x;

		if (!meet(&p->other, &t))
			continue;
		x.lo = solve(b, p, UPPER, t.lo, near);
		x.hi = solve(b, p, LOWER, t.hi, near);
		widen(&all, x.lo, x.hi);
		if (meet(&p->shown, &x))
			widen(&r, max64(x.lo, p->shown.lo), min64(x.hi, p->shown.hi));
	}
	if (r.lo <= r.hi)
		return r;
	/* A time that host[1] never showed, as it was set past it. */
	return all.lo <= all.hi ? all : (struct range){ INT64_MIN, INT64_MAX };
}
