/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Find the times that a steered clock may have shown within a range of raw times. The map's error
 * is an error of raw time, so it is added before the map is inverted. For example, if the clock was
 * stepped forward by an hour, raw times that are 1 ns apart were shown an hour apart.
 *
 *	raw  |              o'   a range of raw times, widened by the error,
 *	   - | - - - - - - /- -
 *	     |     .------o      includes times before and after the step
 *	   - | - -/- - - - - -
 *	     |  o'
 *	     +---|---------|---- time that the clock showed
 */
#ifndef NETSYNC_STEER_SHOWN_H
#define NETSYNC_STEER_SHOWN_H

#include "steer/steering.h"

struct raw_time {
	int64_t ns;
};

/* Raw times between which an end of the shown range is nearly linear. */
struct breaks {
	struct raw_time *at; /* sorted */
	size_t num;
	size_t room;
};

/* Raw times, ns, at which the times of an untrusted interval may be shown. */
struct doubtful {
	int64_t from;  /* earliest such time of this and all later intervals */
	int64_t until; /* latest such time of this and all earlier intervals */
};

/* A map that is prepared for inversion. */
struct shown {
	const struct steering *clock;
	struct doubtful *doubtful; /* one for each untrusted interval, in order */
	struct breaks lo;	   /* values of raw.lo at which shown_find_range().lo bends */
	struct breaks hi;	   /* values of raw.hi at which shown_find_range().hi bends */
};

/*
 * Prepare the inversion of a clock's map. Return 0 or -ENOMEM. Call shown_release() in both cases.
 */
int shown_prepare(struct shown *s, const struct steering *clock);

void shown_release(struct shown *s);

/*
 * Return the range of times that the clock may have shown within a range of raw times. Unknown ends
 * remain unknown.
 */
struct range shown_find_range(const struct shown *s, struct range raw);

#endif
