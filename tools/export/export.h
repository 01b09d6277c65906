/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of netsync export. export.c reads the traces. Each format has a file that
 * writes the contents of the spools.
 */
#ifndef NETSYNC_EXPORT_H
#define NETSYNC_EXPORT_H

#include "common/spool.h"
#include "events/timebase.h"

struct timeline_format;

struct export
{
	const struct timebase *base; /* the traces that were read, and their window */
	struct spool *messages;	     /* messages as struct netsync_message */
	/* Packet events as struct netsync_packet; NULL if not needed. */
	struct spool *packets;
	bool events;				/* also export all other events */
	const struct timeline_format *timeline; /* format of the viewer's file */
	/* Names of requested events; all events if there are none. */
	const char **globs;
	size_t num_globs;
};

/*
 * Format an IPv6 address, or an IPv4 address mapped to IPv6, as text. The size of @text
 * is INET6_ADDRSTRLEN. Return @text.
 */
char *export_format_address(const uint8_t address[16], char *text);

/* Write the file. Return false if not everything was written. */
bool export_csv(FILE *out, const struct export *export);
bool export_perfetto(FILE *out, const struct export *export);

#endif
