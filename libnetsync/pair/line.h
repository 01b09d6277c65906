/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The line between the clocks of a pair. Coordinates are those of message.h:
 * x = time on host[0], y = time on host[1] - time on host[0], in ns.
 */
#ifndef NETSYNC_PAIR_LINE_H
#define NETSYNC_PAIR_LINE_H

#include <stdint.h>

/* y(at) = y + frac + slope * (at - x), where y contains whole ns, and frac contains the rest */
struct line {
	int64_t x;
	int64_t y;
	double frac;
	double slope;
};

/* Return the value of the line at @x, minus a nearby integer @y. */
double line_value_above(const struct line *l, int64_t x, int64_t y);

/*
 * Convert the time *@t on one host to a time on the other host, both relative to the hosts'
 * origins. The result is the new *@t plus the returned fraction of a ns, which is less than 1.
 */
double line_convert_to_second(const struct line *l, int64_t *t);
double line_convert_to_first(const struct line *l, int64_t *t);

#endif
