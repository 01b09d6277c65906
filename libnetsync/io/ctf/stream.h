/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decode the messages of a recorded or live CTF stream to packet and clock events. */
#ifndef NETSYNC_CTF_STREAM_H
#define NETSYNC_CTF_STREAM_H

#include <babeltrace2/babeltrace.h>

#include "io/ctf/clock.h"
#include "io/ctf/event.h"
#include "io/io.h"
#include "io/packet/event.h"

/*
 * Host and clock of a trace, which its streams report. Workers send this struct as it is in memory.
 */
struct ctf_identity {
	int64_t epoch_ns; /* time at which the clock shows zero (ns since 1970) */
	bool has_clock;	  /* if false, no stream has begun, and no other member is set */
	bool has_clock_uuid;
	bool is_corrected; /* whether the clock is NETSYNC_IO_CORRECTED_CLOCK */
	bool is_tai;	   /* whether the clock's name says that it is CLOCK_TAI */
	bool has_uuid;
	bool has_network;  /* whether there are event classes of network events */
	bool has_netns;	   /* whether some of these classes record the network namespace */
	bool has_unusable; /* whether some of these classes cannot be used; a warning was given */
	uint8_t clock_uuid[UUID_SIZE];
	uint8_t uuid[UUID_SIZE];
	char host_name[256]; /* chosen: HOST_NAME_MAX is 64 */
};

/* Losses so far. */
struct ctf_counts {
	uint64_t lost_events;  /* events that the tracer has discarded */
	uint64_t lost_packets; /* trace packets that the tracer has overwritten */
	uint64_t out_of_range; /* events whose time does not fit into 64 bits */
};

/* All streams of one trace. */
struct ctf_streams {
	struct netsync_io *io;
	const char *path;      /* path or URL, for messages */
	const char *real_path; /* if the trace has no host name, its last component is used */
	const void *clock;     /* class of the streams' clock, or NULL if no stream has begun */
	struct ctf_identity is;
	struct ctf_counts counts;
	struct range window; /* requested time window (ns, as times that are printed) */
};

struct ctf_stream {
	struct ctf_streams *all;
	char *name;
	struct ctf_decoder **decoders; /* decoders of network events and clock events */
	size_t num_decoders;
	uint64_t num_classes;	/* number of event classes examined */
	struct ctf_clock clock; /* the stream's clock, if it has one */
	bool usable;		/* whether its clock is the clock of the other streams */
	bool any;		/* whether an event was read */
	int64_t last_ns;	/* latest time of an event, as printed (ns) */
	struct range span;	/* time range of events in the window; if hi < lo, there are none */
};

/*
 * Process the message of a stream's beginning: create decoders, and find the host and clock of all
 * streams. Return 0 or a negative errno value. -ERANGE means that the clock is too far from 1970.
 */
int ctf_stream_begin(struct ctf_stream *stream, const bt_message *message);

/*
 * Process a message. Count losses, and times that are out of range. Return 1 if @seen was filled
 * in, except its host, 0 if the message is not used, or -ENOMEM.
 */
int ctf_stream_use(struct ctf_stream *stream, const bt_message *message, struct event_seen *seen);

/*
 * Use an event that direct/ has read. The arguments are the event's payload, its decoder (or NULL)
 * and its clock value (cycles). Return the same values as ctf_stream_use().
 */
int ctf_stream_use_event(struct ctf_stream *stream, const struct ctf_decoder *decoder,
			 const struct ctf_field *payload, uint64_t cycles, struct event_seen *seen);

/*
 * Copy host and clock to a trace. Return 0. On failure, call io_fail() and return a negative value.
 */
int ctf_set_identity(struct trace *trace, const struct ctf_identity *is);

void ctf_stream_release(struct ctf_stream *stream);

#endif
