/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Records between the reader of CTF traces (ctf.c) and each of its workers (read.c):
 *
 *	reader				worker
 *			<-- CTF_OPENED		after CTF_WARNING, CTF_STATE
 *	struct ctf_wanted -->
 *			<-- CTF_EVENT ...	up to until_ns, mostly
 *			<-- CTF_STATE, CTF_READ
 *	struct ctf_wanted -->	and so on; CTF_FAILED is the last record
 */
#ifndef NETSYNC_CTF_READ_H
#define NETSYNC_CTF_READ_H

#include "io/ctf/files.h"
#include "io/ctf/stream.h"

enum ctf_what {
	CTF_WARNING,		/* text */
	CTF_EVENT,		/* struct event_seen */
	CTF_STATE,		/* struct ctf_state */
	CTF_OPENED,		/* struct ctf_opened; the worker waits for a time */
	CTF_READ,		/* int64_t, ns: all before was sent; INT64_MAX: all */
	CTF_FAILED,		/* text; its number is the errno */
};

/*
 * A worker's share of the streams that had not ended when the trace was opened. The shares are
 * contiguous: the findings of all shares, one after the other, are in the order of streams.
 */
struct ctf_share {
	uint32_t number, of;
};

/* The command to a worker: the part of the trace that is read next. */
struct ctf_wanted {
	int64_t until_ns;	/* up to this time, as printed */
	struct range window;	/* only what is within; the same each time */
	struct ctf_share share;	/* the same each time */
};

struct ctf_opened {
	struct ctf_identity is;
	struct range range;	/* as struct trace */
	uint64_t range_hash;
	/* Hash of the names of streams, in their order, and of which of them did not end. */
	uint64_t streams_hash;
	uint64_t streams;	/* number of those that did not end, */
	bool all_walked;	/* which are all read directly, stream by stream */
};

struct ctf_state {
	struct range span;	/* of all events read, ns as printed; hi < lo: none */
	struct ctf_counts counts;	/* since the last struct ctf_state */
	uint32_t damaged;	/* streams, since the last one */
};

/* The task of the worker, with a struct ctf_files as its data. */
void ctf_read_trace(const void *files);

#endif
