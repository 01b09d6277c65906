/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Make corrected copies of traces. apply.c finds the traces and their corrections. For each format,
 * one file has the function that copies a trace.
 */
#ifndef NETSYNC_APPLY_H
#define NETSYNC_APPLY_H

#include <stdbool.h>
#include <stdint.h>

#include <netsync.h>

#include "common/progress.h"
#include "common/result-file.h"

struct netsync_io;

/*
 * Range of the host's times that a copy has found so far. If no time was found yet, last_ns is less
 * than first_ns.
 */
struct apply_seen {
	int64_t first_ns;
	int64_t last_ns;
	bool is_outside; /* all times were outside of the window; there is no copy */
};

/* Progress of all copies, in bytes of the originals. */
struct apply_progress {
	struct progress line;
	uint64_t total;
	uint64_t done; /* bytes of all traces that were copied or skipped */
};

/* Range of corrected times to be copied. Both ends are included. */
struct apply_part {
	int64_t begin_ns; /* INT64_MIN if unlimited */
	int64_t end_ns;	  /* INT64_MAX if unlimited */
};

struct apply_trace {
	struct netsync_io *io; /* the reader object that found the trace */
	struct apply_progress *progress;
	uint64_t bytes;			   /* size of the original in bytes */
	uint64_t *done;			   /* number of bytes that were copied */
	const char *path;		   /* path of the original, a directory or a file */
	const char *readable;		   /* path to read: the original, or its undamaged part */
	const char *result;		   /* path of the result file */
	const char *host;		   /* name of the host in the result */
	const struct netsync_clock *clock; /* clock that corrects the host's times */
	bool extrapolate;		   /* also correct times that the result does not cover */
	int64_t from_ns;		   /* range of the host's times that the result covers */
	int64_t to_ns;
	struct apply_seen *seen; /* range of times that the copy has found so far */
	int64_t bound_ns;	 /* largest error bound of the host; NETSYNC_UNKNOWN if unknown */
	uint8_t machine[MODEL_UUID_SIZE]; /* UUID of the machine; see model_make_machine_uuid() */
	int64_t shift_ns;		  /* the host's time minus the time in the trace */
	struct apply_part part;		  /* events outside this range are skipped */
	int64_t first_ns;		  /* start of this part, in the trace's own time */
	int64_t last_ns;		  /* less than first_ns if the span is unknown */
	const char *file_host;		  /* name of the host in the trace */
	struct apply_trace *others;	  /* the other hosts of this file */
	size_t num_others;
};

/* Correct a time of the trace. Return false if the corrected time does not fit into 64 bits. */
bool apply_correct_time(const struct apply_trace *trace, int64_t time_ns, int64_t *corrected_ns);
/*
 * Check whether the result covers a time, so that the time may be corrected. Use this function for
 * traces whose times are only found during copying. The caller must report times that are not
 * covered.
 */
bool apply_check_time(const struct apply_trace *trace, int64_t time_ns);

/* Find the corrected time of a packet. Return values are those of netsync_io_time_func. */
int apply_correct_packet(const struct apply_trace *trace, int64_t time_ns, int64_t *corrected_ns);

/*
 * Set *@time_ns to the first start of a segment of the correction at or after this time of the
 * trace. Return false if no segment follows.
 */
bool apply_next_segment(const struct apply_trace *trace, int64_t *time_ns);

struct time_window;

/*
 * Find the range of corrected times that the options request. @result is the path of the result
 * file. On failure, print a message and return false.
 */
bool part_set_window(struct apply_part *part, const struct time_window *window, const char *result);
bool part_contains(const struct apply_part *part, int64_t corrected_ns);
/* Reduce the known span of a trace to its part. Return false if nothing remains. */
bool part_limit_trace(struct apply_trace *trace);

/* Report that @done of @total units are copied. The unit may be anything. */
void apply_show_progress(const struct apply_trace *trace, uint64_t done, uint64_t total);

/*
 * Write a corrected copy to @to. @to must not exist, but its directory must exist. Stop if
 * `interrupted` is set. The caller removes an incomplete copy. On failure, print a message and
 * return false.
 */
typedef bool (*apply_copy)(const struct apply_trace *trace, const char *to);

bool apply_ctf(const struct apply_trace *trace, const char *to);
bool apply_pcap(const struct apply_trace *trace, const char *to);
bool apply_perf(const struct apply_trace *trace, const char *to);
bool apply_kineto(const struct apply_trace *trace, const char *to);
bool apply_otf2(const struct apply_trace *trace, const char *to);
bool apply_retis(const struct apply_trace *trace, const char *to);
bool apply_spans(const struct apply_trace *trace, const char *to);
bool apply_tracedat(const struct apply_trace *trace, const char *to);

/* Copy a CTF trace by linking its stream files and changing the clock in the metadata. */
bool apply_metadata(const struct apply_trace *trace, const char *to);

#endif
