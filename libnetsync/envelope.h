/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is kept of a cloud of messages: for every bin of time the few points
 * that can touch a clock curve, and how many there were.
 *
 * A point is kept if it is the lowest of its bin for some slope that clocks
 * can have, which is to say, if it is a corner of the bin's lower hull between
 * the steepest slopes. The others cannot touch any curve that is straight
 * inside a bin. Bins lie on a grid of powers of two; they become twice as wide
 * whenever there are too many, so that memory has a limit whatever the length
 * of the trace, and what is left does not depend on the order of the points.
 */
#ifndef NETSYNC_ENVELOPE_H
#define NETSYNC_ENVELOPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hull.h"

#define BIN_CORNERS 12

struct bin {
	int64_t index;		/* from base + index << shift, 1 << shift long */
	uint32_t messages;
	uint32_t corners;
	__int128 sum_x;
	struct point corner[BIN_CORNERS];	/* x strictly rising */
};

struct envelope {
	struct bin *bin;	/* in order of time after envelope_settle() */
	size_t num;
	size_t room;
	size_t last;		/* where the last point went */
	uint32_t *slot;		/* hash table of bin number + 1 */
	size_t slots;
	int shift;		/* a bin is 1 << shift ns wide */
	int64_t base;		/* where bin 0 begins; set before the first point */
};

/*
 * Add a point, with at most @limit bins afterwards: 0 or -ENOMEM, and then
 * nothing has changed.
 */
int envelope_add(struct envelope *e, int64_t x, int64_t y, size_t limit);

/* Put the bins in order: 0 or -ENOMEM. */
int envelope_settle(struct envelope *e);

void envelope_release(struct envelope *e);

#endif
