/* SPDX-License-Identifier: GPL-2.0-only */
/* Corrections of the times of streams, from a result file. */
#ifndef NETSYNC_BABELTRACE_CORRECTIONS_H
#define NETSYNC_BABELTRACE_CORRECTIONS_H

#include <babeltrace2/babeltrace.h>

#include "common/result-file.h"
#include "map.h"

struct corrections {
	struct model model;
	char *host;	   /* argument of corrections_open(), or NULL */
	bool extrapolate;  /* also correct times that the result does not cover */
	struct map clocks; /* maps hosts to their struct host_clock */
	char *error;
};

struct host_clock;
struct mip;

struct stream_correction {
	const struct host_clock *clock;
	int64_t shift_ns;
	/* Range of times on the host's clock that may be corrected. */
	int64_t from_ns, to_ns;
	uint8_t machine[MODEL_UUID_SIZE]; /* UUID of the machine; see model_make_machine_uuid() */
};

/*
 * Read a result file. Unless @host is NULL, the result must contain it. Release the
 * corrections in either case. Functions that return int return 0 or a negative errno
 * value; corrections_error() then returns a sentence.
 */
int corrections_open(struct corrections *corrections, const char *path, const char *host);
void corrections_release(struct corrections *corrections);
const char *corrections_error(const struct corrections *corrections);

/*
 * Find the correction of a stream that has a clock: the correction of @host or, if @host is
 * NULL, of the host identified by the stream's trace and clock.
 */
int corrections_find(struct corrections *corrections, const struct mip *mip, const char *host,
		     const bt_stream *stream, struct stream_correction *correction);

/* May an original time be corrected? */
bool correction_is_valid_at(const struct stream_correction *correction, int64_t time_ns);

/*
 * Correct an original time. Set *@moved_ns to the difference from the result of
 * netsync_convert(); this difference keeps times in order at a step of the clock. Return -ERANGE
 * if the corrected time is before 1970 or does not fit into 64 bits.
 */
int correction_apply(const struct stream_correction *correction, int64_t time_ns,
		     int64_t *corrected_ns, int64_t *moved_ns);

#endif
