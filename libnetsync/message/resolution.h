/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The resolution of a host's timestamps is their greatest common divisor. It reveals a
 * capture in us, or a clock that advances with the timer's tick. Such a timestamp is
 * rounded down: the true time is between it and the next possible timestamp.
 */
#ifndef NETSYNC_MESSAGE_RESOLUTION_H
#define NETSYNC_MESSAGE_RESOLUTION_H

#include <stdint.h>

struct resolution {
	int64_t first; /* a timestamp, ns */
	/* Common divisor of all other timestamps' distances from it, ns; 0 if none yet. */
	uint64_t divisor;
	/* The following members are updated while the divisor is not 1. */
	uint64_t stamps; /* number of all timestamps */
	uint64_t same;	 /* number of timestamps at the earliest time */
	int64_t least;	 /* earliest time, ns */
};

/* Add a timestamp, ns. */
void resolution_add(struct resolution *r, int64_t t);

/* Add all timestamps of @other, after adding @shift, ns, to each. */
void resolution_merge(struct resolution *r, const struct resolution *other, int64_t shift);

/*
 * Return the smallest distance between timestamps (ns), or 1 if there are too few
 * timestamps to find it. Timestamps are counted from @origin, ns since 1970.
 */
int64_t resolution_compute(const struct resolution *r, int64_t origin);

#endif
