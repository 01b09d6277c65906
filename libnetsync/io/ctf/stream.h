/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A stream of a CTF trace, be it in files or live. */
#ifndef NETSYNC_CTF_STREAM_H
#define NETSYNC_CTF_STREAM_H

#include <babeltrace2/babeltrace.h>

#include "io/ctf/event.h"
#include "io/io.h"
#include "io/packet/event.h"

/* What is known of a trace by its streams; a worker sends it as it is. */
struct ctf_identity {
	int64_t epoch_ns;	/* of the clock's zero */
	bool has_clock;		/* else nothing of it is known */
	bool has_clock_uuid;
	bool is_corrected;	/* the clock is NETSYNC_IO_CORRECTED_CLOCK */
	bool has_uuid;
	bool has_network;	/* there are event classes of network events */
	bool has_netns;		/* some of which say the network namespace */
	uint8_t clock_uuid[UUID_SIZE];
	uint8_t uuid[UUID_SIZE];
	char host_name[256];
};

/* What was lost until now: numbers of events, of trace packets, of events. */
struct ctf_counts {
	uint64_t lost_events;
	uint64_t lost_packets;
	uint64_t out_of_range;
};

/* The streams of one trace together. */
struct ctf_streams {
	struct netsync_io *io;
	const char *path;	/* or URL, for people */
	const char *real_path;	/* the host's name is its end, if it has no other */
	const void *clock;	/* NULL: none has begun */
	struct ctf_identity is;
	struct ctf_counts counts;
};

struct ctf_stream {
	struct ctf_streams *all;
	char *name;
	struct ctf_decoder **decoders;	/* of network events */
	size_t num_decoders;
	uint64_t num_classes;	/* of events, that were looked at */
	bool usable;		/* its times are those of the trace's clock */
	bool any;		/* event was read */
	int64_t first_ns;	/* as printed */
	int64_t last_ns;
};

/*
 * It begins, as this message says: make decoders, and find out for all what host
 * and clock they are of. 0 or negative: -ENOMEM, -ERANGE for a clock
 * too far from the epoch.
 */
int ctf_stream_begin(struct ctf_stream *stream, const bt_message *message);

/*
 * Use a message: count losses and what is out of range. 1: @seen was filled in
 * but for the host; 0: it is nothing of use; negative: -ENOMEM.
 */
int ctf_stream_use(struct ctf_stream *stream, const bt_message *message,
		   struct event_seen *seen);

/*
 * The same of an event that was read elsewhere: its payload, the decoder for it or NULL,
 * and what the clock showed (ns; frequency 10^9).
 */
int ctf_stream_use_event(struct ctf_stream *stream,
			 const struct ctf_decoder *decoder,
			 const struct ctf_field *payload, uint64_t clock_ns,
			 struct event_seen *seen);

/* Take over what is known: 0, or negative after io_fail(). */
int ctf_identify(struct trace *trace, const struct ctf_identity *is);

void ctf_stream_release(struct ctf_stream *stream);

#endif
