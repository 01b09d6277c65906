// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A message is real or wrong (the contaminated distribution of P. J. Huber, "Robust estimation of a
 * location parameter", Annals of Mathematical Statistics 35(1), 1964). The share of wrong messages
 * is known from those already rejected: a message is wrong if, as a real one, it is less likely
 * than that share. Delays beyond the minimum are exponential, so the lowest of n messages lies
 * about mean / n below the next one, and the logarithm of its likelihood falls by 1 for each mean /
 * n below that.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "curve/contamination.h"
#include "curve/outliers.h"

/* Largest number of the lowest observations of a window that may be wrong together. Chosen. */
#define MAX_LONE 2
/*
 * Advantage in log likelihood that a message needs beyond its share to be real. Chosen: 2 to 7 give
 * the same errors.
 */
#define REAL 4.0
/*
 * Wrong messages are everywhere if at least one window in this many has some. If they are rarer,
 * the clock may have been stepped at them. Chosen by make bench-truth and bench-worlds.
 */
#define MAX_EVERY 2
/* Least number of windows with wrong messages. Chosen in the same way. */
#define MIN_WINDOWS 16

enum { HAS_MESSAGES = 1, HAS_REJECTED = 2 };

static void mark_windows_of_direction(const struct observations *p, const struct obs_direction *dir,
				      size_t windows, unsigned char *window)
{
	for (size_t i = 0; i < dir->bins; i++) {
		const struct obs_bin *h = &dir->bin[i];
		double at = h->t / p->span * (double)windows;

		at = fmin(fmax(at, 0), (double)(windows - 1));
		window[(size_t)at] |= h->num < h->gathered ? HAS_REJECTED : HAS_MESSAGES;
	}
}

/*
 * Are wrong messages spread over the whole trace? *cost: cost in log likelihood of rejecting one
 * message. 1, 0 or -ENOMEM.
 */
static int is_contaminated_everywhere(const struct observations *p, size_t windows, double *cost)
{
	size_t rejected = observations_rejected(p), any = 0, wrong = 0;
	unsigned char *window;

	if (rejected < MIN_WINDOWS)
		return 0;
	window = calloc(windows, sizeof(*window));
	if (!window)
		return -ENOMEM;
	for (size_t i = 0; i < 2 * p->links; i++)
		mark_windows_of_direction(p, &p->direction[i], windows, window);
	for (size_t i = 0; i < windows; i++) {
		any += window[i] != 0;
		wrong += (window[i] & HAS_REJECTED) != 0;
	}
	free(window);
	*cost = REAL + log((double)(p->messages[0] + p->messages[1]) / (double)rejected);
	return wrong >= MIN_WINDOWS && wrong * MAX_EVERY >= any;
}

/* Return the mean scatter of a direction, ns. Coarse stamps scatter like delays. */
static double scatter_of_delays(const struct observations *p, const struct obs_direction *dir)
{
	return dir->mean + p->resolution;
}

/* ---- lone ones --------------------------------------------------------- */

/* The lowest observations of a window. */
struct lowest_residuals {
	/* Outward residuals, less the excess of the minimum delay, ns: */
	double y[MAX_LONE + 1];
	size_t num;
	double messages;
};

static void lowest_add_residual(struct lowest_residuals *l, const struct observations *p, int side,
				const struct obs_bin *h)
{
	for (uint32_t i = 0; i < h->num; i++) {
		double r = p->obs[h->from + i].residual;
		double y = (side == ABOVE ? r : -r) - h->excess;
		size_t at = l->num;

		if (at == MAX_LONE + 1 && y >= l->y[--at])
			continue;
		l->num = at + 1;
		for (; at && l->y[at - 1] > y; at--)
			l->y[at] = l->y[at - 1];
		l->y[at] = y;
	}
	if (h->num)
		l->messages += h->messages;
}

/*
 * Return how many of the lowest observations to reject. If the edge moves up to the next
 * observation, all messages become more likely.
 */
static size_t count_lone_observations(const struct lowest_residuals *l, double mean, double cost)
{
	double best = 0;
	size_t n = 0;

	for (size_t i = 1; i < l->num; i++) {
		double gain = (l->y[i] - l->y[0]) * l->messages / mean - (double)i * cost;

		if (gain > best) {
			best = gain;
			n = i;
		}
	}
	return n;
}

/*
 * Reject lone observations in windows of @messages messages, the first window having @first. Return
 * the number rejected.
 */
static size_t reject_lone_of_direction(struct observations *p, const struct correction *c,
				       size_t direction, double cost, double first, double messages)
{
	const struct obs_direction *dir = &p->direction[direction];
	size_t rejected = 0;

	for (size_t from = 0, to; from < dir->bins; from = to) {
		struct lowest_residuals l = { 0 };
		size_t n;

		for (to = from; to < dir->bins && l.messages < first; to++)
			lowest_add_residual(&l, p, (int)(direction & 1), &dir->bin[to]);
		first = messages;
		n = count_lone_observations(&l, scatter_of_delays(p, dir) * p->softness, cost);
		for (size_t i = from; n && i < to; i++)
			rejected += outliers_reject_below(p, c, direction, i,
							  l.y[n] + dir->bin[i].excess);
	}
	return rejected;
}

int contamination_reject_lone(struct observations *p, const struct correction *c, size_t windows,
			      size_t *rejected)
{
	double cost;
	int ret = is_contaminated_everywhere(p, windows, &cost);

	*rejected = 0;
	if (ret <= 0)
		return ret;
	for (size_t i = 0; i < 2 * p->links; i++) {
		double messages = (double)p->direction[i].messages / (double)windows;

		/* Run twice, because two windows share a wrong message at their border. */
		for (int part = 1; part <= 2; part++)
			*rejected += reject_lone_of_direction(p, c, i, cost, messages / part,
							      messages);
	}
	return 0;
}

/* ---- inverted ones ----------------------------------------------------- */

int contamination_reject_inverted(struct observations *p, const struct correction *c,
				  size_t windows, const double *margin, const double *scale,
				  size_t *rejected)
{
	double cost;
	int ret = is_contaminated_everywhere(p, windows, &cost);

	*rejected = 0;
	if (ret <= 0)
		return ret;
	for (size_t i = 0; i < 2 * p->links; i++) {
		const struct obs_direction *dir = &p->direction[i];
		double least = margin[i / 2] -
			       cost * scale[i / 2] * scatter_of_delays(p, dir) / dir->mean;

		for (size_t j = 0; j < dir->bins; j++)
			*rejected += outliers_reject_below(p, c, i, j, least + dir->bin[j].excess);
	}
	return 0;
}
