/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The resolution of a host's stamps is their greatest common divisor: it reveals a
 * capture in us, or a clock that advances with the timer's tick. Such a stamp is rounded
 * down: the true time is between it and the next possible stamp.
 */
#ifndef NETSYNC_MESSAGE_RESOLUTION_H
#define NETSYNC_MESSAGE_RESOLUTION_H

#include <stdint.h>

struct resolution {
	int64_t first;	  /* a stamp, ns */
	uint64_t divisor; /* of the distances of all other stamps from it, ns; 0 if none yet */
	/* While the divisor is not 1: */
	uint64_t stamps; /* all stamps, */
	uint64_t same;	 /* stamps of the earliest time, */
	int64_t least;	 /* and the earliest time, ns */
};

/* Add a stamp, ns. */
void resolution_add(struct resolution *r, int64_t t);

/* Add all stamps of @other, which are later by @shift, ns. */
void resolution_merge(struct resolution *r, const struct resolution *other, int64_t shift);

/*
 * Return the smallest distance between stamps (ns), or 1 if there are too few stamps to find
 * it. Stamps are counted from @origin, ns since 1970.
 */
int64_t resolution_of(const struct resolution *r, int64_t origin);

#endif
