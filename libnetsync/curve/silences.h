/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* When no message of a direction passed: what a clock did then nobody knows. */
#ifndef NETSYNC_CURVE_SILENCES_H
#define NETSYNC_CURVE_SILENCES_H

#include "curve/observations.h"

/* The times of all observations that are kept, of each side in order. */
struct silences {
	double *t[2]; /* ABOVE, BELOW; ns since the start of the span */
	size_t num[2];
	double span; /* ns */
};

/* 0 or -ENOMEM; release it in any case. O(observations log observations). */
int silences_find(struct silences *s, const struct observations *p);
void silences_release(struct silences *s);

/* How many of a side are at or before a time. */
size_t silences_until(const struct silences *s, int side, double t);

/*
 * Make a stretch of time reach to messages of either side, before it and after; where
 * there is none, to the end of the span.
 */
void silences_reach(const struct silences *s, double *from, double *to);

/* The longest time without a message of one side, with those at both ends, ns. */
double silences_longest(const struct silences *s);

#endif
