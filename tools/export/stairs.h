/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Approximate the correction of a clock by stairs, that is, by offsets that are constant from one
 * time to the next:
 *
 *	offset	        ___|
 *		  ___|-
 *		-			time of the host ->
 */
#ifndef NETSYNC_EXPORT_STAIRS_H
#define NETSYNC_EXPORT_STAIRS_H

#include <stdbool.h>
#include <stdint.h>

#include <netsync.h>

struct timebase_host;

struct stairs {
	const struct timebase_host *host; /* a host that is corrected */
	int64_t from_ns, to_ns;		  /* span of the stairs, on the clock of the host */
	int64_t step_ns; /* maximum height of a step, except where the clock was stepped */
};

/*
 * Called for each stair, with its first time on the clock of the host, and the corrected time there.
 * Both times increase. Return false to stop.
 */
typedef bool stair_func(void *data, int64_t time_ns, int64_t corrected_ns);

/*
 * Call @each for all stairs. Corrected times within the span differ by at most
 * stairs_get_error() from those of netsync_convert(). Return false if @each did.
 */
bool stairs_walk(const struct stairs *stairs, stair_func *each, void *data);

/* Choose the height of the steps, so that there are not too many. */
void stairs_choose_step(struct stairs *stairs);

/* Return whether the steps are higher than those that stairs_choose_step() prefers. */
bool stairs_are_coarse(const struct stairs *stairs);
/* Return the maximum error of the stairs, ns. */
int64_t stairs_get_error(const struct stairs *stairs);

#endif
