/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From the messages of all pairs to one clock for every host. */
#ifndef NETSYNC_REDUCE_REDUCE_H
#define NETSYNC_REDUCE_REDUCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bound/rate-bound.h"
#include "pair/estimate.h"
#include "netsync.h"

struct host {
	char *name;
	uint64_t packets;
	int64_t origin;	   /* its first time; others are relative to it */
	int64_t first;	   /* time of all packets and messages; */
	int64_t last;	   /* first > last: none */
	struct range said; /* what netsync_extend_span() says */
	int64_t last_used; /* of messages whose times are not made raw */
	struct range span; /* what clocks are made for; see span.h */
	int64_t time_error; /* how far off its messages' times can be, ns */
	/* results */
	enum netsync_quality quality;
	uint32_t island;
	int64_t bound_median;
	int64_t bound_max;
	struct netsync_clock *clock;
	struct netsync_step *step;
	uint32_t num_steps;
};

#define NO_HOST UINT32_MAX

/* What is wanted. */
struct task {
	const struct method *method;
	struct limits limits; /* for the bounds */
	double drift;	      /* the largest of an oscillator, 1 / ns */
	uint32_t reference; /* the time base; NO_HOST: choose, and it is set */
};

/**
 * reduce() - make the clocks of all hosts
 * @host: hosts, their spans set; the results are filled in
 * @num_hosts: how many
 * @est: estimates of the pairs; their qualities become those of the bounds
 * @num_pairs: how many
 * @task: what is wanted
 *
 * Return: 0 or -ENOMEM.
 */
int reduce(struct host *host, uint32_t num_hosts, struct estimate *est,
	   uint32_t num_pairs, struct task *task);

/* Say the median and the largest bound of a host's clock over its span. */
void host_summarize(struct host *host);

/* Forget the results of a host. */
void host_clear(struct host *h);

#endif
