/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Stability test: how far a clock leaves straight lines over lengths of time. If it exceeds what
 * oscillators do, a daemon steers the clock. If the clock was not sampled often enough, a daemon
 * may steer it.
 */
#ifndef NETSYNC_CURVE_WANDER_H
#define NETSYNC_CURVE_WANDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/number.h"

/*
 * Number of lengths, each half as long as the previous one: six days / 16 down to a second. Chosen.
 */
#define WANDER_LENGTHS 16

struct correction;
struct link;

/* The stability of a clock; all zero: the clock was never observed. */
struct wander {
	bool left_alone; /* nobody steers the clock, */
	/* except in these unreported times, since the origin of its host, ns */
	struct range *unreported;
	size_t num_unreported;
	double longest; /* length, ns */
	/* For each length: */
	uint32_t looks[WANDER_LENGTHS]; /* number of second differences */
	double beyond[WANDER_LENGTHS];	/* the largest of them relative to the curve, ns */
	double bend[WANDER_LENGTHS];	/* that of the curve, less an oscillator's, ns */
	/* Times without samples, in order, since the start of its span, ns. */
	struct range *silence;
	size_t num_silences;
};

/*
 * Measure the stability of a host, whose curve is known, from the messages of all links: 0 or
 * -ENOMEM; release it in any case. @drift: largest drift of an oscillator, 1 / ns. O(observations
 * log observations).
 */
int wander_measure(struct wander *w, const struct correction *c, const struct link *links,
		   size_t num_links, double drift);
void wander_release(struct wander *w);

/*
 * Return the longest time without a sample between two instants (since the start of its span), ns;
 * 0 if nobody steers the clock.
 */
double wander_silence(const struct wander *w, int64_t from, int64_t to);

/*
 * Do messages show that the clock moved by at most @room, ns, beyond an oscillator's drift between
 * two instants (since the start of its span, ns)? If it has no samples there, use those of other
 * times.
 */
bool wander_is_small(const struct wander *w, int64_t from, int64_t to, double room);

#endif
