/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The resolution of a host's timestamps is their greatest common divisor. The resolution reveals
 * captures in us, and clocks that advance with the timer's tick. Such timestamps are rounded down:
 * the true time is between a timestamp and the next possible timestamp.
 */
#ifndef NETSYNC_MESSAGE_RESOLUTION_H
#define NETSYNC_MESSAGE_RESOLUTION_H

#include <stdint.h>

struct resolution {
	int64_t first; /* a timestamp, ns */
	/*
	 * Greatest common divisor of the distances between it and all other timestamps, ns, or 0
	 * without other timestamps.
	 */
	uint64_t divisor;
	/* The following members are only updated while the divisor is not 1. */
	uint64_t stamps; /* number of all timestamps */
	uint64_t same;	 /* number of timestamps at the earliest time */
	int64_t least;	 /* earliest time, ns */
};

/* Add a timestamp, ns. */
void resolution_add(struct resolution *r, int64_t t);

/* Add all timestamps of @other. @shift, ns, is added to each of them. */
void resolution_merge(struct resolution *r, const struct resolution *other, int64_t shift);

/*
 * Return the smallest distance between timestamps (ns). If there are too few timestamps to find it,
 * return 1. Timestamps are relative to @origin, ns since 1970.
 */
int64_t resolution_compute(const struct resolution *r, int64_t origin);

#endif
