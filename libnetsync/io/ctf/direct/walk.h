/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Read the events of a stream file in order. */
#ifndef NETSYNC_CTF_WALK_H
#define NETSYNC_CTF_WALK_H

#include "io/ctf/direct/metadata.h"

struct ctf_walk;

/* An event, valid until the next one is read. */
struct walked {
	const struct ctf_event_type *type;
	uint64_t clock;		       /* the trace's clock, cycles */
	struct bit_cursor fields;      /* position where type->fields begins */
	struct bit_cursor context;     /* position where *common begins */
	struct bit_cursor specific;    /* position where type->context begins */
	const struct ctf_type *common; /* event context of the stream; NULL if none */
	uint64_t cpu;		       /* CPU of its packet; WALK_NO_CPU if unknown */
	/*
	 * For WALK_LOST, the number of lost events, or 0 if it is not known. No other member is
	 * set.
	 */
	uint64_t lost;
};

#define WALK_NO_CPU UINT64_MAX

/*
 * Get the begin times (cycles) of the first and last packets of a walk that has not begun. Return
 * false if the packets are not in time order, or if a time is not known.
 */
bool walk_get_times(const struct ctf_walk *walk, uint64_t *first, uint64_t *last);

/*
 * Append the walk through another file of the same stream to a walk that has not begun. @walk
 * takes ownership of @behind, which may be NULL.
 */
void walk_append(struct ctf_walk *walk, struct ctf_walk *behind);

/* Counts up to the current position, from which another reader can continue. */
struct walk_counts {
	uint64_t packets;     /* number of packets begun or skipped */
	uint64_t events;      /* number of events in the last of these packets */
	uint64_t lost_events; /* number of lost events, counted as in stream.c */
	uint64_t lost_packets;
};

/*
 * Start a walk at a file's first packet. The metadata must outlive the walk. Return NULL if the
 * file cannot be opened, or if its stream is not in the metadata.
 */
struct ctf_walk *walk_new(const struct metadata *metadata, const char *path);
void walk_free(struct ctf_walk *walk);

/* Get the stream class and the stream of a file. @instance is ~0 if the stream is unknown. */
void walk_identify(const struct ctf_walk *walk, uint64_t *stream_id, uint64_t *instance);

enum { WALK_END, WALK_EVENT, WALK_LOST };

/*
 * Read the next event. Return WALK_EVENT; WALK_LOST if the tracer lost events before this packet;
 * WALK_END; or -EILSEQ if the rest is damaged or has an unknown layout, and was not counted.
 */
int walk_read_event(struct ctf_walk *walk, struct walked *event);

const struct walk_counts *walk_get_counts(const struct ctf_walk *walk);

/*
 * Has the walk already read the item that another reader finds next: a packet's beginning, an
 * event, or something else? @left contains the walk's counts, which are counted down.
 */
bool walk_skip_counted(struct walk_counts *left, bool is_packet, bool is_event);

/*
 * From now on, skip packets that end before @clock (cycles of the trace's clock), with their
 * events and the losses before them. Packets that do not report their end are not skipped.
 */
void walk_set_begin(struct ctf_walk *walk, uint64_t clock);

#endif
