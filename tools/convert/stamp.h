/* SPDX-License-Identifier: GPL-2.0-only */
/* A time in a line of text <-> ns, in its original format. */
#ifndef NETSYNC_STAMP_H
#define NETSYNC_STAMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "zone.h"

/* Rules for times that are incomplete. */
struct stamp_rules {
	struct zone zone; /* of dates without a zone */
	int64_t near_ns;  /* dates without a year are nearest to this */
};

/* Bytes of a zone's short name, with the 0. */
#define ZONE_NAME_SIZE 8

struct stamp {
	int64_t time_ns;	   /* since 1970 */
	const char *format;	   /* of a date; NULL means a number */
	size_t length;		   /* bytes */
	int decimals;		   /* of seconds, at most 9; -1: the number is in ns */
	char separator;		   /* of a date: '-' or '/' */
	char between;		   /* date and time of day: 'T', 't' or ' ' */
	char point;		   /* '.' or ',' */
	char pad;		   /* before a day below 10: ' ', '0', or 0: nothing */
	bool is_local;		   /* it has no zone, or a short name of one */
	bool has_zone;		   /* it has a zone */
	bool has_gap;		   /* a blank before the zone */
	int zone_s;		   /* east of UTC, unless is_local */
	char zone[ZONE_NAME_SIZE]; /* as written: "Z", "+01:00", "CET" */
};

/* Bytes of the longest stamp, with the 0. Chosen. */
#define STAMP_SIZE 64

enum stamp_answer {
	STAMP_FOUND,
	STAMP_NONE,
	STAMP_REFUSED, /* ambiguous or impossible */
};

/*
 * Read a time at the beginning of a text. On failure, set @why to a clause with the reason for
 * rejecting the time, and how to write it.
 */
enum stamp_answer stamp_read(struct stamp *stamp, const struct stamp_rules *rules, const char *text,
			     size_t size, const char **why);
/*
 * Write another time in the format of a stamp. Return false if its year does not have four
 * digits.
 */
bool stamp_write(char to[STAMP_SIZE], const struct stamp *stamp, const struct stamp_rules *rules,
		 int64_t time_ns);

#endif
