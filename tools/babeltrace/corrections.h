/* SPDX-License-Identifier: GPL-2.0-only */
/* The corrections of streams' times, from a result file. */
#ifndef NETSYNC_BABELTRACE_CORRECTIONS_H
#define NETSYNC_BABELTRACE_CORRECTIONS_H

#include <babeltrace2/babeltrace.h>

#include "common/result-file.h"
#include "map.h"

struct corrections {
	struct model model;
	char *host;	   /* argument of corrections_open(), or NULL */
	bool extrapolate;  /* also correct times that the result does not cover */
	struct map clocks; /* struct host_clock by host */
	char *error;
};

struct host_clock;
struct mip;

struct stream_correction {
	const struct host_clock *clock;
	int64_t shift_ns;
	int64_t from_ns, to_ns;		  /* times on the host's clock that may be corrected */
	uint8_t machine[MODEL_UUID_SIZE]; /* see model_machine_uuid() */
};

/*
 * Read a result file, which must contain @host unless @host is NULL; release it in every
 * case. Functions that return int return 0 or a negative errno, and corrections_error()
 * is a sentence.
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
bool correction_holds(const struct stream_correction *correction, int64_t time_ns);

/*
 * Correct an original time. Set *@moved_ns to the difference from netsync_convert(), which
 * keeps times in order at a step of the clock. Return -ERANGE if the corrected time is before
 * 1970, or does not fit.
 */
int correction_apply(const struct stream_correction *correction, int64_t time_ns,
		     int64_t *corrected_ns, int64_t *moved_ns);

#endif
