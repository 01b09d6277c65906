/* SPDX-License-Identifier: GPL-2.0-only */
/* How the times of each stream are corrected. */
#ifndef NETSYNC_BABELTRACE_CORRECTIONS_H
#define NETSYNC_BABELTRACE_CORRECTIONS_H

#include <babeltrace2/babeltrace.h>

#include "model.h"
#include "map.h"

struct corrections {
	struct model model;
	char *host;		/* all streams are of this one; NULL: as they say */
	struct map clocks;	/* of hosts */
	char *error;
};

struct host_clock;
struct mip;

struct correction {
	const struct host_clock *clock;
	int64_t shift_ns;
};

/*
 * Read a result file; to be released in every case. Here and below: 0 or a
 * negative errno, and corrections_error() is a sentence.
 */
int corrections_open(struct corrections *corrections, const char *path,
		     const char *host);
void corrections_release(struct corrections *corrections);
const char *corrections_error(const struct corrections *corrections);

/* Of a stream that has a clock. */
int corrections_find(struct corrections *corrections, const struct mip *mip,
		     const bt_stream *stream, struct correction *correction);

/*
 * A time as it is in a trace, corrected; *@moved_ns is by how much that is not
 * what netsync_convert() says, so that at a step of the clock no time is before an
 * earlier one. -ERANGE: that is before 1970, or does not fit.
 */
int correction_apply(const struct correction *correction, int64_t time_ns,
		     int64_t *corrected_ns, int64_t *moved_ns);

#endif
