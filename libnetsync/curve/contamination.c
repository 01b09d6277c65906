// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A message is real or wrong (the contaminated distribution of P. J. Huber, "Robust
 * estimation of a location parameter", Annals of Mathematical Statistics 35(1), 1964). Of
 * wrong ones it is known how many there are, by those that were rejected already: a real one
 * that is less likely than its share is wrong. Delays beyond the least are exponential, so that
 * the lowest of n messages lies mean / n below the next one, and the logarithm of its
 * likelihood falls by 1 each time that it lies lower by as much.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "curve/contamination.h"
#include "curve/outliers.h"

/* Observations of a window, the lowest, that may be wrong together, at most. Chosen. */
#define MAX_LONE 2
/* What speaks for a message beyond its share, in log likelihood. Chosen: 2 to 7 are alike. */
#define REAL 4.0
/*
 * One window in so many has wrong messages, at least: what is rejected in fewer may be where a
 * clock stepped. Chosen, by make bench-truth and bench-worlds.
 */
#define MAX_EVERY 2
/* So many windows have some, at least. Chosen alike. */
#define MIN_WINDOWS 16

enum { HAS_MESSAGES = 1, HAS_REJECTED = 2 };

static void look_at_direction(const struct observations *p, const struct obs_direction *dir,
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
 * Are wrong messages all over the trace? *cost: in log likelihood, of the rejection of one. 1, 0
 * or -ENOMEM.
 */
static int is_contaminated(const struct observations *p, size_t windows, double *cost)
{
	size_t rejected = observations_rejected(p), any = 0, wrong = 0;
	unsigned char *window;

	if (rejected < MIN_WINDOWS)
		return 0;
	window = calloc(windows, sizeof(*window));
	if (!window)
		return -ENOMEM;
	for (size_t i = 0; i < 2 * p->links; i++)
		look_at_direction(p, &p->direction[i], windows, window);
	for (size_t i = 0; i < windows; i++) {
		any += window[i] != 0;
		wrong += (window[i] & HAS_REJECTED) != 0;
	}
	free(window);
	*cost = REAL + log((double)(p->messages[0] + p->messages[1]) / (double)rejected);
	return wrong >= MIN_WINDOWS && wrong * MAX_EVERY >= any;
}

/* Coarse stamps scatter as delays do, ns. */
static double scatter(const struct observations *p, const struct obs_direction *dir)
{
	return dir->mean + p->resolution;
}

/* ---- lone ones --------------------------------------------------------- */

/* The lowest observations of a window. */
struct lowest_residuals {
	/* Residuals, less what delays are lifted by, outward, ns: */
	double y[MAX_LONE + 1];
	size_t num;
	double messages;
};

static void lowest_add(struct lowest_residuals *l, const struct observations *p, int side,
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

/* How many of the lowest are rejected? All messages gain if the edge moves to the next one. */
static size_t count_lone(const struct lowest_residuals *l, double mean, double cost)
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

/* In windows of so many messages, of which the first has @first. Return: how many. */
static size_t reject_lone_in(struct observations *p, const struct correction *c, size_t direction,
			     double cost, double first, double messages)
{
	const struct obs_direction *dir = &p->direction[direction];
	size_t rejected = 0;

	for (size_t from = 0, to; from < dir->bins; from = to) {
		struct lowest_residuals l = { 0 };
		size_t n;

		for (to = from; to < dir->bins && l.messages < first; to++)
			lowest_add(&l, p, (int)(direction & 1), &dir->bin[to]);
		first = messages;
		n = count_lone(&l, scatter(p, dir) * p->softness, cost);
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
	int ret = is_contaminated(p, windows, &cost);

	*rejected = 0;
	if (ret <= 0)
		return ret;
	for (size_t i = 0; i < 2 * p->links; i++) {
		double messages = (double)p->direction[i].messages / (double)windows;

		/* Twice, as windows share what is wrong at their border. */
		for (int part = 1; part <= 2; part++)
			*rejected += reject_lone_in(p, c, i, cost, messages / part, messages);
	}
	return 0;
}

/* ---- inverted ones ----------------------------------------------------- */

int contamination_reject_inverted(struct observations *p, const struct correction *c,
				  size_t windows, const double *margin, const double *scale,
				  size_t *rejected)
{
	double cost;
	int ret = is_contaminated(p, windows, &cost);

	*rejected = 0;
	if (ret <= 0)
		return ret;
	for (size_t i = 0; i < 2 * p->links; i++) {
		const struct obs_direction *dir = &p->direction[i];
		double least = margin[i / 2] - cost * scale[i / 2] * scatter(p, dir) / dir->mean;

		for (size_t j = 0; j < dir->bins; j++)
			*rejected += outliers_reject_below(p, c, i, j, least + dir->bin[j].excess);
	}
	return 0;
}
