// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Second differences of a clock f, as the Allan deviation is made of (IEEE Std 1139):
 *
 *	f(t + L) - 2 f(t) + f(t - L)
 *
 * The second difference of an oscillator with the largest drift k is at most k L^2. A daemon that
 * moves the clock by A adds A at this length and at longer ones, unless the clock moves back in the
 * meantime. Second differences are computed from the curve, which shows lasting moves, and from
 * samples of the clock relative to it. A sample is the middle between the lowest messages of both
 * directions in a cell of time. If the gap between them is smaller than usual, the clock moved back
 * and forth in the cell.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "curve/contamination.h"
#include "curve/delays.h"
#include "curve/observations.h"
#include "curve/outliers.h"
#include "curve/wander.h"
#include "util/array.h"
#include "util/search.h"
#include "util/statistics.h"

/*
 * Largest part of the maximum drift that the curve of an oscillator has without a daemon. Quartz in
 * a machine that warms up drifts by 0.02 ppm/s, where bounds assume 0.1: slightly less than this
 * part. Chosen.
 */
#define PART_OF_DRIFT 0.25
/*
 * Least number of samples of a clock. An event that happens in each stretch of time with some
 * probability happens in the one that was not sampled, and in none of n others, in at most 1 of e n
 * cases, whatever the probability. Chosen.
 */
#define LOOKS 8
/*
 * One of this many second differences may be larger: occasionally all messages of a cell are late.
 * Steps of a daemon are more frequent. Chosen.
 */
#define LATE 64
/* Samples are at most this many cells apart. Chosen. */
#define NEAR 2
/* Least length of a cell, as a part of the length that it is used for. Chosen. */
#define PART_OF_LENGTH 0.25
/* Least number of cells of the longest length: LOOKS plus some more. Chosen. */
#define FEWEST_CELLS 16
/* Least length of a cell, ns: in 1 s, a drift of 0.1 ppm/s moves a clock by 13 ns. */
#define SHORTEST 1e9
/*
 * The curve is wrong if it inverts more than one in this many observations of a link. No bound is
 * claimed beyond one in 128 messages (bound/pair-bound.c), but observations are the lowest
 * messages. Chosen.
 */
#define WRONG 64
/* Number of windows; wrong messages are rejected if half of the windows have some. Chosen. */
#define WINDOWS 128
/*
 * Maximum number of cells for each observation, and for each knot interval in which the curvature
 * is examined. Chosen.
 */
#define FINE 4
/*
 * Number of messages in a group whose lowest message determines the delay: with many messages, with
 * few. Chosen.
 */
static const double group_of[] = { 16, 1 };
#define SIZES (sizeof(group_of) / sizeof(*group_of))
/* One group in this many is lower. Chosen. */
#define QUARTER 4

/* Upper and lower limit of the clock's distance from the curve in a cell, ns. */
struct cell {
	double side[2]; /* ABOVE; BELOW, negated; HUGE_VAL: no message */
};

struct look {
	double t; /* middle of the cell, ns */
	double f; /* ns */
};

static double curve_value_at(void *correction, double t)
{
	const struct correction *c = correction;

	return c->curve.coefs ? spline_at(&c->curve, t) : 0;
}

/*
 * Return the usual distance of a direction's messages from the curve, ns; *group: scratch space for
 * its bins.
 */
static double usual_distance_of_direction(const struct observations *p, size_t direction,
					  struct bin_group *group, double *buffer)
{
	size_t n = 0;

	for (size_t i = 0; !n && i < SIZES; i++)
		n = observations_group(p, &p->direction[direction], (int)direction & 1, group_of[i],
				       group);
	for (size_t i = 0; i < n; i++)
		buffer[i] = group[i].y;
	return n ? compute_order_statistic(buffer, n, n / QUARTER) : 0;
}

/*
 * Return how many observations of a link are inverted by the curve. *all: number of observations.
 */
static size_t count_inverted_observations(const struct observations *p, size_t link, size_t *all)
{
	size_t inverted = 0;

	*all = 0;
	for (size_t i = 2 * link; i < 2 * link + 2; i++) {
		for (size_t j = 0; j < p->direction[i].bins; j++) {
			const struct obs_bin *h = &p->direction[i].bin[j];

			*all += h->num;
			for (uint32_t n = 0; n < h->num; n++)
				inverted += observation_outward(&p->obs[h->from + n], (int)i & 1) <
					    0;
		}
	}
	return inverted;
}

static void fill_cells_of_direction(struct cell *cell, size_t num, const struct observations *p,
				    size_t direction, double delay)
{
	const struct obs_direction *dir = &p->direction[direction];
	int side = (int)direction & 1;

	for (size_t i = 0; i < dir->bins; i++) {
		for (uint32_t j = 0; j < dir->bin[i].num; j++) {
			const struct observation *o = &p->obs[dir->bin[i].from + j];
			double y = observation_outward(o, side);
			size_t at = (size_t)(o->t / p->span * (double)num);
			struct cell *to = &cell[at < num ? at : num - 1];

			/* An inverted message is wrong. */
			if (y >= 0)
				to->side[side] = fmin(to->side[side], y - delay);
		}
	}
}

static int fill_cells(struct cell *cell, size_t num, const struct observations *p)
{
	size_t most = observations_most_bins(p) + 1;
	struct bin_group *group = malloc(most * sizeof(*group));
	double *buffer = malloc(most * sizeof(*buffer));
	int ret = group && buffer ? 0 : -ENOMEM;
	size_t wrong = 0, all;

	for (size_t i = 0; i < num; i++)
		cell[i] = (struct cell){ { HUGE_VAL, HUGE_VAL } };
	for (size_t i = 0; !ret && i < p->links; i++) {
		if (count_inverted_observations(p, i, &all) * WRONG > all) {
			wrong++;
			continue;
		}
		for (size_t d = 2 * i; d < 2 * i + 2; d++)
			fill_cells_of_direction(cell, num, p, d,
						usual_distance_of_direction(p, d, group, buffer));
	}
	/* The clock of one neighbour may be false, but not those of most. */
	for (size_t i = 0; 2 * wrong > p->links && i < num; i++)
		cell[i] = (struct cell){ { HUGE_VAL, HUGE_VAL } };
	free(group);
	free(buffer);
	return ret;
}

static bool is_sampled(const struct cell *c)
{
	return !isinf(c->side[ABOVE]) && !isinf(c->side[BELOW]);
}

/* Merge cells into cells that are twice as long. */
static void join_cells(struct cell *cell, size_t num)
{
	for (size_t i = 0; i < num / 2; i++)
		for (int side = ABOVE; side <= BELOW; side++)
			cell[i].side[side] = fmin(cell[2 * i].side[side],
						  cell[2 * i + 1].side[side]);
}

/* Return the second difference of three samples as if they were equally far apart, ns. */
static double second_difference_of_samples(const struct look *a, const struct look *b,
					   const struct look *c)
{
	double s = b->t - a->t, r = c->t - b->t;

	return 2 * fabs(b->f - (r * a->f + s * c->f) / (s + r));
}

/*
 * Is a change point or an untrusted interval within @length of a stretch? Bounds take these into
 * account.
 */
static bool has_change_near(const struct correction *c, double from, double to, double length)
{
	size_t i = NUM_BEFORE(c->doubt, c->num_doubts, to, from - length);

	return correction_changes_before(c, from - length) !=
		       correction_changes_before(c, to + length) ||
	       (i < c->num_doubts && c->doubt[i].from < to + length);
}

/*
 * *difference: scratch space for one value per cell. @rounding: what coarse stamps make, which is
 * taken from them.
 */
static void measure_length(struct wander *w, size_t which, const struct correction *c,
			   const struct cell *cell, size_t num, double length, double rounding,
			   double *difference)
{
	struct look l[3] = { { -HUGE_VAL, 0 }, { -HUGE_VAL, 0 } };
	const double reach = (NEAR + 0.5) * length;
	size_t n = 0;

	for (size_t i = 0; i < num; i++) {
		double t = ((double)i + 0.5) * length;

		if (!is_sampled(&cell[i]))
			continue;
		l[2] = (struct look){ t, (cell[i].side[ABOVE] - cell[i].side[BELOW]) / 2 };
		if (t - l[1].t < reach && l[1].t - l[0].t < reach &&
		    !has_change_near(c, l[0].t, t, length))
			difference[n++] = fmax(second_difference_of_samples(&l[0], &l[1], &l[2]),
					       -cell[i].side[ABOVE] - cell[i].side[BELOW]);
		l[0] = l[1];
		l[1] = l[2];
	}
	w->looks[which] = (uint32_t)n;
	w->beyond[which] = compute_order_statistic(difference, n, n - 1 - n / LATE) - rounding;
}

/* Return the largest curvature of the curve over twice the length, less an oscillator's, ns. */
static double curvature_beyond_drift(const struct correction *c, size_t num, double length,
				     double drift)
{
	struct look l[3] = { { 0 } };
	double most = 0;

	for (size_t i = 0; i < num; i++) {
		double t = ((double)i + 0.5) * length;

		l[2] = (struct look){ t, spline_at(&c->curve, t) };
		if (i > 1 && !has_change_near(c, l[0].t, t, length))
			most = fmax(most, second_difference_of_samples(&l[0], &l[1], &l[2]));
		l[0] = l[1];
		l[1] = l[2];
	}
	return most - PART_OF_DRIFT * drift * length * length;
}

static int find_unsampled_times(struct wander *w, const struct cell *cell, size_t num,
				double length)
{
	size_t room = 0;

	for (size_t i = 0; i < num; i++) {
		size_t first = i;

		while (i < num && !is_sampled(&cell[i]))
			i++;
		if (i == first)
			continue;
		if (array_grow(&w->silence, &room, w->num_silences, sizeof(*w->silence)))
			return -ENOMEM;
		/* Messages may be at the far ends of the neighbouring cells. */
		w->silence[w->num_silences++] = (struct range){
			(int64_t)(((double)first - 1) * length),
			(int64_t)(((double)i + 1) * length),
		};
	}
	return 0;
}

/*
 * If a share of all messages is wrong, reject those that are more likely wrong; otherwise the clock
 * is the more likely cause.
 */
static int reject_wrong_messages(struct observations *p, const struct correction *c)
{
	size_t outliers, lone = 0, inverted = 0, all;
	int ret;

	for (size_t i = 0; i < p->links; i++)
		inverted += count_inverted_observations(p, i, &all);
	if (!inverted)
		return 0;
	ret = delays_set_means(p);
	if (!ret)
		ret = outliers_reject(p, c, 0, &outliers);
	if (!ret && outliers)
		ret = contamination_reject_lone(p, c, WINDOWS, &lone);
	for (size_t i = 0; !lone && i < 2 * p->links; i++)
		for (size_t j = 0; j < p->direction[i].bins; j++)
			p->direction[i].bin[j].num = p->direction[i].bin[j].gathered;
	return ret;
}

/* Examine all lengths, from the shortest on. */
static int measure_all_lengths(struct wander *w, const struct correction *c,
			       const struct observations *p, double drift)
{
	size_t which = 0, num = FEWEST_CELLS;
	struct cell *cell;
	double *buffer;
	int ret = -ENOMEM;

	while (which + 1 < WANDER_LENGTHS && num < FINE * p->num &&
	       p->span / (double)num > SHORTEST) {
		which++;
		num *= 2;
	}
	cell = malloc(num * sizeof(*cell));
	buffer = malloc(num * sizeof(*buffer));
	if (cell && buffer)
		ret = fill_cells(cell, num, p);
	if (!ret)
		ret = find_unsampled_times(w, cell, num, p->span / (double)num);
	for (bool last = false; !ret && !last; which--, num /= 2) {
		double length = p->span / (double)num;

		measure_length(w, which, c, cell, num, length, p->resolution, buffer);
		/* The curvature is constant within a knot interval: shorter lengths have less. */
		if (num <= FINE * c->curve.coefs)
			w->bend[which] = curvature_beyond_drift(c, num, length, drift);
		join_cells(cell, num);
		last = !which;
	}
	free(cell);
	free(buffer);
	return ret;
}

int wander_measure(struct wander *w, const struct correction *c, const struct link *links,
		   size_t num_links, double drift)
{
	struct observations obs;
	int ret = observations_gather(&obs, c, links, num_links);

	*w = (struct wander){ .longest = obs.span / FEWEST_CELLS };
	if (!ret) {
		observations_set_residuals(&obs, curve_value_at, (void *)c);
		ret = reject_wrong_messages(&obs, c);
	}
	if (!ret && obs.span > 0)
		ret = measure_all_lengths(w, c, &obs, drift);
	observations_release(&obs);
	return ret;
}

void wander_release(struct wander *w)
{
	free(w->silence);
	free(w->unreported);
	*w = (struct wander){ 0 };
}

double wander_silence(const struct wander *w, int64_t from, int64_t to)
{
	const int64_t span = (int64_t)(w->longest * FEWEST_CELLS);
	size_t i = NUM_BEFORE(w->silence, w->num_silences, hi, from);
	/* The clock was unobserved before its span and after it. */
	int64_t longest = max64(min64(to, 0) - from, to - max64(from, span));

	if (w->left_alone)
		return 0;
	for (; i < w->num_silences && w->silence[i].lo < to; i++) {
		const struct range *s = &w->silence[i];
		int64_t lo = s->lo <= 0 ? from : max64(s->lo, from);
		int64_t hi = s->hi >= span ? to : min64(s->hi, to);

		longest = max64(longest, hi - lo);
	}
	return (double)max64(longest, 0);
}

bool wander_is_small(const struct wander *w, int64_t from, int64_t to, double room)
{
	double length = (double)(to - from), cell = w->longest, least;
	bool seen = false;

	if (w->left_alone)
		return true;
	least = fmax(wander_silence(w, from, to) / NEAR, fmin(PART_OF_LENGTH * length, cell));
	for (size_t i = 0; i < WANDER_LENGTHS; i++, cell /= 2) {
		if (cell <= length && w->bend[i] > room)
			return false;
		seen |= cell >= least && w->looks[i] >= LOOKS && w->beyond[i] <= room;
	}
	return seen;
}
