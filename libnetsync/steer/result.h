/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Results of raw clocks -> results of the hosts' own, steered clocks. */
#ifndef NETSYNC_STEER_RESULT_H
#define NETSYNC_STEER_RESULT_H

#include "reduce/reduce.h"
#include "steer/held.h"

/* The times at which hosts were seen, before they are made raw. */
struct traced {
	int64_t first;
	int64_t last;
	struct range said;
};

/*
 * Make the hosts' times raw, and say how far off these can be; *traced keeps
 * what they were and is to be freed. 0 or -ENOMEM.
 */
int steered_to_raw(struct host *host, const struct steered_hosts *hosts,
		   struct traced **traced);

/* The other way round: the times as they were. */
void steered_from_raw(struct host *host, uint32_t num,
		      const struct traced *traced);

/* The clocks, steps and spans of all hosts, from raw time: 0 or -ENOMEM. */
int steered_results(struct host *host, const struct steered_hosts *hosts,
		    uint32_t reference);

#endif
