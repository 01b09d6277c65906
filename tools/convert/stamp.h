/* SPDX-License-Identifier: GPL-2.0-only */
/* A time in a line of text <-> ns, in the format that it has. */
#ifndef NETSYNC_STAMP_H
#define NETSYNC_STAMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stamp {
	int64_t time_ns;	/* since 1970 */
	bool is_date;		/* RFC 3339; else a number */
	size_t length;		/* bytes */
	int decimals;		/* of seconds, at most 9; -1: the number is in ns */
	char between;		/* of a date: 'T', 't' or ' ' */
	char point;		/* '.' or ',' */
	int zone_s;		/* east of UTC */
	char zone[8];		/* as it is written: "Z", "+01:00" */
};

/* Bytes of the longest stamp, with the 0. */
#define STAMP_SIZE 64

/* Read a time at the beginning of a text. False: there is none. */
bool stamp_read(struct stamp *stamp, const char *text, size_t size);
/* Write another time as the stamp was written. False: its year has no four digits. */
bool stamp_write(char to[STAMP_SIZE], const struct stamp *stamp, int64_t time_ns);

#endif
