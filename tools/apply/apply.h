/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Corrected copies of traces: apply.c finds the traces and their corrections; another
 * file for each format copies one trace.
 */
#ifndef NETSYNC_APPLY_H
#define NETSYNC_APPLY_H

#include <stdbool.h>
#include <stdint.h>

#include <netsync.h>

#include "common/progress.h"
#include "common/result-file.h"

struct netsync_io;

/* Times of the host's clock that a copy has met; last < first: none. */
struct apply_seen {
	int64_t first_ns;
	int64_t last_ns;
	bool is_outside;	/* all of them were, so that there is no copy */
};

/* Progress of all copies, in bytes of the originals. */
struct apply_progress {
	struct progress line;
	uint64_t total;
	uint64_t done;		/* of all traces that are copied or left out */
};

/* Corrected times that copies have: from the one to the other, both included. */
struct apply_part {
	int64_t begin_ns;	/* INT64_MIN: since ever */
	int64_t end_ns;		/* INT64_MAX: for ever */
};

struct apply_trace {
	struct netsync_io *io;	/* that found the trace */
	struct apply_progress *progress;
	uint64_t bytes;		/* that it has */
	uint64_t *done;		/* how many of these are copied */
	const char *path;	/* the original: a folder, or a file */
	const char *readable;	/* path, or the undamaged part's */
	const char *result;	/* the result file, */
	const char *host;	/* name of the host in the result */
	const struct netsync_clock *clock;	/* correction of the host */
	bool extrapolate;	/* correct also times that the result does not hold for */
	int64_t from_ns;	/* the result holds within these times of the host */
	int64_t to_ns;
	struct apply_seen *seen;	/* the times that were met so far */
	uint8_t machine[MODEL_UUID_SIZE];	/* see model_machine_uuid() */
	int64_t shift_ns;	/* host's time - time in the trace */
	struct apply_part part;	/* what is outside is left out of the copy */
	int64_t first_ns;	/* span in the trace's own time, of what is in the part; */
	int64_t last_ns;	/* last < first: unknown */
};

/* Correct a time of the trace. False: the corrected time does not fit. */
bool apply_time(const struct apply_trace *trace, int64_t time_ns,
		int64_t *corrected_ns);
/*
 * For traces whose times are met while copying: may a time be corrected? False: the
 * result does not hold for it, which the caller complains of.
 */
bool apply_holds(const struct apply_trace *trace, int64_t time_ns);

/* The corrected time of a packet, or what else a netsync_io_time_func returns. */
int apply_packet(const struct apply_trace *trace, int64_t time_ns, int64_t *corrected_ns);

/* The begin of the next segment of a correction, at or after a time of the trace. False: none. */
bool apply_next_segment(const struct apply_trace *trace, int64_t *time_ns);

struct time_window;

/* What is asked for by options, of copies by a result. False: that cannot be, as was said. */
bool part_find(struct apply_part *part, const struct time_window *window, const char *result);
bool part_holds(const struct apply_part *part, int64_t corrected_ns);
/* Narrow the span of a trace, which is known, to its part. False: nothing of it is there. */
bool part_narrow(struct apply_trace *trace);

/* Show progress: @done of @total, in any unit. */
void apply_show(const struct apply_trace *trace, uint64_t done, uint64_t total);

/*
 * Write a corrected copy to @to, which does not exist, in a folder that does. Stops if
 * `interrupted` is set. The caller removes an incomplete copy. False: failed, and that
 * was said.
 */
typedef bool (*apply_copy)(const struct apply_trace *trace, const char *to);

bool apply_ctf(const struct apply_trace *trace, const char *to);
bool apply_pcap(const struct apply_trace *trace, const char *to);
bool apply_perf(const struct apply_trace *trace, const char *to);
bool apply_tracedat(const struct apply_trace *trace, const char *to);

/* Copy CTF traces by linking stream files, with another clock in the metadata. */
bool apply_metadata(const struct apply_trace *trace, const char *to);

#endif
