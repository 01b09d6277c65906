/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Results in raw time -> results in the times of hosts' own, steered clocks. */
#ifndef NETSYNC_STEER_RESULT_H
#define NETSYNC_STEER_RESULT_H

#include "reduce/reduce.h"
#include "steer/held.h"

/* The span of a host in its own time. */
struct traced {
	int64_t first;
	int64_t last;
	struct range said;
};

/*
 * Convert the hosts' spans to raw time, and set time_error; *traced keeps the original
 * spans, and is to be freed. 0 or -ENOMEM.
 */
int steered_to_raw(struct host *host, const struct steered_hosts *hosts, struct traced **traced);

/* Restore the original spans. */
void steered_from_raw(struct host *host, uint32_t num, const struct traced *traced);

/*
 * Convert the clocks, steps and spans of all hosts from raw time: 0 or -ENOMEM. Where messages
 * that no points cover, @held, say that a clock was set, nothing is known.
 */
int steered_results(struct host *host, const struct steered_hosts *hosts, const struct held *held,
		    uint32_t reference);

#endif
