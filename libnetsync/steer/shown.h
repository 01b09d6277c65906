/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Raw times within an error -> the times that a steered clock may have shown then. The map's
 * error is one of raw time, so it is added before the map is inverted: where the clock was set
 * forward by an hour, raw times that are 1 ns apart were shown an hour apart.
 *
 *	raw  |              o'   a range of raw times, widened by the doubt,
 *	   - | - - - - - - /- -
 *	     |     .------o      includes times on both sides of the jump
 *	   - | - -/- - - - - -
 *	     |  o'
 *	     +---|---------|---- time that was shown
 */
#ifndef NETSYNC_STEER_SHOWN_H
#define NETSYNC_STEER_SHOWN_H

#include "steer/steering.h"

struct raw_time {
	int64_t ns;
};

/* Raw times between which an end of the shown range is nearly a straight line. */
struct breaks {
	struct raw_time *at; /* sorted */
	size_t num;
	size_t room;
};

/* The raw times, ns, in which a doubt's times may be shown, */
struct doubtful {
	int64_t from;  /* or begin to be, those of a later doubt; */
	int64_t until; /* or are still, those of an earlier one */
};

/* A map that is prepared for inversion. */
struct shown {
	const struct steering *clock;
	struct doubtful *doubtful; /* of each doubt, in order */
	struct breaks lo;	   /* of shown_range().lo, by raw.lo */
	struct breaks hi;	   /* of shown_range().hi, by raw.hi */
};

/* 0 or -ENOMEM; shown_release() is to be called after either. */
int shown_prepare(struct shown *s, const struct steering *clock);

void shown_release(struct shown *s);

/* All times that the clock may have shown within a range of raw times; unknown ends stay. */
struct range shown_range(const struct shown *s, struct range raw);

#endif
