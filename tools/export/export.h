/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of netsync export. export.c reads the traces and finds the clocks of
 * their hosts; of each format a file writes what waits in spools.
 */
#ifndef NETSYNC_EXPORT_H
#define NETSYNC_EXPORT_H

#include "common/spool.h"

struct timeline_format;

struct export_host {
	const char *name;
	const struct netsync_clock *clock; /* NULL: it could not be corrected */
	struct netsync_clock *own;	/* the same, if it is to be released */
	int64_t shift_ns;	/* to be added to times before */
};

struct export {
	const struct netsync *ns;
	const struct netsync_io *io;
	struct export_host *hosts;	/* by number */
	uint32_t num_hosts;
	const char *reference;	/* whose clock is the time base */
	struct spool *messages;	/* struct netsync_message */
	struct spool *packets;	/* struct netsync_packet; unless it is NULL */
	bool events;		/* all others, too */
	const struct timeline_format *timeline;	/* what viewers read */

	/* Only what is of this time, corrected; both are within it. */
	int64_t begin_ns;	/* INT64_MIN: from the begin on */
	int64_t end_ns;		/* INT64_MAX: up to the end */
	const char **globs;	/* of events that are wanted; none: all */
	size_t num_globs;
};

/* A time of a host, corrected. False: that is not known, or does not fit. */
bool export_time(const struct export_host *host, int64_t time_ns,
		 int64_t *time_ref);

/* Is a corrected time within the window? */
static inline bool export_shows(const struct export *export, int64_t time_ref)
{
	return time_ref >= export->begin_ns && time_ref <= export->end_ns;
}

/* From when to when the traces are, corrected. False: that is not known. */
bool export_span(const struct export *export, int64_t *first_ns,
		 int64_t *last_ns);

/* An address in words, IPv4 as that; @text has INET6_ADDRSTRLEN. Return: @text. */
char *export_address(const uint8_t address[16], char *text);

/* False: not all was written. */
bool export_csv(FILE *out, const struct export *export);
bool export_perfetto(FILE *out, const struct export *export);

#endif
