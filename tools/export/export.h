/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of netsync export. export.c reads the traces; of each format a file
 * writes what waits in spools.
 */
#ifndef NETSYNC_EXPORT_H
#define NETSYNC_EXPORT_H

#include "common/spool.h"
#include "events/timebase.h"

struct timeline_format;

struct export {
	const struct timebase *base;	/* what was read, and of which time */
	struct spool *messages;	/* struct netsync_message */
	struct spool *packets;	/* struct netsync_packet; unless it is NULL */
	bool events;		/* all others, too */
	const struct timeline_format *timeline;	/* what viewers read */
	const char **globs;	/* of events that are wanted; none: all */
	size_t num_globs;
};

/* An address in words, IPv4 as that; @text has INET6_ADDRSTRLEN. Return: @text. */
char *export_address(const uint8_t address[16], char *text);

/* False: not all was written. */
bool export_csv(FILE *out, const struct export *export);
bool export_perfetto(FILE *out, const struct export *export);

#endif
