/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Read the events of a stream file in order. */
#ifndef NETSYNC_CTF_DIRECT_READER_H
#define NETSYNC_CTF_DIRECT_READER_H

#include "io/ctf/direct/metadata.h"

struct direct_reader;

/* An event. It is valid until the next event is read. */
struct direct_event {
	const struct ctf_event_type *type;
	uint64_t clock;		       /* the trace's clock, cycles */
	struct bit_cursor fields;      /* position at which type->fields begins */
	struct bit_cursor context;     /* position at which *common begins */
	struct bit_cursor specific;    /* position at which type->context begins */
	const struct ctf_type *common; /* event context of the stream, or NULL */
	uint64_t cpu;		       /* CPU of its packet, or DIRECT_NO_CPU if not known */
	/*
	 * For DIRECT_LOST, the number of lost events, or 0 if it is not known. All other members are
	 * then unset.
	 */
	uint64_t lost;
};

#define DIRECT_NO_CPU UINT64_MAX

/*
 * Before reading begins, get the begin times (cycles) of the first and the last packet. Return
 * false if the packets are not in order of time or a time is not known.
 */
bool direct_reader_get_times(const struct direct_reader *reader, uint64_t *first, uint64_t *last);

/*
 * Append the reader of another file of the same stream, before reading begins. This function takes
 * ownership of @behind, which may be NULL.
 */
void direct_reader_append(struct direct_reader *reader, struct direct_reader *behind);

/* Counts up to the current position, from which libbabeltrace2 can continue. */
struct direct_counts {
	uint64_t packets;     /* number of packets that were begun or skipped */
	uint64_t events;      /* number of events in the last of these packets */
	uint64_t lost_events; /* number of lost events, counted as in stream.c */
	uint64_t lost_packets;
};

/*
 * Create a reader that starts at a file's first packet. The metadata must outlive it. Return NULL
 * if the file cannot be opened or its stream is not in the metadata.
 */
struct direct_reader *direct_reader_new(const struct metadata *metadata, const char *path);
void direct_reader_free(struct direct_reader *reader);

/*
 * Get the numbers of a file's stream class and stream. If the stream is not known, @instance is ~0.
 */
void direct_reader_identify(const struct direct_reader *reader, uint64_t *stream_id,
			    uint64_t *instance);

enum { DIRECT_END, DIRECT_EVENT, DIRECT_LOST };

/*
 * Read the next event. Return DIRECT_EVENT, DIRECT_LOST if the tracer lost events before this packet,
 * DIRECT_END, or -EILSEQ. -EILSEQ means that the rest is damaged or has an unknown layout, and has
 * not been counted.
 */
int direct_reader_read_event(struct direct_reader *reader, struct direct_event *event);

const struct direct_counts *direct_reader_get_counts(const struct direct_reader *reader);

/*
 * Return whether this reader has already read the item that libbabeltrace2 delivers next: the
 * beginning of a packet, an event, or something else. @left contains the reader's counts, which
 * this function counts down.
 */
bool direct_counts_skip(struct direct_counts *left, bool is_packet, bool is_event);

/*
 * From now on, skip packets that end before @clock (cycles of the trace's clock), together with
 * their events and with earlier losses. Packets that do not report their end are not skipped.
 */
void direct_reader_set_begin(struct direct_reader *reader, uint64_t clock);

#endif
