// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Change-point detection by two-sample regression: a line is fitted before an instant, another one
 * after it, in windows of many lengths. There is a change point where the two differ by more than
 * their standard deviations and an oscillator's drift explain, with the same sign in both
 * directions (a changed delay moves one direction, or both apart). Short windows come first,
 * because they distinguish neighbouring change points.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "curve/change-point.h"
#include "util/search.h"
#include "util/statistics.h"

/* Messages of a group whose lowest makes a point. */
#define GROUP ((double)GROUP_MESSAGES)
/* Least number of points on either side of an instant to which a line is fitted. Chosen. */
#define MIN_POINTS 5
/* Least number of standard deviations of a significant change. Chosen. */
#define SIGNIFICANT 6.0
/* Number of instants tried within the length of a window. Chosen. */
#define STEPS 4
/* Ratio of the lengths of successive windows. Chosen. */
#define WIDEN 1.5
/* Number of points on each side of an instant whose median is the level. Chosen. */
#define LEVEL_POINTS 5
/* Least number of level points near an end of the span: of 3, one may be wrong. Chosen. */
#define LEAST_LEVEL_POINTS 3
/* Number of points whose median determines the dispersion. Chosen. */
#define DISPERSION_POINTS 7
/* Median second difference of exponential delays, in means; by simulation. */
#define USUAL 1.3
/* Factor by which the median of DISPERSION_POINTS may be larger by chance. Chosen. */
#define BY_CHANCE 4.0
/* Points are overdispersed if their deviation is larger by this factor. Chosen. */
#define OVERDISPERSED 2.0
/*
 * A change among overdispersed points must also be visible in windows longer by this factor.
 * Chosen.
 */
#define LONGER 4

struct weighted_point {
	double t;
	double y;
	double weight;	    /* 1 / variance */
	bool overdispersed; /* weight is reduced for overdispersion */
};

struct series {
	struct weighted_point *point;
	size_t num;
	double other_error; /* error of the other hosts' corrections together, ns */
};

/* ---- the two series ---------------------------------------------------- */

static int compare_change_points_by_time(const void *a, const void *b)
{
	const struct weighted_point *p = a, *q = b;

	if (p->t != q->t)
		return p->t < q->t ? -1 : 1;
	return p->y < q->y ? -1 : p->y > q->y;
}

/* Return the least expected error among the links' other hosts. */
static double least_error_of_other_hosts(const struct observations *p)
{
	double least = HUGE_VAL;

	for (size_t i = 0; i < 2 * p->links; i++)
		if (p->direction[i].bins)
			least = fmin(least, p->direction[i].other_error);
	return least;
}

/* Return the second difference of a point and its two neighbours. */
static double second_difference_of_groups(const struct bin_group *g)
{
	double apart = g[1].t - g[-1].t;
	double part = apart > 0 ? (g[0].t - g[-1].t) / apart : 0.5;

	return 2 * fabs(g[-1].y + part * (g[1].y - g[-1].y) - g[0].y);
}

/*
 * Return the median second difference of points from @at on, or of the last points, in mean delays.
 */
static double median_second_difference(const struct bin_group *g, size_t n, size_t at, double mean)
{
	double v[DISPERSION_POINTS];
	size_t m = 0;

	if (at + DISPERSION_POINTS + 1 > n)
		at = n < DISPERSION_POINTS + 1 ? 0 : n - DISPERSION_POINTS - 1;
	at = at ? at : 1;
	for (size_t i = at; i + 1 < n && i < at + DISPERSION_POINTS; i++)
		v[m++] = second_difference_of_groups(&g[i]) * g[i].messages / mean;
	return statistics_median(v, m);
}

/*
 * Return the overdispersion of the points around one, compared with independent messages. In bulk
 * traffic, many successive messages are late together. A change point is part of at most two second
 * differences, a wrong message of three.
 */
static double dispersion_around_group(const struct bin_group *g, size_t n, size_t at, double mean)
{
	size_t from = at > DISPERSION_POINTS ? at - DISPERSION_POINTS + 1 : 1;
	double most = 1;

	for (; from <= at; from += DISPERSION_POINTS / 2)
		most = fmax(most, median_second_difference(g, n, from, mean) / (USUAL * BY_CHANCE));
	return most;
}

/* Collect the points of all links, each link's median subtracted. */
static int series_make(struct series *s, const struct observations *p, int side, bool beyond,
		       curve_fn curve, void *arg)
{
	size_t most = observations_most_bins(p) + 1, room = 1;
	double links = 0;
	struct bin_group *g = malloc(most * sizeof(*g));
	double *v = malloc(most * sizeof(*v));

	for (size_t i = 0; i < p->links; i++)
		room += p->direction[2 * i + (size_t)side].bins;
	s->num = 0;
	s->other_error = least_error_of_other_hosts(p);
	s->point = malloc(room * sizeof(*s->point));
	if (!g || !v || !s->point) {
		free(g);
		free(v);
		return -ENOMEM;
	}
	for (size_t i = 0; i < p->links; i++) {
		const struct obs_direction *dir = &p->direction[2 * i + (size_t)side];
		size_t n = observations_group(p, dir, side, GROUP, g);
		double middle;

		if (dir->other_error > 2 * s->other_error)
			continue;
		links++;
		for (size_t j = 0; j < n; j++) {
			double y = beyond ? 0 : curve(arg, g[j].t);

			g[j].y -= dir->mean / g[j].messages;
			v[j] = g[j].y - (side == ABOVE ? y : -y);
		}
		middle = statistics_median(v, n);
		for (size_t j = 0; j < n; j++) {
			double y = g[j].y - middle;
			double more = dispersion_around_group(g, n, j, dir->mean);
			/*
			 * All messages with coarse stamps are off together by up to the resolution.
			 */
			double sigma = hypot(more * dir->mean / g[j].messages, p->resolution);

			s->point[s->num++] = (struct weighted_point){
				.t = g[j].t,
				.y = side == ABOVE ? y : -y,
				.weight = 1 / (sigma * sigma),
				.overdispersed = more > OVERDISPERSED,
			};
		}
	}
	s->other_error /= sqrt(fmax(links, 1));
	qsort(s->point, s->num, sizeof(*s->point), compare_change_points_by_time);
	free(g);
	free(v);
	return 0;
}

/* ---- two lines --------------------------------------------------------- */

/* A weighted least-squares line through the points around an instant, with variances. */
struct fitted {
	double level;
	double slope;
	double var_level;
	double var_slope;
	size_t num;
};

static void fit_line(struct fitted *f, const struct weighted_point *p, size_t n, double at)
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

/* The change of level and slope at an instant. */
struct change {
	double t;
	double level; /* mean of both directions, ns */
	double slope;
	double sigma_level;
	double sigma_slope;
	double z_level; /* the smaller of both, in standard deviations */
	double z_slope;
};

static size_t series_first_from(const struct series *s, double t)
{
	return NUM_BEFORE(s->point, s->num, t, t);
}

/* Return the smaller of two values if both have the same sign, else 0. */
static double smaller_of_same_sign(double a, double b)
{
	return a * b > 0 ? fmin(fabs(a), fabs(b)) : 0;
}

/* Return the part of a change that exceeds the clock's own drift. */
static double change_beyond_drift(double change, double drift)
{
	return copysign(fmax(fabs(change) - drift, 0), change);
}

/*
 * Estimate the change at @t from windows on both sides. @drift: largest change of the slope in the
 * window without a step.
 */
static bool change_estimate_at(const struct series s[2], double from, double t, double to,
			       double drift, struct change *c)
{
	double sag = drift * (to - from) / 2;
	double level[2], slope[2], sl[2], ss[2];

	for (int d = 0; d < 2; d++) {
		size_t a = series_first_from(&s[d], from);
		size_t m = series_first_from(&s[d], t);
		size_t b = series_first_from(&s[d], to);
		struct fitted l, r;

		if (m - a < MIN_POINTS || b - m < MIN_POINTS)
			return false;
		fit_line(&l, s[d].point + a, m - a, t);
		fit_line(&r, s[d].point + m, b - m, t);
		if (!l.num || !r.num)
			return false;
		level[d] = r.level - l.level;
		slope[d] = r.slope - l.slope;
		/* Errors of the other hosts do not average out. */
		sl[d] = sqrt(r.var_level + l.var_level) + s[d].other_error;
		ss[d] = sqrt(r.var_slope + l.var_slope) + s[d].other_error / fmin(t - from, to - t);
	}
	*c = (struct change){
		.t = t,
		.level = (level[0] + level[1]) / 2,
		.slope = (slope[0] + slope[1]) / 2,
		.sigma_level = hypot(sl[0], sl[1]) / 2,
		.sigma_slope = hypot(ss[0], ss[1]) / 2,
		.z_level = smaller_of_same_sign(change_beyond_drift(level[0], sag) / sl[0],
						change_beyond_drift(level[1], sag) / sl[1]),
		.z_slope = smaller_of_same_sign(change_beyond_drift(slope[0], drift) / ss[0],
						change_beyond_drift(slope[1], drift) / ss[1]),
	};
	return true;
}

/* Return the significance of a change in standard deviations; 0: not significant. */
static double significance_of_change(const struct change *c)
{
	double significance = 0;

	/* A steeper change is due to a phase step nearby, which is found separately. */
	if (c->z_slope > SIGNIFICANT && fabs(c->slope) < MAX_RATE_STEP)
		significance = c->z_slope;
	if (c->z_level > SIGNIFICANT)
		significance = fmax(significance, c->z_level);
	return significance;
}

/* ---- the list ---------------------------------------------------------- */

static int change_point_insert(struct correction *c, const struct change_point *b)
{
	size_t i = c->num_changes;
	struct change_point *more = realloc(c->change, (i + 1) * sizeof(*more));

	if (!more)
		return -ENOMEM;
	c->change = more;
	c->num_changes++;
	for (; i && more[i - 1].t > b->t; i--)
		more[i] = more[i - 1];
	more[i] = *b;
	return 0;
}

/* ---- phase steps -------------------------------------------------------- */

/* Return the number of points beside an instant for a median: odd, to avoid mixing levels. */
static size_t count_level_points(size_t num)
{
	return num >= LEVEL_POINTS	 ? LEVEL_POINTS :
	       num >= LEAST_LEVEL_POINTS ? LEAST_LEVEL_POINTS :
					   0;
}

/* Compute the change between the medians of a few points before and after an instant. */
static bool phase_step_estimate(const struct series *s, size_t m, double *step, double *limit)
{
	double before[LEVEL_POINTS], after[LEVEL_POINTS], apart;
	size_t num[2] = { count_level_points(m), count_level_points(s->num - m) };

	if (!num[0] || !num[1])
		return false;
	for (size_t i = 0; i < num[0]; i++)
		before[i] = s->point[m - 1 - i].y;
	for (size_t i = 0; i < num[1]; i++)
		after[i] = s->point[m + i].y;
	apart = s->point[m + num[1] / 2].t - s->point[m - 1 - num[0] / 2].t;
	*step = statistics_median(after, num[1]) - statistics_median(before, num[0]);
	*limit = MAX_RATE_STEP * apart + 10 / sqrt(s->point[m].weight);
	return true;
}

/*
 * A step that is too large for any rate is visible at all instants near it, whatever else happens.
 * Place it in the middle of these instants.
 */
static int phase_steps_find(struct correction *c, const struct series s[2])
{
	struct change_point b = { .phase_step = true };
	double from = 0, to = -1;
	int found = 0;

	for (size_t i = 0; i <= s[ABOVE].num; i++) {
		double step[2], limit[2], t, size = 0;

		t = i < s[ABOVE].num ? s[ABOVE].point[i].t : HUGE_VAL;
		if (phase_step_estimate(&s[ABOVE], i, &step[ABOVE], &limit[ABOVE]) &&
		    phase_step_estimate(&s[BELOW], series_first_from(&s[BELOW], t), &step[BELOW],
					&limit[BELOW]) &&
		    fabs(step[ABOVE]) > limit[ABOVE] && fabs(step[BELOW]) > limit[BELOW])
			size = smaller_of_same_sign(step[ABOVE], step[BELOW]);
		if (size > 0) {
			b.offset = copysign(size, step[ABOVE]);
			from = to < from ? s[ABOVE].point[i - 1].t : from;
			to = t;
			continue;
		}
		if (to < from)
			continue;
		b.t = (from + to) / 2;
		b.window = b.uncertainty = to - from;
		if (c->num_changes < MAX_CHANGE_POINTS) {
			if (change_point_insert(c, &b))
				return -ENOMEM;
			found++;
		}
		to = from - 1;
	}
	return found;
}

/* ---- search ------------------------------------------------------------ */

/* Find the window around @t, which ends at the next known change point. */
static bool window_around(const struct correction *c, double t, double width, double *from,
			  double *to)
{
	size_t lo = correction_changes_before(c, t);

	*from = t - width;
	*to = t + width;
	if (lo > 0)
		*from = fmax(*from, c->change[lo - 1].t + c->change[lo - 1].uncertainty);
	if (lo < c->num_changes)
		*to = fmin(*to, c->change[lo].t - c->change[lo].uncertainty);
	return *from<t && * to> t;
}

/* Classify a change as a rate step or a phase step, and place it within its window. */
static struct change_point change_classify(const struct change *c, double width)
{
	double late = c->slope ? -c->level / c->slope : HUGE_VAL;
	struct change_point b = { .t = c->t,
				  .offset = c->level,
				  .skew = c->slope,
				  .uncertainty = width / 2,
				  .window = width };

	if (c->z_level > SIGNIFICANT &&
	    (fabs(late) > 0.75 * width || fabs(c->slope) > MAX_RATE_STEP)) {
		b.phase_step = true;
		b.uncertainty = width;
		return b;
	}
	b.offset = 0;
	b.t += fmin(fmax(late, -width / 2), width / 2);
	b.uncertainty = fmin(b.uncertainty, 4 * c->sigma_level / fabs(c->slope) + width / STEPS);
	return b;
}

static bool change_is_overdispersed(const struct series s[2], double from, double to)
{
	for (int d = 0; d < 2; d++)
		for (size_t i = series_first_from(&s[d], from);
		     i < s[d].num && s[d].point[i].t < to; i++)
			if (s[d].point[i].overdispersed)
				return true;
	return false;
}

/*
 * Is a change still visible in longer windows? In bulk traffic, successive late messages look like
 * a change point, followed by another that undoes it. Changes of the clock last.
 */
static bool change_lasts(const struct correction *c, const struct series s[2],
			 const struct change *seen, double width, double drift)
{
	double from, to;
	struct change longer;

	if (!change_is_overdispersed(s, seen->t - width, seen->t + width))
		return true;
	width *= LONGER;
	return window_around(c, seen->t, width, &from, &to) &&
	       change_estimate_at(s, from, seen->t, to, drift * LONGER, &longer) &&
	       significance_of_change(&longer) &&
	       (seen->z_slope > SIGNIFICANT ? seen->slope * longer.slope > 0 :
					      seen->level * longer.level > 0);
}

/* Search windows of one length for local maxima of significance. */
static int search_windows_of_width(struct correction *c, const struct observations *p,
				   const struct series s[2], double width, double drift,
				   struct change *change, double *significance)
{
	double step = width / STEPS;
	size_t n = (size_t)(p->span / step);
	int found = 0;

	for (size_t i = 0; i < n; i++) {
		double t = step * (double)i, from, to;

		significance[i] = 0;
		if (window_around(c, t, width, &from, &to) &&
		    change_estimate_at(s, from, t, to, drift * width, &change[i]))
			significance[i] = significance_of_change(&change[i]);
	}
	for (size_t i = 0; i < n && c->num_changes < MAX_CHANGE_POINTS; i++) {
		bool top = significance[i] > 0;
		struct change_point b;

		for (size_t j = i > STEPS ? i - STEPS : 0; top && j <= i + STEPS && j < n; j++)
			top = significance[j] < significance[i] ||
			      (significance[j] == significance[i] && j >= i);
		if (!top || !change_lasts(c, s, &change[i], width, drift * width))
			continue;
		b = change_classify(&change[i], width);
		if (change_point_insert(c, &b))
			return -ENOMEM;
		found++;
	}
	return found;
}

/* Return the length of the shortest window that can have MIN_POINTS on either side. */
static double shortest_window(const struct observations *p, const struct series s[2])
{
	size_t least = s[0].num < s[1].num ? s[0].num : s[1].num;

	return p->span * (MIN_POINTS + 1) / (double)(least + 1);
}

int change_points_find(struct correction *c, struct observations *p, double drift, bool beyond,
		       curve_fn curve, void *arg)
{
	struct series s[2] = { 0 };
	struct change *change = NULL;
	double *significance = NULL, width;
	int found = 0, ret = 0;
	size_t room;

	observations_set_residuals(p, beyond ? curve : NULL, arg);
	for (int d = 0; d < 2 && !ret; d++)
		ret = series_make(&s[d], p, d, beyond, curve, arg);
	if (!ret) {
		found = phase_steps_find(c, s);
		ret = found < 0 ? found : 0;
	}
	if (!ret && s[0].num && s[1].num) {
		width = shortest_window(p, s);
		room = (size_t)(STEPS * p->span / width) + 1;
		change = malloc(room * sizeof(*change));
		significance = malloc(room * sizeof(*significance));
		ret = change && significance ? 0 : -ENOMEM;
		for (; !ret && width < p->span / 4; width *= WIDEN) {
			int n = search_windows_of_width(c, p, s, width, drift, change,
							significance);

			if (n < 0)
				ret = n;
			else
				found += n;
		}
	}
	free(s[0].point);
	free(s[1].point);
	free(change);
	free(significance);
	return ret ? ret : found;
}
