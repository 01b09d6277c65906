/* SPDX-License-Identifier: GPL-2.0-only */
/* How the times of each stream are corrected. */
#ifndef NETSYNC_BABELTRACE_CORRECTIONS_H
#define NETSYNC_BABELTRACE_CORRECTIONS_H

#include <babeltrace2/babeltrace.h>

#include "common/result-file.h"
#include "map.h"

struct corrections {
	struct model model;
	char *host;		/* as corrections_open() was told, or NULL */
	bool extrapolate;	/* also where the result does not hold */
	struct map clocks;	/* of hosts */
	char *error;
};

struct host_clock;
struct mip;

struct correction {
	const struct host_clock *clock;
	int64_t shift_ns;
	int64_t from_ns, to_ns;	/* on the host's clock: it may be used within */
	uint8_t machine[MODEL_UUID_SIZE];	/* see model_machine_uuid() */
};

/*
 * Read a result file, which shall have this host unless @host is NULL; to be
 * released in every case. Here and below: 0 or a negative errno, and
 * corrections_error() is a sentence.
 */
int corrections_open(struct corrections *corrections, const char *path,
		     const char *host);
void corrections_release(struct corrections *corrections);
const char *corrections_error(const struct corrections *corrections);

/*
 * Of a stream that has a clock: that of @host; if this is NULL, of the one that it
 * says it is of.
 */
int corrections_find(struct corrections *corrections, const struct mip *mip,
		     const char *host, const bt_stream *stream,
		     struct correction *correction);

/* May a time as it is in a trace be corrected by it? */
bool correction_holds(const struct correction *correction, int64_t time_ns);

/*
 * A time as it is in a trace, corrected; *@moved_ns is by how much that is not
 * what netsync_convert() says, so that at a step of the clock no time is before an
 * earlier one. -ERANGE: that is before 1970, or does not fit.
 */
int correction_apply(const struct correction *correction, int64_t time_ns,
		     int64_t *corrected_ns, int64_t *moved_ns);

#endif
