/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of netsync export. export.c reads the traces. For each format, one file writes the
 * contents of the spools.
 */
#ifndef NETSYNC_EXPORT_H
#define NETSYNC_EXPORT_H

#include "common/spool.h"
#include "events/timebase.h"

struct timeline_format;

/* Clocks of the times in a file, which --file names. */
enum attached_clock {
	ATTACHED_DEFAULT,  /* not specified */
	ATTACHED_MONO,	   /* CLOCK_MONOTONIC */
	ATTACHED_REALTIME, /* CLOCK_REALTIME */
};

/* A file that is not a trace for netsync, but for Perfetto. */
struct attached_file {
	char *host;
	const char *path;
	enum attached_clock clock;
};

struct export
{
	const struct timebase *base; /* the traces that were read, and their window */
	struct spool *messages;	     /* messages as struct netsync_message */
	/* Packet events as struct netsync_packet, or NULL if they are not needed. */
	struct spool *packets;
	bool events;				/* whether to export all other events, too */
	const struct timeline_format *timeline; /* format of the viewer's file */
	/* Patterns for names of requested events; none means all events. */
	const char **globs;
	size_t num_globs;
	/* files for an archive */
	const struct attached_file *files;
	size_t num_files;
};

/*
 * Format an IPv6 address, or an IPv4 address mapped to IPv6, as text. @text must have room for
 * INET6_ADDRSTRLEN characters. Return @text.
 */
char *export_format_address(const uint8_t address[16], char *text);

/* Write the file. Return false if not everything was written. */
bool export_csv(FILE *out, const struct export *export);
bool export_perfetto(FILE *out, const struct export *export);
bool export_archive(FILE *out, const struct export *export);

#endif
