/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A stream of a CTF trace, be it in files or live. */
#ifndef NETSYNC_CTF_STREAM_H
#define NETSYNC_CTF_STREAM_H

#include <babeltrace2/babeltrace.h>

#include "io/ctf/event.h"
#include "io/io.h"
#include "io/packet/event.h"

struct ctf_stream {
	struct trace *trace;
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
 * It begins, as this message says: make decoders, and find out for the trace
 * what host and clock it is of. 0 or negative: -ENOMEM, -ERANGE for a clock
 * too far from the epoch.
 */
int ctf_stream_begin(struct ctf_stream *stream, const bt_message *message);

/*
 * Use a message: count losses and what is out of range, in the trace. 1: @seen
 * was filled in but for the host, its time as printed; 0: it is nothing of use;
 * negative: -ENOMEM, or io_fail() was called.
 */
int ctf_stream_use(struct ctf_stream *stream, const bt_message *message,
		   struct event_seen *seen);

/* The span is that of these times, too; before, it may be none (end < begin). */
void ctf_extend(struct range *span, int64_t first_ns, int64_t last_ns);

void ctf_stream_release(struct ctf_stream *stream);

#endif
