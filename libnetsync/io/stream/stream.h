/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The records that pass the findings of readers to the process that uses them: see README.md. */
#ifndef NETSYNC_IO_STREAM_H
#define NETSYNC_IO_STREAM_H

#include "io/io.h"
#include "io/stream/code.h"
#include "io/worker/worker.h"

enum stream_what {
	STREAM_WARNING, /* text */
	STREAM_ERROR,	/* text; the record's number is the errno; no record follows */
	/* Texts about the trace that is described next. */
	STREAM_PATH,
	STREAM_REAL_PATH,
	STREAM_HOST,
	STREAM_CLOCK,
	STREAM_FORMAT,
	/*
	 * Path of a sidecar file of that trace (the record's number is an enum sidecar), followed
	 * by its contents if the file sent last for this number has another path.
	 */
	STREAM_SIDECAR,
	STREAM_SIDECAR_BYTES,
	STREAM_TRACE, /* numbers of that trace; the record's number is the trace's */
	/*
	 * All traces are described: total size of their files. The record's number is the number
	 * of paths and captures that were skipped, for which warnings were sent.
	 */
	STREAM_OPENED,
	/* Records about the trace with the record's number. */
	STREAM_EVENTS, /* consecutive events, encoded as in code.h */
	STREAM_SPAN,   /* first and last time of events */
	STREAM_PART,   /* part of a relation between spans */
	STREAM_STATE,  /* changes of counts since the last state: counts.c */
	STREAM_END,    /* end of a turn: struct stream_end */
	STREAM_OTHER,  /* this and higher kinds are private to the sender */
};

struct stream_end {
	int64_t read_ns; /* time up to which all was sent, as printed */
	bool more;	 /* there may be more data */
};

/*
 * Number and time of a turn: which trace to read, and up to which time (as printed). With
 * STREAM_FROM or STREAM_TO, the time is only the first or last time of the trace that is needed.
 * STREAM_SHARE assigns one of several shares of the trace. Turns with these three flags precede
 * the trace's other turns, and are not answered.
 */
#define STREAM_FROM (UINT32_C(1) << 31)
#define STREAM_TO (UINT32_C(1) << 30)
#define STREAM_SHARE (UINT32_C(1) << 29)
/* The findings are not sent, because another process sent them before. */
#define STREAM_KNOWN (UINT32_C(1) << 28)
#define STREAM_FLAGS (STREAM_FROM | STREAM_TO | STREAM_SHARE | STREAM_KNOWN)

struct stream_turn {
	uint32_t trace; /* number of the trace, and flags */
	int64_t until_ns;
};

#define STREAM_TURN_SIZE 12 /* encoded size (bytes) */

void stream_put_turn(uint8_t to[STREAM_TURN_SIZE], const struct stream_turn *turn);

/* ---- send.c: called in the process that reads ------------------------------------ */

/*
 * From now on, send the findings of readers and the warnings of @io. The other process knows the
 * current counts of its traces.
 */
void stream_begin(struct netsync_io *io);
/* Wait for a turn. End the process if the other process is gone. */
struct stream_turn stream_receive_turn(void);
/*
 * If the turn only limits what is read of a trace, apply the limit. Return false if the turn is
 * to be read.
 */
bool stream_limit_window(struct trace *trace, const struct stream_turn *turn);
/* From now on, records belong to this trace. If @is_known is true, they are not sent. */
void stream_begin_trace(struct trace *trace, uint32_t number, bool is_known);
/* Send the changes of the trace's counts, such as losses, since trace.sent, if there are any. */
void stream_put_state(void);
void stream_put_end(int64_t read_ns, bool more);
/* Send the sentence of io_fail(), and its errno. */
void stream_put_error(const struct netsync_io *io, int error);

/* ---- receive.c -------------------------------------------------------------------- */

/* The state of a stream from a reader process. */
struct stream {
	/* The trace whose turn it is, or NULL, and the number in its records. */
	struct trace *trace;
	uint32_t number;
	struct range *packets; /* times of packets received (ns; if hi < lo, none); may be NULL */
	uint64_t num_packets;  /* number of packets received */
	bool is_quiet;	       /* its warnings and losses are already known */
	struct stream_end end; /* end of the last turn */
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
/* Encode the differences from @before to @now, in at most 10 bytes each. */
void trace_encode_counts(struct bytes_put *put, const struct trace_counts *before,
			 const struct trace_counts *now);
/* Decode differences, and set the counts of a trace to @before plus the differences. */
void trace_decode_counts(struct bytes_take *take, const struct trace_counts *before,
			 struct trace *trace);

#endif
