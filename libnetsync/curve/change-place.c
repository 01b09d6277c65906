// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Locate change points exactly. A phase step lies between the messages that are inconsistent with
 * either of its sides. A rate step may be two steps: the likelihood decides, given the curves on
 * either side.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "curve/change-point.h"
#include "curve/softplus.h"
#include "util/array.h"

/*
 * Shortest suspension of a machine, ns. In shorter pauses too few messages pass to distinguish a
 * suspended clock from one that was stepped back. Chosen.
 */
#define MIN_SUSPENDED 1e9
/*
 * Expected messages in a period, of which none would arrive with a probability of exp(-8). Chosen.
 */
#define BUSY 8
/* Grid points before and after the current instant in each stage of the search. Chosen. */
#define GRID 10
/* First step of the finest grid: this part of the radius. Chosen. */
#define FINEST_SHARE 1000
/* Gain in log likelihood that justifies a second change point. Chosen. */
#define GAIN 12.0
/*
 * A larger change of slope may be a phase step, whatever messages suggest: adjtime(3) slews by 500
 * ppm, chronyd mostly by less than 100.
 */
#define STEEP 300e-6

/* ---- phase steps -------------------------------------------------------- */

/*
 * Would messages arrive in a period of @duration (ns) after @t, or before @t if @duration is
 * negative? If the clock had shown these times twice, they would have messages.
 */
static bool would_have_messages(const struct observations *p, double t, double duration)
{
	size_t n = 0;

	for (size_t i = 0; i < p->num && n < BUSY; i++) {
		double d = p->obs[i].t - t;

		n += d * duration >= 0 && fabs(d) <= fabs(duration);
	}
	return n >= BUSY;
}

void change_point_place_phase_step(struct change_point *b, const struct observations *p,
				   double level, double slope)
{
	bool up = b->offset > 0;
	double repeated;
	/* The step lies between these times. */
	double least = b->t - b->uncertainty, most = b->t + b->uncertainty;

	for (size_t i = 0; i < 2 * p->links; i++) {
		const struct obs_direction *dir = &p->direction[i];
		bool above = !(i & 1);

		for (size_t j = 0; j < dir->bins; j++) {
			const struct obs_bin *h = &dir->bin[j];

			for (uint32_t n = 0; n < h->num; n++) {
				const struct observation *s = &p->obs[h->from + n];
				bool low = s->y < level + slope * (s->t - b->t);

				if (fabs(s->t - b->t) > b->uncertainty || above != low)
					continue;
				/*
				 * If a limit from above lies below the middle of an upward step,
				 * its message is from before the step.
				 */
				if (above == up)
					least = fmax(least, s->t);
				else
					most = fmin(most, s->t);
			}
		}
	}
	/*
	 * A clock that was stepped back shows some times twice, which belong to neither side. A
	 * clock that was stepped forward skips some. A clock that stood still does neither.
	 */
	repeated = fmax(least - most, 0);
	b->t = (least + most) / 2;
	b->uncertainty = fabs(most - least) / 2;
	b->stood_still = b->offset > 4 * fmax(b->uncertainty, MIN_SUSPENDED) &&
			 repeated < b->offset / 4 &&
			 would_have_messages(p, fmin(least, most), -b->offset / 2) &&
			 would_have_messages(p, fmax(least, most), b->offset / 2);
	if (!b->stood_still)
		b->uncertainty += fmax(b->offset, 0) / 2;
}

/* ---- two change points that look like one ------------------------------- */

/* A constraint, or the score of a bin at its mean time. */
struct local {
	double t;	      /* since the change point, ns */
	double y;	      /* value at which the curve touches the limit, ns */
	double score;	      /* 1 / ns */
	double scale_inverse; /* 1 / ns; 0: a score, not a constraint */
	double sign;	      /* 1: from above, -1: from below */
};

struct locals {
	struct local *at;
	size_t num;
	size_t room;
	struct ends ends;
};

static int local_add(struct locals *l, const struct local *at)
{
	if (array_grow(&l->at, &l->room, l->num, sizeof(*l->at)))
		return -ENOMEM;
	l->at[l->num++] = *at;
	return 0;
}

static int gather_locals_of_side(struct locals *l, const struct observations *p, size_t i, double t,
				 double radius, double margin)
{
	const struct obs_direction *dir = &p->direction[i];
	double sign = i & 1 ? -1 : 1, messages = 0;
	size_t first = l->num;

	for (size_t j = 0; j < dir->bins; j++) {
		const struct obs_bin *h = &dir->bin[j];

		if (!h->num || fabs(h->t - t) > radius)
			continue;
		messages += (double)h->messages;
		if (local_add(l, &(struct local){ .t = h->t - t,
						  .score = (double)h->messages / dir->mean,
						  .sign = sign }))
			return -ENOMEM;
		for (uint32_t n = 0; n < h->num; n++) {
			const struct observation *s = &p->obs[h->from + n];

			if (local_add(l, &(struct local){ .t = s->t - t,
							  .y = s->y - sign * margin,
							  .scale_inverse = 1,
							  .sign = sign }))
				return -ENOMEM;
		}
	}
	for (; first < l->num; first++)
		l->at[first].scale_inverse *= messages / dir->mean;
	return 0;
}

/* Evaluate the curve that leaves the earlier curve at t1 and joins the later one at t2. */
static double curve_joined_at(const struct ends *e, double t1, double t2, double t)
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

static double cost_of_instants(const struct locals *l, double t1, double t2)
{
	double cost = 0;

	for (size_t i = 0; i < l->num; i++) {
		const struct local *a = &l->at[i];
		double y = curve_joined_at(&l->ends, t1, t2, a->t);

		cost -= a->sign * a->score * y;
		if (a->scale_inverse)
			cost += softplus(a->scale_inverse * a->sign * (y - a->y));
	}
	return cost;
}

/* Search a grid around a pair of instants, and move them to the best pair. */
static double search_instants(const struct locals *l, double *t1, double *t2, double step,
			      double least)
{
	double a = *t1, b = *t2;

	for (int i = -GRID; i <= GRID; i++) {
		for (int j = -GRID; j <= GRID; j++) {
			double x = a + step * i, y = b + step * j, cost;

			if (y < x)
				continue;
			cost = cost_of_instants(l, x, y);
			if (cost < least) {
				least = cost;
				*t1 = x;
				*t2 = y;
			}
		}
	}
	return least;
}

/* Search for the single instant at which the earlier curve ends and the later one begins. */
static double search_single_instant(const struct locals *l, double radius, double *t)
{
	double least = HUGE_VAL, at = 0;

	for (double step = radius / GRID; step > radius / FINEST_SHARE / GRID;
	     step /= GRID, at = *t) {
		for (int i = -GRID; i <= GRID; i++) {
			double x = at + step * i, cost = cost_of_instants(l, x, x);

			if (cost < least) {
				least = cost;
				*t = x;
			}
		}
	}
	return least;
}

int change_point_split(struct change_point b[2], const struct observations *p, const double *margin,
		       const struct ends *e, double radius)
{
	struct locals l = { .ends = *e };
	double bend = e->slope[1] - e->slope[0], t1 = 0, t2 = 0, one, two;
	double skew, step = radius / GRID, t = 0, jump;
	int ret = 0;

	for (size_t i = 0; !ret && i < 2 * p->links; i++)
		ret = gather_locals_of_side(&l, p, i, b->t, radius, margin[i / 2]);
	if (!ret && l.num) {
		/* A single rate step is where both curves meet. */
		one = fmin(fmax((e->level[0] - e->level[1]) / bend, -radius), radius);
		one = cost_of_instants(&l, isnan(one) ? 0 : one, isnan(one) ? 0 : one);
		two = search_instants(&l, &t1, &t2, step, HUGE_VAL);
		for (; step > radius / FINEST_SHARE; step /= GRID)
			two = search_instants(&l, &t1, &t2, step / GRID, two);
		jump = search_single_instant(&l, radius, &t);
		skew = (curve_joined_at(e, t1, t2, t2) - curve_joined_at(e, t1, t2, t1)) /
		       (t2 - t1);
		if (two < one - GAIN && fabs(skew) < MAX_RATE_STEP) {
			struct change_point second = { .t = b->t + t2,
						       .uncertainty = (t2 - t1) / 4,
						       .placed = true,
						       .skew = e->slope[1] - skew };

			b[0] = (struct change_point){ .t = b->t + t1,
						      .uncertainty = (t2 - t1) / 4,
						      .placed = true,
						      .may_jump = jump < two + GAIN ||
								  fabs(skew) > STEEP,
						      .skew = skew - e->slope[0] };
			b[1] = second;
			ret = 1;
		}
	}
	free(l.at);
	return ret;
}
