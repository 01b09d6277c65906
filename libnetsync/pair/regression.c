// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Estimate lines by least squares, for comparison. All delays affect these lines, not only the
 * smallest ones.
 */
#include <math.h>

#include "pair/estimate.h"
#include "util/whole.h"
#include "util/wide.h"

enum { UPPER, LOWER };

/*
 * Limits for slopes: those of clocks at half and at twice the rate of another clock, as in struct
 * netsync_clock_point. Beyond these limits, delays would change as fast as time passes.
 */
#define LEAST_SLOPE (-0.5)
#define MOST_SLOPE 1.0

/* Find the least-squares line of a direction. Return false if its slope is unknown. */
static bool fit_least_squares(const struct direction *c, struct line *l)
{
	__int128 n = c->num;
	int64_t x = (int64_t)floor_div(c->sum_x, n);
	int64_t y = (int64_t)floor_div(c->sum_y, n);
	__int128 rest_x = c->sum_x - n * x, rest_y = c->sum_y - n * y;
	double dx = (double)rest_x / (double)n, dy = (double)rest_y / (double)n;
	/* Compute sums about (x, y) exactly, and convert them to sums about the mean. */
	double xx = wide_to_double(wide_add(c->sum_xx, wide_multiply(-c->sum_x - rest_x, x))) -
		    (double)rest_x * dx;
	double xy = wide_to_double(wide_add(wide_add(c->sum_xy, wide_multiply(-c->sum_y, x)),
					    wide_multiply(-rest_x, y))) -
		    (double)rest_x * dy;
	bool known = xx > 0;

	*l = (struct line){ .x = x, .y = y };
	if (known)
		l->slope = fmin(fmax(xy / xx, LEAST_SLOPE), MOST_SLOPE);
	l->frac = dy - l->slope * dx;
	return known;
}

void estimate_regression(struct estimate *e, const struct pair *p, double max_slope)
{
	const struct direction *c = p->direction;
	struct line l[2];
	bool known[2];
	double d;

	estimate_max_margin(e, p, max_slope);
	if (!c[UPPER].num || !c[LOWER].num) {
		fit_least_squares(c[UPPER].num ? &c[UPPER] : &c[LOWER], &e->line);
		return;
	}
	for (int side = UPPER; side <= LOWER; side++)
		known[side] = fit_least_squares(&c[side], &l[side]);
	for (int side = UPPER; side <= LOWER; side++)
		if (!known[side])
			l[side].slope = l[!side].slope;
	e->line.x = l[0].x + (l[1].x - l[0].x) / 2;
	e->line.y = l[0].y;
	e->line.slope = (l[0].slope + l[1].slope) / 2;
	d = (line_value_above(&l[0], e->line.x, l[0].y) +
	     line_value_above(&l[1], e->line.x, l[0].y)) /
	    2;
	e->line.frac = add_whole_ns(&e->line.y, d);
}
