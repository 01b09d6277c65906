/* SPDX-License-Identifier: GPL-2.0-only */
/* The zone of dates that do not specify one. */
#ifndef NETSYNC_ZONE_H
#define NETSYNC_ZONE_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum zone_kind {
	ZONE_ASSUMED, /* none was given: UTC */
	ZONE_OFFSET,  /* a fixed offset */
	ZONE_TZ,      /* the environment variable TZ, or a value set there */
};

struct zone {
	enum zone_kind kind;
	const char *name; /* as given; NULL if none */
	bool is_chosen;	  /* by an option */
	int east_s;	  /* of ZONE_OFFSET */
};

/*
 * Find the zone @name or, if @name is NULL, the zone of TZ, or UTC. If there is no such zone,
 * print a message and return false.
 */
bool zone_find(struct zone *zone, const char *name);

/* Print once which zone is assumed for dates without one, unless an option specifies it. */
void zone_say(const struct zone *zone);

/*
 * Compute the seconds since 1970 of a date and time of day. Return false if the date is not
 * valid.
 */
bool zone_utc_seconds(const struct tm *date, int64_t *seconds);

enum zone_answer {
	ZONE_FOUND,
	ZONE_NO_DATE,	 /* such as 30 February */
	ZONE_NEVER,	 /* skipped when clocks are put forward */
	ZONE_TWICE,	 /* repeated when clocks are put back */
	ZONE_OTHER_NAME, /* the zone has another short name at that time */
};

/*
 * The same in a zone. @short_name, such as "CET", selects one of two repeated times, unless
 * NULL.
 */
enum zone_answer zone_seconds(const struct zone *zone, const struct tm *date,
			      const char *short_name, int64_t *seconds);

/*
 * Set @date to the date and the time of day in a zone; tm_zone is its short name. Return false
 * if the year is out of range.
 */
bool zone_date(const struct zone *zone, int64_t seconds, struct tm *date);

#endif
