// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "curve/delays.h"

#define MESSAGES 64		/* of a window, in the rarer direction */
#define MAX_WINDOWS 1024
#define UNUSUAL 3.0		/* times what is expected of so many messages */
#define CHANCE 4		/* fewer than one window in so many: it is by chance */
#define BY_CHANCE 1.5		/* dispersion may be that */
#define AROUND 4		/* windows whose floor is the same */
#define WRONG 64		/* one window in so many may be wrong */

struct window {
	double low[2];		/* lowest of each direction, outward */
	double messages[2];
	double lift;		/* of its lowest, above the smallest delay */
};

static size_t window_of(const struct points *p, size_t num, double t)
{
	double w = floor(t / p->span * (double)num);

	return (size_t)fmin(fmax(w, 0), (double)(num - 1));
}

static void fill(struct window *window, size_t num, const struct points *p,
		 size_t link)
{
	for (size_t w = 0; w < num; w++)
		window[w] = (struct window){ .low = { HUGE_VAL, HUGE_VAL } };
	for (int d = 0; d < 2; d++) {
		const struct side *side = &p->side[2 * link + (size_t)d];

		for (size_t i = 0; i < side->heaps; i++) {
			const struct heap *h = &side->heap[i];
			struct window *w = &window[window_of(p, num, h->t)];
			double t;

			if (!h->samples)
				continue;
			w->low[d] = fmin(w->low[d], points_inner(p, h, d, &t));
			w->messages[d] += h->messages;
		}
	}
}

static bool filled(const struct window *w)
{
	return w->messages[ABOVE] && w->messages[BELOW];
}

/* Half of what is between the lowest of both directions. */
static double half(const struct window *w)
{
	return (w->low[ABOVE] + w->low[BELOW]) / 2;
}

/* That of the quickest windows. */
static double smallest(const struct window *window, size_t num, double *buffer)
{
	size_t n = 0;

	for (size_t w = 0; w < num; w++)
		if (filled(&window[w]))
			buffer[n++] = half(&window[w]);
	return nth(buffer, n, n / WRONG);
}

static double usual(const struct window *w, const struct side *side)
{
	return (side[0].mean / w->messages[0] +
		side[1].mean / w->messages[1]) / 2;
}

/*
 * How much more do the middles between both directions scatter than those of
 * independent messages would? Of a straight line of three, for exponential
 * delays, the median deviation is once what is usual. What it is more is common
 * to all messages of a window (P. McCullagh and J. Nelder, "Generalized Linear
 * Models", 1989: overdispersion).
 */
static double dispersion(const struct window *window, size_t num,
			 const struct side *side, double *buffer)
{
	double before[2] = { 0, 0 };
	size_t n = 0, seen = 0;

	for (size_t i = 0; i < num; i++) {
		const struct window *w = &window[i];
		double middle = (w->low[ABOVE] - w->low[BELOW]) / 2;

		if (!filled(w))
			continue;
		if (seen++ > 1)
			buffer[n++] = fabs(before[0] - 2 * before[1] + middle) /
				      usual(w, side);
		before[0] = before[1];
		before[1] = middle;
	}
	return median(buffer, n);
}

/* In how many windows is the lowest lifted? */
static size_t lift_windows(struct window *window, size_t num, double least,
			   const struct side *side)
{
	size_t n = 0;

	for (size_t i = 0; i < num; i++) {
		struct window *w = &window[i];

		w->lift = 0;
		if (!filled(w))
			continue;
		w->lift = fmax(half(w) - least - usual(w, side), 0);
		n += w->lift > (UNUSUAL - 1) * usual(w, side);
	}
	return n;
}

/*
 * That of the quickest window around: what is slower is so in one direction
 * more than in the other.
 */
static double floor_of(const struct window *window, size_t num, size_t at)
{
	size_t i = at > AROUND ? at - AROUND : 0;
	double least = HUGE_VAL;

	for (; i < num && i <= at + AROUND; i++)
		if (filled(&window[i]))
			least = fmin(least, window[i].lift);
	return least < HUGE_VAL ? least : 0;
}

static bool find(struct points *p, size_t link, struct window *window,
		 size_t num, double *buffer)
{
	struct side *side = &p->side[2 * link];
	double blur;
	bool lifted;

	fill(window, num, p, link);
	lifted = lift_windows(window, num, smallest(window, num, buffer),
			      side) * CHANCE > num;
	for (int d = 0; d < 2; d++) {
		for (size_t i = 0; i < side[d].heaps; i++) {
			struct heap *h = &side[d].heap[i];
			size_t at = window_of(p, num, h->t);
			const struct window *w = &window[at];

			h->lift = lifted ? floor_of(window, num, at) : 0;
			h->blur = lifted ? w->lift * w->messages[d] : 0;
		}
	}
	blur = dispersion(window, num, side, buffer) / BY_CHANCE;
	for (int d = 0; d < 2; d++)
		side[d].mean *= fmax(blur, 1);
	return lifted;
}

/* How far a clock may bend in a window. */
static double by_clock(const struct points *p, uint64_t num, double drift)
{
	double length = p->span / (double)num;

	return drift * length * length / 8;
}

/* What is usual in the mean of all windows. */
static double usual_of_side(const struct side *side, uint64_t num)
{
	return (side[0].mean / (double)side[0].messages +
		side[1].mean / (double)side[1].messages) / 2 * (double)num;
}

int floors_find(struct points *p, double drift)
{
	struct window *window = malloc(MAX_WINDOWS * sizeof(*window));
	double *buffer = malloc(MAX_WINDOWS * sizeof(*buffer));
	int ret = window && buffer ? 0 : -ENOMEM;

	for (size_t i = 0; i < p->links && ret >= 0; i++) {
		const struct side *side = &p->side[2 * i];
		uint64_t rarer = side[0].messages < side[1].messages ?
				 side[0].messages : side[1].messages;
		uint64_t num = rarer / MESSAGES;

		if (num > MAX_WINDOWS)
			num = MAX_WINDOWS;
		if (num && by_clock(p, num, drift) < usual_of_side(side, num) &&
		    find(p, i, window, num, buffer))
			ret = 1;
	}
	free(window);
	free(buffer);
	return ret;
}
