// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A straight line is fitted to what lies before an instant, another to what
 * lies after it, in windows of many sizes. Where the two differ by more than
 * their scatter explains and by more than an oscillator can drift meanwhile,
 * and differ in the same way for messages of both directions (a changed delay
 * moves the directions apart, or one of them only), there is a break. Short
 * windows come first, since they tell neighbours apart.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "curve/change-point.h"

#define GROUP 16.0		/* messages whose lowest makes a point */
#define ENOUGH 5		/* points of a direction in a window */
#define SIGNIFICANT 6.0		/* standard deviations, of both directions */
#define STEPS 4			/* of a window */
#define AROUND 10		/* steps that are looked around */
#define RESTLESS 2.0		/* times that, and the clock is in doubt */
#define LONGER 4		/* times the window shows what lasts */
#define GAIN 12.0		/* in log likelihood, for one more break */
#define LEVEL 5			/* points that tell the level */
#define AMONG 7			/* points tell the scatter */
#define USUAL 1.3		/* median bend of exponential delays, in means */
#define BY_CHANCE 4.0		/* scatter may be more by that */
/* No rate changes by more at once: 500 ppm up from 500 ppm down, and some. */
#define STEEPEST 1.5e-3

struct weighed {
	double t;
	double y;
	double weight;		/* 1 / variance */
	bool restless;		/* that is more than delays alone explain */
};

struct series {
	struct weighed *point;
	size_t num;
	double noise;		/* of the other hosts' courses together */
};

/* ---- the two series ---------------------------------------------------- */

static int by_time(const void *a, const void *b)
{
	const struct weighed *p = a, *q = b;

	if (p->t != q->t)
		return p->t < q->t ? -1 : 1;
	return p->y < q->y ? -1 : p->y > q->y;
}

/* Those whose other host is known well. */
static double least_noise(const struct points *p)
{
	double least = HUGE_VAL;

	for (size_t i = 0; i < 2 * p->links; i++)
		if (p->side[i].heaps)
			least = fmin(least, p->side[i].noise);
	return least;
}

/* How far a point is out of line with the two beside it, twice. */
static double bend(const struct group *g)
{
	double apart = g[1].t - g[-1].t;
	double part = apart > 0 ? (g[0].t - g[-1].t) / apart : 0.5;

	return 2 * fabs(g[-1].y + part * (g[1].y - g[-1].y) - g[0].y);
}

/* The median of some points from @at on, in mean delays. */
static double scatter(const struct group *g, size_t n, size_t at, double mean)
{
	double v[AMONG];
	size_t m = 0;

	for (size_t i = at ? at : 1; i + 1 < n && i < at + AMONG; i++)
		v[m++] = bend(&g[i]) * g[i].messages / mean;
	return median(v, m);
}

/*
 * How much more do points before or after this one scatter than independent
 * messages would? In bulk traffic, many in a row are late together. A break
 * bends no more than two of them, and a wrong message three.
 */
static double dispersion(const struct group *g, size_t n, size_t at,
			 double mean)
{
	size_t from = at > AMONG ? at - AMONG + 1 : 1;
	double most = 1;

	for (; from <= at; from += AMONG / 2)
		most = fmax(most, scatter(g, n, from, mean) /
				  (USUAL * BY_CHANCE));
	return most;
}

/* Of these links, each without its own smallest delay. */
static int make_series(struct series *s, const struct points *p, int dir,
		       bool beyond, curve_fn curve, void *arg)
{
	size_t most = points_most(p) + 1, room = 1;
	double links = 0;
	struct group *g = malloc(most * sizeof(*g));
	double *v = malloc(most * sizeof(*v));

	for (size_t i = 0; i < p->links; i++)
		room += p->side[2 * i + (size_t)dir].heaps;
	s->num = 0;
	s->noise = least_noise(p);
	s->point = malloc(room * sizeof(*s->point));
	if (!g || !v || !s->point) {
		free(g);
		free(v);
		return -ENOMEM;
	}
	for (size_t i = 0; i < p->links; i++) {
		const struct side *side = &p->side[2 * i + (size_t)dir];
		size_t n = points_group(p, side, dir, GROUP, g);
		double middle;

		if (side->noise > 2 * s->noise)
			continue;
		links++;
		for (size_t j = 0; j < n; j++) {
			double y = beyond ? 0 : curve(arg, g[j].t);

			g[j].y -= side->mean / g[j].messages;
			v[j] = g[j].y - (dir == ABOVE ? y : -y);
		}
		middle = median(v, n);
		for (size_t j = 0; j < n; j++) {
			double y = g[j].y - middle;
			double more = dispersion(g, n, j, side->mean);
			double sigma = more * side->mean / g[j].messages;

			s->point[s->num++] = (struct weighed){
				.t = g[j].t,
				.y = dir == ABOVE ? y : -y,
				.weight = 1 / (sigma * sigma),
				.restless = more > RESTLESS,
			};
		}
	}
	s->noise /= sqrt(fmax(links, 1));
	qsort(s->point, s->num, sizeof(*s->point), by_time);
	free(g);
	free(v);
	return 0;
}

/* ---- two lines --------------------------------------------------------- */

/* A line about an instant, and how sure that is. */
struct fitted {
	double level;
	double slope;
	double var_level;
	double var_slope;
	size_t num;
};

static void fit_line(struct fitted *f, const struct weighed *p, size_t n,
		     double at)
{
	double w = 0, wt = 0, wtt = 0, wy = 0, wty = 0, det;

	*f = (struct fitted){ .num = n };
	for (size_t i = 0; i < n; i++) {
		double t = p[i].t - at;

		w += p[i].weight;
		wt += p[i].weight * t;
		wtt += p[i].weight * t * t;
		wy += p[i].weight * p[i].y;
		wty += p[i].weight * t * p[i].y;
	}
	det = w * wtt - wt * wt;
	if (n < 2 || det <= 0) {
		f->num = 0;
		return;
	}
	f->level = (wtt * wy - wt * wty) / det;
	f->slope = (w * wty - wt * wy) / det;
	f->var_level = wtt / det;
	f->var_slope = w / det;
}

/* What changes at an instant. */
struct change {
	double t;
	double level;		/* mean of both directions */
	double slope;
	double sigma_level;
	double sigma_slope;
	double surely_level;	/* the smaller of both, in deviations */
	double surely_slope;
};

static size_t first_from(const struct series *s, double t)
{
	size_t lo = 0, hi = s->num;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->point[mid].t < t)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The smaller of two that have the same sign; else 0. */
static double both(double a, double b)
{
	return a * b > 0 ? fmin(fabs(a), fabs(b)) : 0;
}

/* What the clock's own drift does not explain. */
static double beyond_drift(double change, double drift)
{
	return copysign(fmax(fabs(change) - drift, 0), change);
}

/* @drift: how much the slope can change by itself in that window. */
static bool change_at(const struct series s[2], double from, double t,
		      double to, double drift, struct change *c)
{
	double sag = drift * (to - from) / 2;
	double level[2], slope[2], sl[2], ss[2];

	for (int d = 0; d < 2; d++) {
		size_t a = first_from(&s[d], from);
		size_t m = first_from(&s[d], t);
		size_t b = first_from(&s[d], to);
		struct fitted l, r;

		if (m - a < ENOUGH || b - m < ENOUGH)
			return false;
		fit_line(&l, s[d].point + a, m - a, t);
		fit_line(&r, s[d].point + m, b - m, t);
		if (!l.num || !r.num)
			return false;
		level[d] = r.level - l.level;
		slope[d] = r.slope - l.slope;
		/* What is wrong with other hosts does not average out. */
		sl[d] = sqrt(r.var_level + l.var_level) + s[d].noise;
		ss[d] = sqrt(r.var_slope + l.var_slope) +
			s[d].noise / fmin(t - from, to - t);
	}
	*c = (struct change){
		.t = t,
		.level = (level[0] + level[1]) / 2,
		.slope = (slope[0] + slope[1]) / 2,
		.sigma_level = hypot(sl[0], sl[1]) / 2,
		.sigma_slope = hypot(ss[0], ss[1]) / 2,
		.surely_level = both(beyond_drift(level[0], sag) / sl[0],
				     beyond_drift(level[1], sag) / sl[1]),
		.surely_slope = both(beyond_drift(slope[0], drift) / ss[0],
				     beyond_drift(slope[1], drift) / ss[1]),
	};
	return true;
}

/* 0: no break; else how sure it is. */
static double break_surety(const struct change *c)
{
	double surety = 0;

	/* What is steeper is a jump nearby, which has its own place. */
	if (c->surely_slope > SIGNIFICANT && fabs(c->slope) < STEEPEST)
		surety = c->surely_slope;
	if (c->surely_level > SIGNIFICANT)
		surety = fmax(surety, c->surely_level);
	return surety;
}

/* ---- the list of breaks ------------------------------------------------ */

static int insert(struct course *c, const struct brk *b)
{
	size_t i = c->num_breaks;
	struct brk *more = realloc(c->breaks, (i + 1) * sizeof(*more));

	if (!more)
		return -ENOMEM;
	c->breaks = more;
	c->num_breaks++;
	for (; i && more[i - 1].t > b->t; i--)
		more[i] = more[i - 1];
	more[i] = *b;
	return 0;
}

/* ---- clocks that were set ---------------------------------------------- */

/* The change between the medians of a few points before and after. */
static bool leap_at(const struct series *s, size_t m, double *leap,
		    double *limit)
{
	double before[LEVEL], after[LEVEL], apart;

	if (m < LEVEL || m + LEVEL > s->num)
		return false;
	for (size_t i = 0; i < LEVEL; i++) {
		before[i] = s->point[m - 1 - i].y;
		after[i] = s->point[m + i].y;
	}
	apart = s->point[m + LEVEL / 2].t - s->point[m - 1 - LEVEL / 2].t;
	*leap = median(after, LEVEL) - median(before, LEVEL);
	*limit = STEEPEST * apart + 10 / sqrt(s->point[m].weight);
	return true;
}

/*
 * Leaps that are too large for any rate stand out whatever else there is. Any
 * place near one shows it; the middle of these is where it is.
 */
static int find_leaps(struct course *c, const struct series s[2])
{
	struct brk b = { .jump = true };
	double from = 0, to = -1;
	int found = 0;

	for (size_t i = 0; i <= s[ABOVE].num; i++) {
		double leap[2], limit[2], t, size = 0;

		t = i < s[ABOVE].num ? s[ABOVE].point[i].t : HUGE_VAL;
		if (leap_at(&s[ABOVE], i, &leap[ABOVE], &limit[ABOVE]) &&
		    leap_at(&s[BELOW], first_from(&s[BELOW], t), &leap[BELOW],
			    &limit[BELOW]) &&
		    fabs(leap[ABOVE]) > limit[ABOVE] &&
		    fabs(leap[BELOW]) > limit[BELOW])
			size = both(leap[ABOVE], leap[BELOW]);
		if (size > 0) {
			b.offset = copysign(size, leap[ABOVE]);
			from = to < from ? s[ABOVE].point[i - 1].t : from;
			to = t;
			continue;
		}
		if (to < from)
			continue;
		b.t = (from + to) / 2;
		b.window = b.within = to - from;
		if (c->num_breaks < MAX_BREAKS) {
			if (insert(c, &b))
				return -ENOMEM;
			found++;
		}
		to = from - 1;
	}
	return found;
}

/* ---- search ------------------------------------------------------------ */

/* A window about @t ends at the next break that is known. */
static bool window(const struct course *c, double t, double width,
		   double *from, double *to)
{
	size_t lo = course_breaks_before(c, t);

	*from = t - width;
	*to = t + width;
	if (lo > 0)
		*from = fmax(*from, c->breaks[lo - 1].t +
			     c->breaks[lo - 1].within);
	if (lo < c->num_breaks)
		*to = fmin(*to, c->breaks[lo].t - c->breaks[lo].within);
	return *from < t && *to > t;
}

/* What kind of break a change is, and where in its window. */
static struct brk describe(const struct change *c, double width)
{
	double late = c->slope ? -c->level / c->slope : HUGE_VAL;
	struct brk b = { .t = c->t, .offset = c->level, .skew = c->slope,
			 .within = width / 2, .window = width };

	if (c->surely_level > SIGNIFICANT &&
	    (fabs(late) > 0.75 * width || fabs(c->slope) > STEEPEST)) {
		b.jump = true;
		b.within = width;
		return b;
	}
	b.offset = 0;
	b.t += fmin(fmax(late, -width / 2), width / 2);
	b.within = fmin(b.within, 4 * c->sigma_level / fabs(c->slope) +
			width / STEPS);
	return b;
}

static bool is_restless(const struct series s[2], double from, double to)
{
	for (int d = 0; d < 2; d++)
		for (size_t i = first_from(&s[d], from);
		     i < s[d].num && s[d].point[i].t < to; i++)
			if (s[d].point[i].restless)
				return true;
	return false;
}

/*
 * Amid bulk traffic, messages that are late in a row look like a break, and a
 * little later like another one that undoes it. The clock's own last.
 */
static bool lasts(const struct course *c, const struct series s[2],
		  const struct change *seen, double width, double drift)
{
	double from, to;
	struct change longer;

	if (!is_restless(s, seen->t - width, seen->t + width))
		return true;
	width *= LONGER;
	return window(c, seen->t, width, &from, &to) &&
	       change_at(s, from, seen->t, to, drift * LONGER, &longer) &&
	       break_surety(&longer) &&
	       (seen->surely_slope > SIGNIFICANT ?
		seen->slope * longer.slope > 0 :
		seen->level * longer.level > 0);
}

/* One size of windows; every break that stands out against its neighbours. */
static int search(struct course *c, const struct points *p,
		  const struct series s[2], double width, double drift,
		  struct change *change, double *surety)
{
	double step = width / STEPS;
	size_t n = (size_t)(p->span / step);
	int found = 0;

	for (size_t i = 0; i < n; i++) {
		double t = step * (double)i, from, to;

		surety[i] = 0;
		if (window(c, t, width, &from, &to) &&
		    change_at(s, from, t, to, drift * width, &change[i]))
			surety[i] = break_surety(&change[i]);
	}
	for (size_t i = 0; i < n && c->num_breaks < MAX_BREAKS; i++) {
		bool top = surety[i] > 0;
		struct brk b;

		for (size_t j = i > STEPS ? i - STEPS : 0;
		     top && j <= i + STEPS && j < n; j++)
			top = surety[j] < surety[i] ||
			      (surety[j] == surety[i] && j >= i);
		if (!top || !lasts(c, s, &change[i], width, drift * width))
			continue;
		b = describe(&change[i], width);
		if (insert(c, &b))
			return -ENOMEM;
		found++;
	}
	return found;
}

/* The shortest window that can have points enough. */
static double first_width(const struct points *p, const struct series s[2])
{
	size_t least = s[0].num < s[1].num ? s[0].num : s[1].num;

	return p->span * (ENOUGH + 1) / (double)(least + 1);
}

int breaks_find(struct course *c, struct points *p, double drift, bool beyond,
		curve_fn curve, void *arg)
{
	struct series s[2] = { 0 };
	struct change *change = NULL;
	double *surety = NULL, width;
	int found = 0, ret = 0;
	size_t room;

	points_look(p, beyond ? curve : NULL, arg);
	for (int d = 0; d < 2 && !ret; d++)
		ret = make_series(&s[d], p, d, beyond, curve, arg);
	if (!ret) {
		found = find_leaps(c, s);
		ret = found < 0 ? found : 0;
	}
	if (!ret && s[0].num && s[1].num) {
		width = first_width(p, s);
		room = (size_t)(STEPS * p->span / width) + 1;
		change = malloc(room * sizeof(*change));
		surety = malloc(room * sizeof(*surety));
		ret = change && surety ? 0 : -ENOMEM;
		for (; !ret && width < p->span / 4; width *= 1.5) {
			int n = search(c, p, s, width, drift, change, surety);

			if (n < 0)
				ret = n;
			else
				found += n;
		}
	}
	free(s[0].point);
	free(s[1].point);
	free(change);
	free(surety);
	return ret ? ret : found;
}

/* ---- when a clock was set ---------------------------------------------- */

void breaks_place_jump(struct brk *b, const struct points *p, double level,
		       double slope)
{
	bool up = b->offset > 0;
	/* Not before the one, not after the other. */
	double least = b->t - b->within, most = b->t + b->within;

	for (size_t i = 0; i < 2 * p->links; i++) {
		const struct side *side = &p->side[i];
		bool above = !(i & 1);

		for (size_t j = 0; j < side->heaps; j++) {
			const struct heap *h = &side->heap[j];

			for (uint32_t n = 0; n < h->samples; n++) {
				const struct sample *s = &p->sample[h->first + n];
				bool low = s->y < level + slope * (s->t - b->t);

				if (fabs(s->t - b->t) > b->within ||
				    above != low)
					continue;
				/*
				 * A limit from above that lies below the middle
				 * of a jump upward is one from before it.
				 */
				if (above == up)
					least = fmax(least, s->t);
				else
					most = fmin(most, s->t);
			}
		}
	}
	/*
	 * A clock that was set back shows some times twice: those belong to
	 * neither side. One that was set forward skips some.
	 */
	b->t = (least + most) / 2;
	b->within = fabs(most - least) / 2 + fmax(b->offset, 0) / 2;
}

/* ---- two breaks that look like one ------------------------------------- */

/* A limit, or the pressure of many messages at their mean time. */
struct local {
	double t;		/* from the break */
	double y;		/* limit: where the curve would touch it */
	double force;
	double hardness;	/* 0: no limit, but pressure */
	double sign;		/* 1: from above */
};

struct locals {
	struct local *at;
	size_t num;
	size_t room;
	struct ends ends;
};

static int add_local(struct locals *l, const struct local *at)
{
	if (array_grow(&l->at, &l->room, l->num, sizeof(*l->at)))
		return -ENOMEM;
	l->at[l->num++] = *at;
	return 0;
}

static int gather_side(struct locals *l, const struct points *p, size_t i,
		       double t, double reach, double margin)
{
	const struct side *side = &p->side[i];
	double sign = i & 1 ? -1 : 1, messages = 0;
	size_t first = l->num;

	for (size_t j = 0; j < side->heaps; j++) {
		const struct heap *h = &side->heap[j];

		if (!h->samples || fabs(h->t - t) > reach)
			continue;
		messages += (double)h->messages;
		if (add_local(l, &(struct local){
				.t = h->t - t,
				.force = (double)h->messages / side->mean,
				.sign = sign }))
			return -ENOMEM;
		for (uint32_t n = 0; n < h->samples; n++) {
			const struct sample *s = &p->sample[h->first + n];

			if (add_local(l, &(struct local){
					.t = s->t - t,
					.y = s->y - sign * margin,
					.hardness = 1,
					.sign = sign }))
				return -ENOMEM;
		}
	}
	for (; first < l->num; first++)
		l->at[first].hardness *= messages / side->mean;
	return 0;
}

/* The curve that leaves the one side at t1 and joins the other at t2. */
static double joined(const struct ends *e, double t1, double t2, double t)
{
	double a, b;

	if (t <= t1)
		return e->level[0] + e->slope[0] * t;
	if (t >= t2)
		return e->level[1] + e->slope[1] * t;
	a = e->level[0] + e->slope[0] * t1;
	b = e->level[1] + e->slope[1] * t2;
	return a + (b - a) * (t - t1) / (t2 - t1);
}

static double cost_of(const struct locals *l, double t1, double t2)
{
	double cost = 0;

	for (size_t i = 0; i < l->num; i++) {
		const struct local *a = &l->at[i];
		double y = joined(&l->ends, t1, t2, a->t), x;

		cost -= a->sign * a->force * y;
		x = a->hardness * a->sign * (y - a->y);
		if (x > 30)
			cost += x;
		else if (a->hardness && x > -30)
			cost += log1p(exp(x));
	}
	return cost;
}

/* Look around a pair of instants; they move to the best. */
static double look_around(const struct locals *l, double *t1, double *t2,
			  double step, double least)
{
	double a = *t1, b = *t2;

	for (int i = -AROUND; i <= AROUND; i++) {
		for (int j = -AROUND; j <= AROUND; j++) {
			double x = a + step * i, y = b + step * j, cost;

			if (y < x)
				continue;
			cost = cost_of(l, x, y);
			if (cost < least) {
				least = cost;
				*t1 = x;
				*t2 = y;
			}
		}
	}
	return least;
}

int breaks_split(struct brk b[2], const struct points *p, const double *margin,
		 const struct ends *e, double reach)
{
	struct locals l = { .ends = *e };
	double bend = e->slope[1] - e->slope[0], t1 = 0, t2 = 0, one, two;
	double skew, step = reach / AROUND;
	int ret = 0;

	for (size_t i = 0; !ret && i < 2 * p->links; i++)
		ret = gather_side(&l, p, i, b->t, reach, margin[i / 2]);
	if (!ret && l.num) {
		/* One break is where the sides meet, if they do. */
		one = fmin(fmax((e->level[0] - e->level[1]) / bend, -reach),
			   reach);
		one = cost_of(&l, isnan(one) ? 0 : one, isnan(one) ? 0 : one);
		two = look_around(&l, &t1, &t2, step, HUGE_VAL);
		for (; step > reach / 1000; step /= AROUND)
			two = look_around(&l, &t1, &t2, step / AROUND, two);
		skew = (joined(e, t1, t2, t2) - joined(e, t1, t2, t1)) /
		       (t2 - t1);
		if (two < one - GAIN && fabs(skew) < STEEPEST) {
			struct brk second = { .t = b->t + t2,
					      .within = (t2 - t1) / 4,
					      .settled = true,
					      .skew = e->slope[1] - skew };

			b[0] = (struct brk){ .t = b->t + t1,
					     .within = (t2 - t1) / 4,
					     .settled = true,
					     .skew = skew - e->slope[0] };
			b[1] = second;
			ret = 1;
		}
	}
	free(l.at);
	return ret;
}
