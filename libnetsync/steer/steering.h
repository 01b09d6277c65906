/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Steering of a host's clock by a daemon: readings of a raw clock, which nobody steers,
 * at some of the host's times -> a map from the host's time to raw time.
 *
 *	raw |                 . '   the clock was slow here: less
 *	    |            . '        of its time per raw time
 *	    |        . o
 *	    |     o          o: points that were given
 *	    |  o
 *	    +-------------------- host's time
 *
 * Raw time is counted so that it equals the host's time at one point, the anchor.
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
	int64_t t;	 /* on the host's clock, ns */
	int64_t raw;	 /* on the raw clock, ns */
	int64_t within;	 /* limit of the error of raw, ns */
	double rate;	 /* d t / d raw up to the next point; 0: unknown */
	bool set;	 /* the host's clock was set here */
	uint32_t number; /* one more than that of the point before; 0: none */
};

/* An interval in which the error of raw time is larger than elsewhere. */
struct raw_doubt {
	struct range at; /* on the host's clock */
	int64_t error;	 /* limit of the error, ns, */
	bool given_up;	 /* unless messages contradict it: made by steered_results() */
};

/* Limit of the error of raw time in a doubt, ns. */
static inline int64_t doubt_error(const struct raw_doubt *d)
{
	return d->given_up ? NETSYNC_MAX_SPAN : d->error;
}

struct steering {
	struct clock_point *point; /* as they came */
	size_t num;
	size_t room;
	/* All points before this time have come, if that was promised. */
	int64_t promised;
	bool has_promise;
	/* The host's first and last time; before steering_settle(). */
	int64_t begin;
	int64_t end;
	/* Messages of times up to this were used before any point came, as if raw time were the host's. */
	int64_t used_until;
	bool has_used;
	bool anchored;
	struct clock_point anchor;
	/* Made from points by steering_settle(): */
	bool settled;
	struct clock_point *used; /* by raw time; neither duplicates nor wrong ones */
	size_t num_used;
	size_t used_room;
	struct polyline map; /* host's time -> raw time, absolute, ns */
	int64_t error;	     /* limit of the map's error outside of doubts, ns */
	/*
	 * When messages count as if nothing were told: before the first point, after the last
	 * one, and in long gaps; raw time, absolute, in order.
	 */
	struct range *untold;
	size_t num_untold;
	size_t untold_room;
	struct raw_doubt *doubt; /* sorted by time, not overlapping */
	size_t num_doubts;
	size_t doubt_room;
	/* Does the first doubt go on before the host's times, and the last one after them? */
	bool open_before;
	bool open_after;
	struct netsync_step *step; /* settings of the clock, absolute times */
	size_t num_steps;
	size_t step_room;
	/* Made by steering_describe(), for the last result: */
	struct netsync_steering told;
};

/* Add a point, in any order. 0 or -ENOMEM. */
int steering_add(struct steering *s, const struct clock_point *p);

/* Add the points of another part that are not among those that came before: 0 or -ENOMEM. */
int steering_merge(struct steering *s, const struct clock_point *p, size_t num);

/*
 * Would a point, at a time of the host's and a raw one, tell of times of which messages were used
 * without any, up to @used? They may be a second older, as traces are read in turn.
 */
bool steering_is_late(const struct steering *s, int64_t t, int64_t raw, int64_t used);

/* Is a time so long before all points that messages count as if nothing were told? */
bool steering_is_long_before(const struct steering *s, int64_t t);

/* Make the map from all points: 0 or -ENOMEM. */
int steering_settle(struct steering *s);

static inline bool steering_known(const struct steering *s)
{
	return s && s->num;
}

/* The time of the host's clock before which further points hardly change the map. */
int64_t steering_known_until(const struct steering *s);

/* Does no point that is still to come change the map at a time, by what was promised? */
bool steering_is_final(const struct steering *s, int64_t t);

/* All points before a time have come; INT64_MAX: all points. */
void steering_promise(struct steering *s, int64_t t);

/* Set the host's first time. */
void steering_set_begin(struct steering *s, int64_t t);

/* Set the host's last time. */
void steering_set_end(struct steering *s, int64_t t);

/* Messages were used without points up to a time. */
void steering_set_used(struct steering *s, int64_t t);

/* The doubt that contains a time, or NULL. */
const struct raw_doubt *steering_doubt(const struct steering *s, int64_t t);

/* Do other raw times than a doubt's show times before it, or after it, with its error? */
bool steering_goes_on_before(const struct steering *s, const struct raw_doubt *d);
bool steering_goes_on_after(const struct steering *s, const struct raw_doubt *d);

/* Either: messages in it are before all points, or after them. */
bool steering_goes_on(const struct steering *s, const struct raw_doubt *d);

/* The times that points and doubts are of; empty if there are none. */
struct range steering_span(const struct steering *s);

/*
 * Do readings report nothing of some of the host's times in a span, and no doubt covers these?
 * steering_set_begin() and steering_set_end() were called.
 */
bool steering_has_untold(const struct steering *s, struct range span);

/* Set .told, the description of the clock within a span, which may be empty. */
void steering_describe(struct steering *s, struct range span);

void steering_release(struct steering *s);

#endif
