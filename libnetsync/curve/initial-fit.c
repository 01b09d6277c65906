// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The robust initial fit: in each window of time, the middle between the medians of both
 * directions; the straight part has the median slope (H. Theil, "A rank-invariant method of linear
 * and polynomial regression analysis", Proc. KNAW 53, 1950).
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "curve/initial-fit.h"
#include "util/statistics.h"
#include "util/whole.h"

/* Maximum number of windows; limits time. Chosen. */
#define MAX_WINDOWS 4096
/* Least number of bins in a window of the busiest link. Chosen. */
#define BINS_OF_WINDOW 8
/* Least number of bins in a window of thin links together. Chosen. */
#define BINS_OF_POOLED 32
/*
 * Number of passes; each fits the residuals of the last, because medians are biased on a slope.
 * Chosen.
 */
#define PASSES 3
/* Slopes are taken over the number of windows divided by this. Chosen. */
#define SLOPE_PARTS 16

double initial_fit_at(void *initial_fit, double t)
{
	struct initial_fit *r = initial_fit;
	size_t lo = 0, hi = r->num;

	if (hi < 2)
		return hi ? r->y[0] : 0;
	if (r->last + 1 < hi && r->t[r->last] <= t && t < r->t[r->last + 1]) {
		lo = r->last;
		hi = lo + 1;
	}
	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;

		if (r->t[mid] <= t)
			lo = mid;
		else
			hi = mid;
	}
	if (lo + 1 == r->num)
		lo--;
	r->last = lo;
	return r->y[lo] + (r->y[lo + 1] - r->y[lo]) * (t - r->t[lo]) / (r->t[lo + 1] - r->t[lo]);
}

/* Compute the middle between the medians of both directions of the busiest link in a window. */
static bool middle_of_window(const struct observations *p, size_t *at, double end, double *buffer,
			     double *y)
{
	size_t busiest = 0;

	for (size_t i = 0; i < p->links; i++) {
		double m[2], t;
		size_t n[2];

		for (int s = 0; s < 2; s++) {
			const struct obs_direction *dir = &p->direction[2 * i + (size_t)s];
			size_t *a = &at[2 * i + (size_t)s];

			n[s] = 0;
			for (; *a < dir->bins && dir->bin[*a].t < end; ++*a)
				if (dir->bin[*a].num)
					buffer[n[s]++] = observations_innermost(p, &dir->bin[*a], s,
										&t);
			if (n[s])
				m[s] = statistics_median(buffer, n[s]);
		}
		if (n[0] && n[1] && (n[0] < n[1] ? n[0] : n[1]) > busiest) {
			busiest = n[0] < n[1] ? n[0] : n[1];
			*y = (m[ABOVE] - m[BELOW]) / 2;
		}
	}
	return busiest;
}

/* Fit the residuals of an earlier fit. */
static int find_middles(struct initial_fit *r, struct initial_fit *beyond, struct observations *p)
{
	size_t *at = calloc(2 * p->links + 1, sizeof(*at));
	size_t most = observations_most_bins(p),
	       windows = most / (p->pooled ? BINS_OF_POOLED : BINS_OF_WINDOW);
	double *buffer = malloc((most + 1) * sizeof(*buffer));

	windows = windows < 2 ? 2 : windows > MAX_WINDOWS ? MAX_WINDOWS : windows;
	r->t = malloc(windows * sizeof(*r->t));
	r->y = malloc(windows * sizeof(*r->y));
	if (!at || !buffer || !r->t || !r->y) {
		free(at);
		free(buffer);
		return -ENOMEM;
	}
	observations_set_residuals(p, initial_fit_at, beyond);
	for (size_t w = 0; w < windows; w++) {
		double width = p->span / (double)windows;
		double t = width * ((double)w + 0.5), y;

		if (!middle_of_window(p, at, width * (double)(w + 1), buffer, &y))
			continue;
		r->t[r->num] = t;
		r->y[r->num++] = y + initial_fit_at(beyond, t);
	}
	free(at);
	free(buffer);
	return 0;
}

/* Move the median slope and offset to the straight part of the correction. */
static int move_straight_part(struct initial_fit *r, struct observations *p, struct correction *c)
{
	size_t n = r->num, apart = n / SLOPE_PARTS ? n / SLOPE_PARTS : 1;
	double *v = malloc((n + 1) * sizeof(*v)), slope = 0, offset;

	if (!v)
		return -ENOMEM;
	for (size_t i = 0; i + apart < n; i++)
		v[i] = (r->y[i + apart] - r->y[i]) / (r->t[i + apart] - r->t[i]);
	if (n > apart)
		slope = statistics_median(v, n - apart);
	for (size_t i = 0; i < n; i++)
		v[i] = r->y[i] - slope * r->t[i];
	offset = statistics_median(v, n);
	free(v);
	for (size_t i = 0; i < n; i++)
		r->y[i] -= offset + slope * r->t[i];
	observations_detrend(p, offset, slope);
	c->skew += slope;
	c->frac += add_whole_ns(&c->offset, offset);
	return 0;
}

int initial_fit_find(struct initial_fit *r, struct observations *p, struct correction *c)
{
	struct initial_fit last = { 0 };
	int ret = 0;

	for (int i = 0; i < PASSES && !ret; i++) {
		initial_fit_release(&last);
		last = *r;
		*r = (struct initial_fit){ 0 };
		ret = find_middles(r, &last, p);
		if (!ret)
			ret = move_straight_part(r, p, c);
	}
	initial_fit_release(&last);
	return ret;
}

void initial_fit_release(struct initial_fit *r)
{
	free(r->t);
	free(r->y);
	memset(r, 0, sizeof(*r));
}
