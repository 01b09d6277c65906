/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decimal text -> integer ns. Times since 1970 in us need more digits than a double has. */
#ifndef NETSYNC_IO_SPANS_DECIMAL_H
#define NETSYNC_IO_SPANS_DECIMAL_H

#include <stdbool.h>
#include <stdint.h>

/* A time (ns), rounded down, and the largest error of its text: the true time may be later. */
struct decimal_time {
	int64_t ns;
	int64_t error_ns;
};

/*
 * Parse a decimal number, without sign and exponent, of units of 10^@digits ns. Return false if
 * the text is not such a number, or exceeds the range of int64_t.
 */
bool decimal_parse_time(const char *text, int digits, struct decimal_time *time);

#endif
