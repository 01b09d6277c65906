/* SPDX-License-Identifier: GPL-2.0-only */
/* Time zone for dates that have none. */
#ifndef NETSYNC_ZONE_H
#define NETSYNC_ZONE_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum zone_kind {
	ZONE_ASSUMED, /* no zone was given, so that UTC is assumed */
	ZONE_OFFSET,  /* the zone is a fixed offset */
	ZONE_TZ,      /* the zone is that of the environment variable TZ, or TZ was set to it */
};

struct zone {
	enum zone_kind kind;
	const char *name; /* name as given, or NULL if not given */
	bool is_chosen;	  /* the zone was given by an option */
	int east_s;	  /* offset of ZONE_OFFSET, in seconds east of UTC */
};

/*
 * Find the zone @name. If @name is NULL, use the zone in TZ, or UTC. If there is no such zone,
 * print a message and return false.
 */
bool zone_choose(struct zone *zone, const char *name);

/*
 * Print once which zone is assumed for dates without a zone, unless an option specifies the zone.
 */
void zone_warn_of_assumption(const struct zone *zone);

/*
 * Compute the seconds since 1970 of a date and time of day. Return false if the date is not
 * valid.
 */
bool zone_compute_utc_seconds(const struct tm *date, int64_t *seconds);

enum zone_answer {
	ZONE_FOUND,
	ZONE_NO_DATE,	 /* there is no such date, such as 30 February */
	ZONE_NEVER,	 /* the time was skipped when clocks were put forward */
	ZONE_TWICE,	 /* the time was repeated when clocks were put back */
	ZONE_OTHER_NAME, /* the zone has another short name at that time */
};

/*
 * Compute the seconds since 1970 for a date and time of day in a zone. If a time is repeated,
 * @short_name selects one of both, for example "CET". It may be NULL.
 */
enum zone_answer zone_find_seconds(const struct zone *zone, const struct tm *date,
				   const char *short_name, int64_t *seconds);

/*
 * Set @date to the date and time of day in a zone. tm_zone becomes the zone's short name. Return
 * false if the year is out of range.
 */
bool zone_compute_date(const struct zone *zone, int64_t seconds, struct tm *date);

#endif
