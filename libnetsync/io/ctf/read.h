/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the reader of CTF traces (ctf.c) and each of its workers (read.c) say to each other, with
 * the records and turns of io/stream:
 *
 *	reader				worker
 *			<-- CTF_OPENED		after warnings and a state
 *	window, share -->
 *	turn -->
 *			<-- events, span, state, end	all before the end's time was sent
 */
#ifndef NETSYNC_CTF_READ_H
#define NETSYNC_CTF_READ_H

#include "io/ctf/files.h"
#include "io/ctf/stream.h"
#include "io/stream/stream.h"

/* struct ctf_opened; the worker waits for a turn */
#define CTF_OPENED STREAM_OTHER

/*
 * A worker's share of the streams that had not ended when the trace was opened, as encoded in a
 * turn with STREAM_SHARE: (number << 32) + of. The shares are contiguous, so that the findings
 * of all shares, one after the other, are in stream order.
 */
struct ctf_share {
	uint32_t number, of;
};

struct ctf_opened {
	struct ctf_identity is;
	struct range range; /* as struct trace */
	uint64_t range_hash;
	/* Hash the names of streams, in their order, and whether each stream ended. */
	uint64_t streams_hash;
	uint64_t streams; /* number of those that did not end, */
	bool all_walked;  /* which are all read directly, stream by stream */
};

/* The task of the worker, with a struct ctf_files as its data. */
void ctf_read_trace(const void *files);

#endif
