/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Times without a message of a direction: the clock is unobserved then. */
#ifndef NETSYNC_CURVE_SILENCES_H
#define NETSYNC_CURVE_SILENCES_H

#include "curve/observations.h"

/* The times of all observations kept, in order for each side. */
struct silences {
	double *t[2]; /* ABOVE, BELOW; ns since the start of the span */
	size_t num[2];
	double span; /* ns */
};

/* Find the silences: 0 or -ENOMEM; release them in any case. O(observations log observations). */
int silences_find(struct silences *s, const struct observations *p);
void silences_release(struct silences *s);

/* Return the number of observations of a side at or before a time. */
size_t silences_until(const struct silences *s, int side, double t);

/*
 * Extend an interval to the nearest messages of both sides before and after it, or to the end of
 * the span if there is none.
 */
void silences_reach(const struct silences *s, double *from, double *to);

/* Return the longest time between two messages of one side, ns. */
double silences_longest(const struct silences *s);

#endif
