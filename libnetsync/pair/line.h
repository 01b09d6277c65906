/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The line between the clocks of a pair. Coordinates are those of message.h:
 * x = time on host[0], y = time on host[1] - time on host[0], in ns.
 */
#ifndef NETSYNC_PAIR_LINE_H
#define NETSYNC_PAIR_LINE_H

#include <stdint.h>

/* y(at) = y + frac + slope * (at - x): whole ns apart, a double for the rest */
struct line {
	int64_t x;
	int64_t y;
	double frac;
	double slope;
};

/* Value of the line at x, as a difference to a nearby whole number. */
double line_above(const struct line *l, int64_t x, int64_t y);

/*
 * Time on one host -> time on the other, relative to their origins. The
 * result is *t plus the returned fraction of a ns, which is below 1.
 */
double line_to_second(const struct line *l, int64_t *t);
double line_to_first(const struct line *l, int64_t *t);

#endif
