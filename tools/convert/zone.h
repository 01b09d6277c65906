/* SPDX-License-Identifier: GPL-2.0-only */
/* The zone of dates that do not name one. */
#ifndef NETSYNC_ZONE_H
#define NETSYNC_ZONE_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum zone_kind {
	ZONE_ASSUMED,		/* nobody named one: UTC */
	ZONE_OFFSET,		/* a fixed offset */
	ZONE_TZ,		/* that of the environment variable TZ, or of one set there */
};

struct zone {
	enum zone_kind kind;
	const char *name;	/* as it was given; NULL: none was */
	bool is_chosen;		/* by an option */
	int east_s;		/* of ZONE_OFFSET */
};

/*
 * Take the zone @name, or without one (NULL) that of TZ, or else UTC. False: there is no
 * such zone, and that was said.
 */
bool zone_find(struct zone *zone, const char *name);

/* Say once which zone dates without one are taken to be in, unless an option says so. */
void zone_say(const struct zone *zone);

/* The seconds since 1970 of a date and time of day; false: it is no date. */
bool zone_utc_seconds(const struct tm *date, int64_t *seconds);

enum zone_answer {
	ZONE_FOUND,
	ZONE_NO_DATE,		/* such as 30 February */
	ZONE_NEVER,		/* that is skipped when clocks are put forward */
	ZONE_TWICE,		/* that comes twice when clocks are put back */
	ZONE_OTHER_NAME,	/* the zone has another short name then */
};

/*
 * The same in a zone. @short_name, such as "CET", chooses among times that come twice; NULL:
 * none is given.
 */
enum zone_answer zone_seconds(const struct zone *zone, const struct tm *date,
			      const char *short_name, int64_t *seconds);

/* The date and the time of day in a zone; tm_zone is its short name. False: no year has it. */
bool zone_date(const struct zone *zone, int64_t seconds, struct tm *date);

#endif
