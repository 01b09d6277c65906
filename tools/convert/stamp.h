/* SPDX-License-Identifier: GPL-2.0-only */
/* Convert a time in a line of text to ns, and back to its original format. */
#ifndef NETSYNC_STAMP_H
#define NETSYNC_STAMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "zone.h"

/* Rules for times that lack the year or the zone. */
struct stamp_rules {
	struct zone zone; /* zone for dates that have none */
	int64_t near_ns;  /* a date without a year is in the year nearest to this time, ns */
};

/* Size of a zone's short name, including the terminating NUL, in bytes. */
#define ZONE_NAME_SIZE 8

struct stamp {
	int64_t time_ns;    /* ns since 1970 */
	const char *format; /* format of a date, or NULL for a number */
	size_t length;	    /* number of bytes in the text */
	/* Number of decimals of the seconds, at most 9, or -1 if the number is in ns. */
	int decimals;
	char separator;		   /* separator in a date: '-' or '/' */
	char between;		   /* separator of date and time of day: 'T', 't' or ' ' */
	char point;		   /* decimal point: '.' or ',' */
	char pad;		   /* character before a day below 10: ' ', '0', or 0 if none */
	bool is_local;		   /* the time has no zone, or only a short name of one */
	bool has_zone;		   /* the time has a zone */
	bool has_gap;		   /* there is a blank before the zone */
	int zone_s;		   /* seconds east of UTC, unless is_local */
	char zone[ZONE_NAME_SIZE]; /* zone as written: "Z", "+01:00", "CET" */
};

/* Size of the longest stamp, including the terminating NUL, in bytes. Chosen. */
#define STAMP_SIZE 64

enum stamp_answer {
	STAMP_FOUND,
	STAMP_NONE,
	STAMP_REFUSED, /* the time is ambiguous or impossible */
};

/*
 * Read a time at the beginning of a text. On failure, set @why to a clause that says why the time
 * is rejected and how to write it.
 */
enum stamp_answer stamp_read(struct stamp *stamp, const struct stamp_rules *rules, const char *text,
			     size_t size, const char **why);
/*
 * Write another time in the format of @stamp. Return false if its year does not have four digits.
 */
bool stamp_write(char to[STAMP_SIZE], const struct stamp *stamp, const struct stamp_rules *rules,
		 int64_t time_ns);

#endif
