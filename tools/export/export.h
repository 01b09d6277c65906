/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of netsync export. export.c reads the traces and finds the clocks of
 * their hosts; of each format a file writes what waits in spools.
 */
#ifndef NETSYNC_EXPORT_H
#define NETSYNC_EXPORT_H

#include "spool.h"

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
};

/* A time of a host, corrected. False: that is not known, or does not fit. */
bool export_time(const struct export_host *host, int64_t time_ns,
		 int64_t *time_ref);

/* An address in words, IPv4 as that; @text has INET6_ADDRSTRLEN. Return: @text. */
char *export_address(const uint8_t address[16], char *text);

/* False: not all was written. */
bool export_csv(FILE *out, const struct export *export);
bool export_perfetto(FILE *out, const struct export *export);

#endif
