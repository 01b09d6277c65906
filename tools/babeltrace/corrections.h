/* SPDX-License-Identifier: GPL-2.0-only */
/* Corrections for the times of streams, which are read from a result file. */
#ifndef NETSYNC_BABELTRACE_CORRECTIONS_H
#define NETSYNC_BABELTRACE_CORRECTIONS_H

#include <babeltrace2/babeltrace.h>

#include "common/result-file.h"
#include "map.h"

struct corrections {
	struct model model;
	char *host;	   /* argument of corrections_open(), or NULL */
	bool extrapolate;  /* also correct times that the result does not cover */
	struct map clocks; /* from hosts to their struct host_clock */
};

struct host_clock;
struct mip;

struct stream_correction {
	const struct host_clock *clock;
	int64_t shift_ns;
	/* Range of the host's times that may be corrected. */
	int64_t from_ns, to_ns;
	int64_t bound_ns; /* largest error bound over the traces; NETSYNC_UNKNOWN if unknown */
	uint8_t machine[MODEL_UUID_SIZE]; /* UUID of the machine; see model_make_machine_uuid() */
};

/*
 * Read a result file. Unless @host is NULL, the result must contain this host. Release the
 * corrections even on failure. Functions that return int return 0 or a negative errno value.
 * corrections_error() then returns a sentence.
 */
int corrections_open(struct corrections *corrections, const char *path, const char *host);
void corrections_release(struct corrections *corrections);
const char *corrections_error(const struct corrections *corrections);

/*
 * Find the correction for a stream that has a clock. This is the correction of @host or, if @host
 * is NULL, of the host that the stream's trace and clock identify.
 */
int corrections_find(struct corrections *corrections, const struct mip *mip, const char *host,
		     const bt_stream *stream, struct stream_correction *correction);

/* Return whether an original time may be corrected. */
bool correction_is_valid_at(const struct stream_correction *correction, int64_t time_ns);

/*
 * Correct an original time. At a step of the clock, the corrected time may differ from the result
 * of netsync_convert(), to keep times in order. Set *@moved_ns to this difference. Return -ERANGE
 * if the corrected time is before 1970 or does not fit into 64 bits.
 */
int correction_apply(const struct stream_correction *correction, int64_t time_ns,
		     int64_t *corrected_ns, int64_t *moved_ns);

#endif
