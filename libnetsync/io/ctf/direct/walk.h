/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A stream file -> its events, one after the other. */
#ifndef NETSYNC_CTF_WALK_H
#define NETSYNC_CTF_WALK_H

#include "io/ctf/direct/metadata.h"

struct walk;

/* An event, until the next one. */
struct walked {
	const struct event_type *type;
	uint64_t clock;	      /* what the trace's clock showed, in its cycles */
	struct cursor fields; /* where type->fields begins */
};

/* What was gone by, to go on elsewhere. */
struct walk_counts {
	uint64_t packets; /* begun */
	uint64_t events;
	uint64_t lost_events; /* as stream.c counts them */
	uint64_t lost_packets;
};

/*
 * Begin at the first packet of a file. NULL: it cannot be opened, or its stream is
 * not in the metadata, which must outlive the walk.
 */
struct walk *walk_new(const struct metadata *metadata, const char *path);
void walk_free(struct walk *walk);

/* Which stream it is of; @instance: ~0: nothing tells. */
void walk_identify(const struct walk *walk, uint64_t *stream_id,
		   uint64_t *instance);

/*
 * 1: there is an event; 0: all were walked; -EILSEQ: what follows is not as it should
 * be, or not known here; nothing of it was counted.
 */
int walk_next(struct walk *walk, struct walked *event);

const struct walk_counts *walk_counts(const struct walk *walk);

#endif
