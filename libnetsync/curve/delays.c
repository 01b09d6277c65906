// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * While machines are idle or busy, the lowest delays of both directions rise together, which half
 * of their sum, (a + b) / 2, shows in windows of time. The mean excess delay is estimated from the
 * scatter of the lowest delays of groups of messages.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "curve/delays.h"
#include "util/statistics.h"

/* Least number of windows from which softness is estimated. Chosen. */
#define SOFT_WINDOWS 64
/* Number of messages of a window in the direction with fewer messages. Chosen. */
#define MESSAGES 64
/* Maximum number of windows; limits time and memory. Chosen. */
#define MAX_WINDOWS 1024
/* A window's minimum delay is unusual if it exceeds the expected excess by this factor. Chosen. */
#define UNUSUAL 3.0
/* The minimum delay is non-stationary if one window in this many is unusual. Chosen. */
#define MIN_SHARE 4
/* Largest dispersion of independent messages in 1,024 windows. Chosen. */
#define BY_CHANCE 1.5
/* Number of windows before and after with the same minimum delay. Chosen. */
#define AROUND 4
/* One window in this many may contain wrong messages. Chosen. */
#define WRONG 64
/*
 * Number of groups from which the mean excess delay is estimated; with few messages, groups are
 * smaller. Chosen.
 */
#define MEAN_GROUPS 64
/* Median absolute deviation of exponential values with a mean of 1: the m with sinh(m) = 1 / 2. */
#define EXPONENTIAL_MAD 0.4812

/* ---- mean excess delay -------------------------------------------------- */

/* The lowest of n exponential delays is also exponential, with 1/n of their mean. */
static double mean_delay_of_direction(const struct observations *p, const struct obs_direction *dir,
				      int side, struct bin_group *g, double *buffer)
{
	double size = fmin((double)dir->messages / MEAN_GROUPS, GROUP_MESSAGES);
	size_t num = observations_group(p, dir, side, fmax(size, 1), g);
	double middle, messages = 0;

	if (!num)
		return 1;
	for (size_t i = 0; i < num; i++) {
		buffer[i] = g[i].y;
		messages += g[i].messages;
	}
	middle = statistics_median(buffer, num);
	for (size_t i = 0; i < num; i++)
		buffer[i] = fabs(buffer[i] - middle);
	return fmax(statistics_median(buffer, num) * messages / (double)num / EXPONENTIAL_MAD, 1);
}

int delays_set_means(struct observations *p)
{
	size_t most = observations_most_bins(p) + 1;
	struct bin_group *group = malloc(most * sizeof(*group));
	double *buffer = malloc(most * sizeof(*buffer));
	int ret = group && buffer ? 0 : -ENOMEM;

	for (size_t i = 0; i < 2 * p->links && !ret; i++)
		p->direction[i].mean = mean_delay_of_direction(p, &p->direction[i], (int)(i & 1),
							       group, buffer);
	free(group);
	free(buffer);
	return ret;
}

/* ---- non-stationary minimum delay --------------------------------------- */

struct window {
	double low[2]; /* lowest of each direction, outward */
	double messages[2];
	double rate[2]; /* the same, over their mean delay, 1 / ns */
	double excess;	/* excess of its lowest delays above the smallest delay */
};

static size_t window_of_time(const struct observations *p, size_t num, double t)
{
	double w = floor(t / p->span * (double)num);

	return (size_t)fmin(fmax(w, 0), (double)(num - 1));
}

static void fill_windows(struct window *window, size_t num, const struct observations *p,
			 size_t link)
{
	for (size_t w = 0; w < num; w++)
		window[w] = (struct window){ .low = { HUGE_VAL, HUGE_VAL } };
	for (int d = 0; d < 2; d++) {
		const struct obs_direction *dir = &p->direction[2 * link + (size_t)d];

		for (size_t i = 0; i < dir->bins; i++) {
			const struct obs_bin *h = &dir->bin[i];
			struct window *w = &window[window_of_time(p, num, h->t)];
			double t;

			if (!h->num)
				continue;
			w->low[d] = fmin(w->low[d], observations_innermost(p, h, d, &t));
			w->messages[d] += h->messages;
			w->rate[d] += h->messages / dir->mean;
		}
	}
}

static bool window_is_filled(const struct window *w)
{
	return w->messages[ABOVE] && w->messages[BELOW];
}

/* Return half of the gap between the lowest of both directions. */
static double half_gap_of_window(const struct window *w)
{
	return (w->low[ABOVE] + w->low[BELOW]) / 2;
}

/* Return the middle of the gap between the lowest of both directions. */
static double middle_of_gap(const struct window *w)
{
	return (w->low[ABOVE] - w->low[BELOW]) / 2;
}

/* Return half of the gap in the quickest windows. */
static double smallest_half_gap(const struct window *window, size_t num, double *buffer)
{
	size_t n = 0;

	for (size_t w = 0; w < num; w++)
		if (window_is_filled(&window[w]))
			buffer[n++] = half_gap_of_window(&window[w]);
	return compute_order_statistic(buffer, n, n / WRONG);
}

static double usual_excess(const struct window *w)
{
	return (1 / w->rate[ABOVE] + 1 / w->rate[BELOW]) / 2;
}

/*
 * Return by which factor values between both directions scatter more across windows than those of
 * independent messages. The median deviation of three successive values from a straight line has a
 * known value for exponential delays. Any excess is common to all messages of a window (P.
 * McCullagh and J. Nelder, "Generalized Linear Models", 1989: overdispersion).
 */
static double dispersion_of_windows(const struct window *window, size_t num,
				    double (*value)(const struct window *), double *buffer)
{
	double before[2] = { 0, 0 };
	size_t n = 0, seen = 0;

	for (size_t i = 0; i < num; i++) {
		const struct window *w = &window[i];
		double v;

		if (!window_is_filled(w))
			continue;
		v = value(w);
		if (seen++ > 1)
			buffer[n++] = fabs(before[0] - 2 * before[1] + v) / usual_excess(w);
		before[0] = before[1];
		before[1] = v;
	}
	return statistics_median(buffer, n);
}

/* Set the excess of windows with a longer minimum delay. Return the number of these windows. */
static size_t lift_windows(struct window *window, size_t num, double least)
{
	size_t n = 0;

	for (size_t i = 0; i < num; i++) {
		struct window *w = &window[i];

		w->excess = 0;
		if (!window_is_filled(w))
			continue;
		w->excess = fmax(half_gap_of_window(w) - least - usual_excess(w), 0);
		n += w->excess > (UNUSUAL - 1) * usual_excess(w);
	}
	return n;
}

/*
 * Return the excess of the quickest window around one: slow windows are slower in one direction
 * than in the other.
 */
static double excess_around(const struct window *window, size_t num, size_t at)
{
	size_t i = at > AROUND ? at - AROUND : 0;
	double least = HUGE_VAL;

	for (; i < num && i <= at + AROUND; i++)
		if (window_is_filled(&window[i]))
			least = fmin(least, window[i].excess);
	return least < HUGE_VAL ? least : 0;
}

static bool find_minima_of_link(struct observations *p, size_t link, struct window *window,
				size_t num, double *buffer)
{
	struct obs_direction *dir = &p->direction[2 * link];
	double dispersed;
	bool lifted;

	fill_windows(window, num, p, link);
	lifted = lift_windows(window, num, smallest_half_gap(window, num, buffer)) * MIN_SHARE >
		 num;
	for (int d = 0; d < 2; d++) {
		for (size_t i = 0; i < dir[d].bins; i++) {
			struct obs_bin *h = &dir[d].bin[i];
			size_t at = window_of_time(p, num, h->t);
			const struct window *w = &window[at];

			h->excess = lifted ? excess_around(window, num, at) : 0;
			h->excess_error = lifted ? w->excess * w->messages[d] : 0;
		}
	}
	dispersed = dispersion_of_windows(window, num, middle_of_gap, buffer) / BY_CHANCE;
	for (int d = 0; d < 2; d++)
		dir[d].mean *= fmax(dispersed, 1);
	return lifted;
}

/* Return how far a clock may bend in a window. */
static double bend_of_clock_in_window(const struct observations *p, uint64_t num, double drift)
{
	double length = p->span / (double)num;

	return drift * length * length / 8;
}

/* Return the usual value, by the mean of all windows. */
static double usual_excess_of_link(const struct obs_direction *dir, uint64_t num)
{
	return (dir[0].mean / (double)dir[0].messages + dir[1].mean / (double)dir[1].messages) / 2 *
	       (double)num;
}

static uint64_t max_windows_of_link(const struct obs_direction *dir)
{
	uint64_t rarer = dir[0].messages < dir[1].messages ? dir[0].messages : dir[1].messages;

	return rarer / MESSAGES < MAX_WINDOWS ? rarer / MESSAGES : MAX_WINDOWS;
}

int delays_find_minima(struct observations *p, double drift)
{
	struct window *window = malloc(MAX_WINDOWS * sizeof(*window));
	double *buffer = malloc(MAX_WINDOWS * sizeof(*buffer));
	int ret = window && buffer ? 0 : -ENOMEM;

	for (size_t i = 0; i < p->links && ret >= 0; i++) {
		const struct obs_direction *dir = &p->direction[2 * i];
		uint64_t num = max_windows_of_link(dir);

		if (num &&
		    bend_of_clock_in_window(p, num, drift) < usual_excess_of_link(dir, num) &&
		    find_minima_of_link(p, i, window, num, buffer))
			ret = 1;
	}
	free(window);
	free(buffer);
	return ret;
}

/* ---- soft edges ---------------------------------------------------------- */

/*
 * Estimate the softness of the edge. If each direction scatters independently, middles and halves
 * scatter alike; a wrong curve moves middles only, and delays that are longer in both directions
 * move halves only.
 */
static double softness_of_edge(const struct window *window, size_t num, double *buffer)
{
	return fmin(dispersion_of_windows(window, num, middle_of_gap, buffer),
		    dispersion_of_windows(window, num, half_gap_of_window, buffer));
}

int delays_soften(struct observations *p, size_t intervals)
{
	uint64_t *m = p->messages, rarer = m[0] < m[1] ? m[0] : m[1];
	size_t num = intervals < SOFT_WINDOWS ? SOFT_WINDOWS : intervals;
	struct window *window = malloc(num * sizeof(*window));
	double *buffer = malloc(num * sizeof(*buffer)), soft = 1;

	if (window && buffer && rarer / MESSAGES >= num) {
		fill_windows(window, num, p, 0);
		soft = softness_of_edge(window, num, buffer);
	}
	p->softness = soft > BY_CHANCE ? soft : 1;
	free(window);
	free(buffer);
	return window && buffer ? 0 : -ENOMEM;
}
