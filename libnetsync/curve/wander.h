/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Wander: how far a clock leaves straight lines, over lengths of time. Where it does so by more
 * than oscillators do, somebody steers it; and where it was not seen often enough,
 * perhaps.
 */
#ifndef NETSYNC_CURVE_WANDER_H
#define NETSYNC_CURVE_WANDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/number.h"

/* Lengths, each half as long as the one before: six days / 16 down to a second. Chosen. */
#define WANDER_LENGTHS 16

struct correction;
struct link;

/* Zero: the clock was never seen. */
struct wander {
	bool left_alone; /* it is known that nobody steers it, */
	/* but for these times, of which that is not told; since the origin of its host, ns */
	struct range *untold;
	size_t num_untold;
	double longest; /* length, ns */
	/* By length: */
	uint32_t looks[WANDER_LENGTHS]; /* second differences that there are */
	double beyond[WANDER_LENGTHS];	/* the largest of them, beyond the curve, ns */
	double bend[WANDER_LENGTHS];	/* that of the curve, less an oscillator's, ns */
	/* When it was not seen, in order of time; since the start of its span, ns. */
	struct range *silence;
	size_t num_silences;
};

/*
 * What the messages of all links say of a host, whose curve is known: 0 or -ENOMEM; release
 * it in any case. @drift: the largest of an oscillator, 1 / ns. O(observations log observations).
 */
int wander_measure(struct wander *w, const struct correction *c, const struct link *links,
		   size_t num_links, double drift);
void wander_release(struct wander *w);

/*
 * The longest time that it was not seen from one instant to another (since the start of
 * its span), ns; 0 if it is known that nobody steers it.
 */
double wander_silence(const struct wander *w, int64_t from, int64_t to);

/*
 * Do messages say that the clock went on by itself from one instant to another (since the
 * start of its span, ns), but for @room, ns? If it was not seen there, then those of other times.
 */
bool wander_is_small(const struct wander *w, int64_t from, int64_t to, double room);

#endif
