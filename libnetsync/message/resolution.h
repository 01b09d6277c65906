/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The resolution of a host's stamps, by their greatest common divisor: a capture
 * in us, or a clock that goes on with the timer's tick, shows it. Such a stamp is
 * cut off: it was made at that time or up to the next one that there is.
 */
#ifndef NETSYNC_MESSAGE_RESOLUTION_H
#define NETSYNC_MESSAGE_RESOLUTION_H

#include <stdint.h>

struct resolution {
	int64_t first;	  /* a stamp, ns */
	uint64_t divisor; /* of all others' distances from it, ns; 0: none yet */
	/* While the divisor is not 1: */
	uint64_t stamps; /* all of them, */
	uint64_t same;	 /* and those of the earliest time, */
	int64_t least;	 /* which is this, ns */
};

/* Take a stamp into account, ns. */
void resolution_add(struct resolution *r, int64_t t);

/* Take all stamps of another one into account, which are later by @shift, ns. */
void resolution_merge(struct resolution *r, const struct resolution *other,
		      int64_t shift);

/*
 * The smallest distance of stamps (ns); 1 if there are too few stamps to find it. Stamps count
 * from @origin, ns since 1970.
 */
int64_t resolution_of(const struct resolution *r, int64_t origin);

#endif
