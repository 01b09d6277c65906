/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Convert results from raw time to the times of the hosts' own, steered clocks. */
#ifndef NETSYNC_STEER_RESULT_H
#define NETSYNC_STEER_RESULT_H

#include "reduce/reduce.h"
#include "steer/held.h"

/* The span of a host, on its own clock. */
struct traced {
	int64_t first;
	int64_t last;
	struct range said;
};

/*
 * Convert the hosts' spans to raw time, and set time_error. *@traced contains the original spans,
 * and must be freed. Return 0 or -ENOMEM.
 */
int steered_convert_spans(struct host *host, const struct steered_hosts *hosts,
			  struct traced **traced);

/* Restore the original spans. */
void steered_restore_spans(struct host *host, uint32_t num, const struct traced *traced);

/*
 * Convert the clocks, steps and spans of all hosts from raw time. If the uncovered messages in
 * @held reveal that a clock was stepped, the bounds at their times are unknown. Return 0 or
 * -ENOMEM.
 */
int steered_convert_results(struct host *host, const struct steered_hosts *hosts,
			    const struct held *held, uint32_t reference);

#endif
