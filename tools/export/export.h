/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of netsync export: export.c reads the traces, and a file for each format
 * writes the contents of the spools.
 */
#ifndef NETSYNC_EXPORT_H
#define NETSYNC_EXPORT_H

#include "common/spool.h"
#include "events/timebase.h"

struct timeline_format;

struct export
{
	const struct timebase *base;		/* the traces that were read, and their window */
	struct spool *messages;			/* struct netsync_message */
	struct spool *packets;			/* struct netsync_packet; unless it is NULL */
	bool events;				/* also all other events */
	const struct timeline_format *timeline; /* format of the viewer's file */
	const char **globs;			/* of requested events; none: all events */
	size_t num_globs;
};

/* An address as text, also for IPv4; @text has INET6_ADDRSTRLEN. Return @text. */
char *export_address(const uint8_t address[16], char *text);

/* Return false if not everything was written. */
bool export_csv(FILE *out, const struct export *export);
bool export_perfetto(FILE *out, const struct export *export);

#endif
