/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How a daemon steered a host's clock, from what a raw clock, which nobody
 * steers, showed at some of its times: a map from the host's time to raw time.
 *
 *	raw |                 . '   the clock was slow here: less
 *	    |            . '        of its time per raw time
 *	    |        . o
 *	    |     o          o: points that were told
 *	    |  o
 *	    +-------------------- host's time
 *
 * Raw time is counted such that it equals the host's at one point, the anchor.
 */
#ifndef NETSYNC_STEER_STEERING_H
#define NETSYNC_STEER_STEERING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "steer/polyline.h"
#include "netsync.h"
#include "util/number.h"

struct clock_point {
	int64_t t;	/* on the host's clock, ns */
	int64_t raw;	/* on the raw clock, ns */
	int64_t within; /* how far off raw may be, ns */
	double rate;	/* of t per raw from here to the next; 0: unknown */
	bool set;	/* the host's clock was set at this instant */
};

/* Where raw time is known less well than elsewhere. */
struct doubt {
	struct range at; /* on the host's clock */
	int64_t error;	 /* how far off it may be, ns */
};

struct steering {
	struct clock_point *point;
	size_t num;
	size_t room;
	bool anchored;
	struct clock_point anchor;
	/* Made by steering_settle() of the points: */
	bool settled;
	struct polyline map; /* host's time -> raw time, absolute, ns */
	int64_t error;	     /* how far off it may be outside of doubts, ns */
	struct doubt *doubt; /* in order of time, apart from each other */
	size_t num_doubts;
	size_t doubt_room;
	struct netsync_step *step; /* the clock was set, absolute times */
	size_t num_steps;
	size_t step_room;
	/* Made by steering_describe(), for the last result: */
	struct netsync_steering told;
};

/* Add a point; any order will do. 0 or -ENOMEM. */
int steering_add(struct steering *s, const struct clock_point *p);

/* Make the map of all points: 0 or -ENOMEM. */
int steering_settle(struct steering *s);

static inline bool steering_known(const struct steering *s)
{
	return s && s->num;
}

/* Until when, on the host's clock, more points will hardly change the map. */
int64_t steering_known_until(const struct steering *s);

/* The doubt that a time lies in, or NULL. */
const struct doubt *steering_doubt(const struct steering *s, int64_t t);

/* Say in .told how the clock went within a span, which may be empty. */
void steering_describe(struct steering *s, struct range span);

void steering_release(struct steering *s);

#endif
