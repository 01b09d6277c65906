/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Steering of a host's clock by a daemon. From readings of the host's clock and of a raw clock,
 * which no daemon steers, the functions compute a map from the host's time to raw time.
 *
 *	raw |                 . '   the clock was slow here: less
 *	    |            . '        of its time per raw time
 *	    |        . o
 *	    |     o          o: clock readings
 *	    |  o
 *	    +-------------------- host's time
 *
 * The zero of raw time is such that raw time equals the host's time at one reading, the anchor.
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
	int64_t t;	 /* time on the host's clock, ns */
	int64_t raw;	 /* time on the raw clock, ns */
	int64_t within;	 /* maximum error of @raw, ns */
	double rate;	 /* d t / d raw up to the next reading; 0 if unknown */
	bool set;	 /* the host's clock was stepped at this time */
	uint32_t number; /* consecutive number of the reading; 0 if not numbered */
};

/* An untrusted interval, in which the error of raw time is larger than elsewhere. */
struct raw_doubt {
	struct range at; /* times on the host's clock */
	int64_t error;	 /* maximum error, ns; invalid if given_up */
	bool given_up; /* messages are inconsistent with @error; set by steered_convert_results() */
};

/* Return the maximum error of raw time in an untrusted interval, ns. */
static inline int64_t raw_doubt_get_error(const struct raw_doubt *d)
{
	return d->given_up ? NETSYNC_MAX_SPAN : d->error;
}

struct steering {
	struct clock_point *point; /* in the order of arrival */
	size_t num;
	size_t room;
	/* If has_promise, all readings before this time have arrived. */
	int64_t promised;
	bool has_promise;
	/* The host's first and last time, which must be set before steering_settle(). */
	int64_t begin;
	int64_t end;
	/*
	 * If has_used, messages up to this time were used before any reading arrived, as if raw
	 * time were the host's time.
	 */
	int64_t used_until;
	bool has_used;
	bool anchored;
	struct clock_point anchor;
	/* The following members are set by steering_settle(). */
	bool settled;
	struct clock_point *used; /* sorted by raw time, without duplicates and wrong readings */
	size_t num_used;
	size_t used_room;
	struct polyline map; /* host's time -> raw time, absolute, ns */
	int64_t error;	     /* maximum error of the map outside of untrusted intervals, ns */
	/*
	 * Intervals of raw time, absolute and in order, in which steering is unreported: before the
	 * first reading, after the last one, and in long gaps. Messages in these intervals are used
	 * as if the clock had no readings.
	 */
	struct range *unreported;
	size_t num_unreported;
	size_t unreported_room;
	struct raw_doubt *doubt; /* sorted by time, not overlapping */
	size_t num_doubts;
	size_t doubt_room;
	/*
	 * Does the first untrusted interval extend to all times before it, and the last one to all
	 * times after it?
	 */
	bool open_before;
	bool open_after;
	struct netsync_step *step; /* steps of the clock, at absolute times */
	size_t num_steps;
	size_t step_room;
	/* Set by steering_describe(), for the last result. */
	struct netsync_steering reported;
};

/* Add a reading. Readings may be added in any order. Return 0 or -ENOMEM. */
int steering_add(struct steering *s, const struct clock_point *p);

/* Add the readings of another part, except those that were added before. Return 0 or -ENOMEM. */
int steering_merge(struct steering *s, const struct clock_point *p, size_t num);

/*
 * Does a reading at the host's time @t and the raw time @raw arrive too late, that is, after
 * messages up to @used were used without readings? Up to a second is allowed, because traces are
 * read in turns.
 */
bool steering_is_late(const struct steering *s, int64_t t, int64_t raw, int64_t used);

/* Is @t so long before all readings that messages are used as if the clock had no readings? */
bool steering_is_long_before(const struct steering *s, int64_t t);

/* Compute the map from all readings. Return 0 or -ENOMEM. */
int steering_settle(struct steering *s);

static inline bool steering_has_readings(const struct steering *s)
{
	return s && s->num;
}

/* Return the time of the host's clock before which further readings hardly change the map. */
int64_t steering_known_until(const struct steering *s);

/* Is the map at @t final? According to the promises, no later reading changes it. */
bool steering_is_final(const struct steering *s, int64_t t);

/* Promise that all readings before @t have been added. INT64_MAX means all readings. */
void steering_promise(struct steering *s, int64_t t);

/* Set the host's first time. */
void steering_set_begin(struct steering *s, int64_t t);

/* Set the host's last time. */
void steering_set_end(struct steering *s, int64_t t);

/* Record that messages up to @t were used without readings. */
void steering_set_used(struct steering *s, int64_t t);

/* Return the untrusted interval that contains @t, or NULL. */
const struct raw_doubt *steering_find_doubt(const struct steering *s, int64_t t);

/* Does an untrusted interval, with its error, extend to all times before it, or after it? */
bool steering_is_doubt_open_before(const struct steering *s, const struct raw_doubt *d);
bool steering_is_doubt_open_after(const struct steering *s, const struct raw_doubt *d);

/*
 * Does an untrusted interval extend in either direction? If so, messages in the interval are before
 * or after all readings.
 */
bool steering_is_doubt_open(const struct steering *s, const struct raw_doubt *d);

/*
 * Return the range of all readings and untrusted intervals. The range is empty if there are none.
 */
struct range steering_get_span(const struct steering *s);

/*
 * Is steering unreported at some of the host's times in @span that no untrusted interval covers?
 * Call steering_set_begin() and steering_set_end() before.
 */
bool steering_has_unreported(const struct steering *s, struct range span);

/*
 * Set the member reported: the steering of the clock within @span, as its readings report. @span may
 * be empty.
 */
void steering_describe(struct steering *s, struct range span);

void steering_release(struct steering *s);

#endif
