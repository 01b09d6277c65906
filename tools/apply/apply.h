/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What netsync apply can write. apply.c finds the traces, and by what result
 * each is corrected; of each format a file copies one.
 */
#ifndef NETSYNC_APPLY_H
#define NETSYNC_APPLY_H

#include <stdbool.h>
#include <stdint.h>

#include <netsync.h>

#include "common/result-file.h"
#include "common/tool.h"

struct netsync_io;

/* Times of a host that were corrected; last < first: none. */
struct apply_seen {
	int64_t first_ns;
	int64_t last_ns;
};

/* How far all copies together have come, in bytes of the originals. */
struct apply_progress {
	struct progress line;
	uint64_t total;
	uint64_t done;		/* all traces before, */
	uint64_t bytes;		/* and how large the present one is */
};

struct apply_trace {
	struct netsync_io *io;	/* what found it */
	struct apply_progress *progress;
	const char *path;	/* of the original: a folder, or a file */
	const char *readable;	/* the same, or what is good of a damaged one */
	const char *result;	/* the result file, */
	const char *host;	/* the host in it, */
	const struct netsync_clock *clock;	/* and that one's clock */
	bool extrapolate;	/* also where the result does not hold, */
	int64_t from_ns;	/* which is outside of these times of the host; */
	int64_t to_ns;
	struct apply_seen *seen;	/* what it had, as far as that was asked */
	uint8_t machine[MODEL_UUID_SIZE];	/* see model_machine_uuid() */
	int64_t shift_ns;	/* time on it = time in the trace + this */
	int64_t first_ns;	/* from when to when it is, in its own time; */
	int64_t last_ns;	/* last < first: that is not known */
};

/* A time as it is in the trace, corrected. False: that does not fit. */
bool apply_time(const struct apply_trace *trace, int64_t time_ns,
		int64_t *corrected_ns);
/*
 * Of a trace whose times are met only while it is copied: may this one be
 * corrected? False: the result does not hold for it, which the caller complains of.
 */
bool apply_holds(const struct apply_trace *trace, int64_t time_ns);

/* So much of it is copied, in any unit. */
void apply_show(const struct apply_trace *trace, uint64_t done, uint64_t total);

/*
 * Write a corrected copy to @to, which is not there yet; its folder is. To be
 * given up where `interrupted` is set. What was written of a copy that failed
 * is removed by the caller. False: it failed, and that was complained of.
 */
typedef bool (*apply_copy)(const struct apply_trace *trace, const char *to);

bool apply_ctf(const struct apply_trace *trace, const char *to);
bool apply_pcap(const struct apply_trace *trace, const char *to);
bool apply_tracedat(const struct apply_trace *trace, const char *to);

/* Of CTF traces with the same stream files, and another clock in the metadata. */
bool apply_metadata(const struct apply_trace *trace, const char *to);

#endif
