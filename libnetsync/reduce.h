/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From the lines of all pairs to one clock for every host. */
#ifndef NETSYNC_REDUCE_H
#define NETSYNC_REDUCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "estimate.h"
#include "netsync.h"

struct host {
	char *name;
	uint64_t packets;
	int64_t origin;		/* its first time; others are relative to it */
	int64_t first;		/* span, relative to the origin; */
	int64_t last;		/* first > last: empty */
	/* results */
	enum netsync_quality quality;
	uint32_t island;
	int64_t bound_median;
	int64_t bound_max;
	struct netsync_clock *clock;
};

#define NO_HOST UINT32_MAX

/**
 * reduce() - make the clocks of all hosts
 * @host: hosts, their spans set; the results are filled in
 * @num_hosts: how many
 * @est: estimates of the pairs
 * @num_pairs: how many
 * @method: how the estimates were made; curves are made here
 * @reference: the host to take as time base; NO_HOST: choose, and it is set
 *
 * Return: 0 or -ENOMEM.
 */
int reduce(struct host *host, uint32_t num_hosts, const struct estimate *est,
	   uint32_t num_pairs, enum netsync_method method,
	   uint32_t *reference);

#endif
