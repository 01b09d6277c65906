/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What readers find, between the process that reads and the one that uses it: README.md. */
#ifndef NETSYNC_IO_STREAM_H
#define NETSYNC_IO_STREAM_H

#include "io/io.h"
#include "io/stream/code.h"
#include "io/worker/worker.h"

enum stream_what {
	STREAM_WARNING, /* text */
	STREAM_ERROR,	/* text; its number is the errno; nothing follows */
	/* Of the trace that is described next: texts, */
	STREAM_PATH,
	STREAM_REAL_PATH,
	STREAM_HOST,
	STREAM_CLOCK,
	STREAM_FORMAT,
	/*
	 * of a sidecar file (enum sidecar) its path, and its bytes, where the one that was sent
	 * last has another path;
	 */
	STREAM_SIDECAR,
	STREAM_SIDECAR_BYTES,
	STREAM_TRACE, /* and its numbers; the record's number is the trace's */
	/*
	 * All are described: how many bytes their files have; the record's number is how many
	 * paths and captures were skipped, as warnings said.
	 */
	STREAM_OPENED,
	/* Of the trace with the record's number: */
	STREAM_EVENTS, /* some, as in code.h, one behind the other */
	STREAM_SPAN,   /* from and to a time */
	STREAM_STATE,  /* counts since the last one: counts.c */
	STREAM_END,    /* of a turn: struct stream_end */
	STREAM_OTHER,  /* this and all above: the sender's own */
};

struct stream_end {
	int64_t read_ns; /* all up to this time was sent, as printed */
	bool more;	 /* there may be more */
};

/*
 * Which trace to read, and up to which time (as printed). With one of the flags, the time is only
 * the first, or the last, that is of use of the trace; or one of how many processes read it. Such
 * turns come before its other turns, and are not answered.
 */
#define STREAM_FROM (UINT32_C(1) << 31)
#define STREAM_TO (UINT32_C(1) << 30)
#define STREAM_SHARE (UINT32_C(1) << 29)
/* What is found is not sent: another process sent it before. */
#define STREAM_KNOWN (UINT32_C(1) << 28)
#define STREAM_FLAGS (STREAM_FROM | STREAM_TO | STREAM_SHARE | STREAM_KNOWN)

struct stream_turn {
	uint32_t trace; /* its number, and flags */
	int64_t until_ns;
};

#define STREAM_TURN_SIZE 12 /* bytes, as they travel */

void stream_put_turn(uint8_t to[STREAM_TURN_SIZE], const struct stream_turn *turn);

/* ---- send.c: called in the process that reads ------------------------------------ */

/*
 * From now on what readers find, and warnings of @io, are sent. The other process knows the counts
 * that its traces have now.
 */
void stream_begin(struct netsync_io *io);
/* Wait for a turn; the process ends if the other one is gone. */
struct stream_turn stream_receive_turn(void);
/*
 * Limit what is read of a trace, if the turn only does so. Return false if the turn is to be read.
 */
bool stream_limit_window(struct trace *trace, const struct stream_turn *turn);
/* From now on, records belong to this trace. @is_known means that this is not sent. */
void stream_begin_trace(struct trace *trace, uint32_t number, bool is_known);
/* Send the trace's losses since trace.sent and similar counts, if there are any. */
void stream_put_state(void);
void stream_put_end(int64_t read_ns, bool more);
/* Send io_fail()'s sentence, and its errno. */
void stream_put_error(const struct netsync_io *io, int error);

/* ---- receive.c -------------------------------------------------------------------- */

/* A process that reads. */
struct stream {
	/* The trace whose turn it is, or NULL, and the number that its records have. */
	struct trace *trace;
	uint32_t number;
	struct range *packets; /* times of packets that came, ns; hi < lo: none. May be NULL */
	uint64_t num_packets;  /* that came */
	bool is_quiet;	       /* what it warns of, and what it lost, is known already */
	struct stream_end end; /* of the last turn */
	struct code code;
};

/*
 * Process a warning, an error, or a record of the trace whose turn it is. Return 0; 1 at the
 * end of the turn; -EPROTO if the record is invalid, after which no more data may be received;
 * or a negative value after io_fail().
 */
int stream_use_record(struct stream *stream, struct netsync_io *io, const struct worker_head *head,
		      const void *payload);

/* ---- counts.c ---------------------------------------------------------------------- */

struct trace_counts trace_get_counts(const struct trace *trace);
/* Put the differences from @before to @now: at most 10 bytes each. */
void trace_encode_counts(struct bytes_put *put, const struct trace_counts *before,
			 const struct trace_counts *now);
/* Set the counts of a trace to @before and the differences that are taken. */
void trace_decode_counts(struct bytes_take *take, const struct trace_counts *before,
			 struct trace *trace);

#endif
