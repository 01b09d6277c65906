// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The innermost residual of each group of bins is predicted from the groups before it, and from
 * those after it, by the line of the median slope (H. Theil 1950; P. K. Sen, "Estimates of the
 * regression coefficient based on Kendall's tau", JASA 63, 1968). A group that lies inward of both
 * predictions by more than OUTLIER median deviations is rejected. A stepped clock agrees with one
 * side of its change point; a wrong message agrees with neither.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "curve/outliers.h"
#include "util/statistics.h"

/* Number of groups on each side that predict a group. Chosen. */
#define NEIGHBOURS 8
/* A side with fewer groups does not predict by a line of its own. Chosen. */
#define FEW (NEIGHBOURS / 2)
/*
 * With fewer groups than this (unless of the smallest size), keep the first and the last FEW: such
 * groups are so long that a curve with too little curvature can be far off there. Chosen by
 * bench-truth's quartz: 100 and 400 give the same errors.
 */
#define FEW_GROUPS 100
/*
 * Reject at most one group in this many: more are due to the clock. If 1 message in 40 is wrong, a
 * third of the groups of 16 contain a wrong one. With 16, rejection fails at 1 in 200.
 */
#define MAX_SHARE 3
/* Number of median absolute deviations inward; 5.4 standard deviations of a normal distribution. */
#define OUTLIER 8.0
/* Estimate the deviation from one group in this many. Chosen, for speed. */
#define SAMPLE_EVERY 4
#define SAMPLE_GROUPS 512

/* Scratch space for one direction. */
struct outlier_workspace {
	struct bin_group *group;
	double *inward;
	double *buffer;
};

/* Allocate scratch space: 0 or -ENOMEM; free it in any case. */
static int outlier_workspace_new(struct outlier_workspace *d, const struct observations *p)
{
	size_t most = observations_most_bins(p) + 1;

	d->group = malloc(most * sizeof(*d->group));
	d->inward = malloc(most * sizeof(*d->inward));
	d->buffer = malloc(most * sizeof(*d->buffer));
	return d->group && d->inward && d->buffer ? 0 : -ENOMEM;
}

static void outlier_workspace_free(struct outlier_workspace *d)
{
	free(d->group);
	free(d->inward);
	free(d->buffer);
}

/*
 * Predict the value at @t from @n groups. *leverage: factor by which its deviation is larger,
 * because @t is outside of the groups.
 */
static double predict_group(const struct bin_group *g, size_t n, double t, double *leverage)
{
	double v[NEIGHBOURS * (NEIGHBOURS - 1) / 2], slope, least, most;
	size_t m = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t j = i + 1; j < n; j++)
			if (g[j].t > g[i].t)
				v[m++] = (g[j].y - g[i].y) / (g[j].t - g[i].t);
	slope = statistics_median(v, m);
	least = most = g[0].t;
	for (size_t i = 0; i < n; i++) {
		v[i] = g[i].y - slope * (g[i].t - t);
		least = fmin(least, g[i].t);
		most = fmax(most, g[i].t);
	}
	*leverage = fmax(1, 2 * fmax(least - t, t - most) / fmax(most - least, 1));
	return statistics_median(v, n);
}

/*
 * Reject the observations of a bin whose residuals are below a limit. They stay behind those kept,
 * so that restoring the number restores them.
 */
static size_t reject_bin_below(struct observations *p, struct obs_bin *h, int side, double limit)
{
	size_t rejected = 0;

	for (uint32_t i = 0; i < h->num;) {
		struct observation *s = &p->obs[h->from + i], *last;
		struct observation out = *s;

		if ((side == ABOVE ? s->residual : -s->residual) >= limit) {
			i++;
			continue;
		}
		last = &p->obs[h->from + --h->num];
		*s = *last;
		*last = out;
		rejected++;
	}
	return rejected;
}

/* Do bins lie in the window of a change point, where no curve is known? */
static bool is_near_change_point(const struct correction *c, const struct obs_direction *dir,
				 size_t first, size_t last)
{
	double from = dir->bin[first].t, to = dir->bin[last].t;

	for (size_t i = 0; i < c->num_changes; i++)
		if (c->change[i].t + c->change[i].uncertainty > from - dir->width &&
		    c->change[i].t - c->change[i].uncertainty < to + dir->width)
			return true;
	return false;
}

size_t outliers_reject_below(struct observations *p, const struct correction *c, size_t direction,
			     size_t bin, double limit)
{
	struct obs_direction *dir = &p->direction[direction];

	if (is_near_change_point(c, dir, bin, bin))
		return 0;
	return reject_bin_below(p, &dir->bin[bin], (int)(direction & 1), limit);
}

/*
 * Predict one of the first or the last FEW groups from the others of these: their median level, and
 * the median slope from each to the next of NEIGHBOURS, of which a step spoils one. If a clock was
 * stepped or stood still near an end of a trace, the groups beyond agree only with each other.
 */
static double predict_group_at_end(const struct bin_group *g, size_t n, size_t i, double *leverage)
{
	const struct bin_group *near = i < FEW ? g : &g[n - NEIGHBOURS];
	const struct bin_group *end = i < FEW ? g : &g[n - FEW];
	double v[NEIGHBOURS], slope, farthest = 0;
	size_t m = 0;

	for (size_t j = 0; j + 1 < NEIGHBOURS; j++)
		if (near[j + 1].t > near[j].t)
			v[m++] = (near[j + 1].y - near[j].y) / (near[j + 1].t - near[j].t);
	slope = statistics_median(v, m);
	m = 0;
	for (size_t j = 0; j < FEW; j++) {
		if (&end[j] == &g[i])
			continue;
		farthest = fmax(farthest, fabs(end[j].t - g[i].t));
		v[m++] = end[j].y - slope * (end[j].t - g[i].t);
	}
	*leverage = fmax(1, 2 * farthest / fmax(near[NEIGHBOURS - 1].t - near[0].t, 1));
	return statistics_median(v, m);
}

/*
 * Return how far inward of both predictions a group is. If the first prediction is already not more
 * than @most, skip the second.
 */
static double inward_distance_of_group(const struct bin_group *g, size_t n, size_t i, double most)
{
	size_t before = i < NEIGHBOURS ? i : NEIGHBOURS;
	size_t after = n - 1 - i < NEIGHBOURS ? n - 1 - i : NEIGHBOURS;
	double leverage, least, r, v;

	least = before < FEW ? predict_group_at_end(g, n, i, &leverage) :
			       predict_group(&g[i - before], before, g[i].t, &leverage);
	least -= g[i].y;
	if (least > most) {
		v = after < FEW ? predict_group_at_end(g, n, i, &r) :
				  predict_group(&g[i + 1], after, g[i].t, &r);
		v -= g[i].y;
		if (v < least) {
			least = v;
			leverage = r;
		}
	}
	return least / leverage;
}

/* A group is not inward if more than two neighbours on either side are lower. */
static bool group_is_inner(const struct bin_group *g, size_t n, size_t i)
{
	size_t below[2] = { 0, 0 };

	if (i < NEIGHBOURS || n - 1 - i < NEIGHBOURS)
		return false;
	for (size_t k = 1; k <= NEIGHBOURS; k++) {
		below[0] += g[i - k].y <= g[i].y;
		below[1] += g[i + k].y <= g[i].y;
	}
	return below[0] > NEIGHBOURS / 4 || below[1] > NEIGHBOURS / 4;
}

double outliers_judge(const struct bin_group *g, size_t n, double resolution, double *inward,
		      double *buffer)
{
	size_t every = n / SAMPLE_GROUPS > SAMPLE_EVERY ? n / SAMPLE_GROUPS : SAMPLE_EVERY;
	size_t looked = 0;
	double most;

	if (n < NEIGHBOURS + 1)
		return HUGE_VAL;
	for (size_t i = 0; i < n; i += every) {
		inward[i] = inward_distance_of_group(g, n, i, -HUGE_VAL);
		buffer[looked++] = fabs(inward[i]);
	}
	most = OUTLIER * fmax(statistics_median(buffer, looked), 1) + resolution;
	for (size_t i = 0; i < n; i++)
		if (i % every)
			inward[i] = group_is_inner(g, n, i) ?
					    0 :
					    inward_distance_of_group(g, n, i, most);
	return most;
}

static void spare_groups_at_ends(double *inward, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (i < FEW || n - 1 - i < FEW)
			inward[i] = 0;
}

static size_t reject_of_direction(struct observations *p, const struct correction *c,
				  struct obs_direction *dir, int side, double messages,
				  struct outlier_workspace *d)
{
	struct bin_group *g = d->group;
	size_t n = observations_group(p, dir, side, messages, g);
	size_t rejected = 0, wrong = 0;
	double most = outliers_judge(g, n, p->resolution, d->inward, d->buffer);

	if (isinf(most))
		return 0;
	if (messages > GROUP_MESSAGES && n < FEW_GROUPS)
		spare_groups_at_ends(d->inward, n);
	for (size_t i = 0; i < n; i++)
		wrong += d->inward[i] > most;
	/* Inward groups are not outliers if they are too many. */
	for (size_t i = 0; i < n && wrong * MAX_SHARE <= n + MAX_SHARE; i++) {
		double limit = g[i].y + d->inward[i] - most;

		if (d->inward[i] <= most || is_near_change_point(c, dir, g[i].from, g[i].to - 1))
			continue;
		for (size_t j = g[i].from; j < g[i].to; j++)
			rejected += reject_bin_below(p, &dir->bin[j], side, limit);
	}
	return rejected;
}

int outliers_reject(struct observations *p, const struct correction *c, size_t parts,
		    size_t *rejected)
{
	struct outlier_workspace d;
	int ret = outlier_workspace_new(&d, p);

	*rejected = 0;
	for (size_t i = 0; i < 2 * p->links && !ret; i++) {
		struct obs_direction *dir = &p->direction[i];
		double messages = parts ? (double)dir->messages / (double)parts : GROUP_MESSAGES;
		size_t more = 1;

		/* Search twice, because outliers disturb the predictions of their neighbours. */
		for (int look = 0; look < 2 && more; look++) {
			more = reject_of_direction(p, c, dir, (int)(i & 1),
						   fmax(messages, GROUP_MESSAGES), &d);
			*rejected += more;
		}
	}
	outlier_workspace_free(&d);
	return ret;
}
