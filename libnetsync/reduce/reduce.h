/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The messages of all pairs -> a clock for each host. */
#ifndef NETSYNC_REDUCE_REDUCE_H
#define NETSYNC_REDUCE_REDUCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bound/rate-bound.h"
#include "message/resolution.h"
#include "pair/estimate.h"
#include "netsync.h"
#include "util/cache.h"
#include "util/parallel.h"

struct host {
	char *name;
	int64_t origin;			/* first time; others are relative to it, ns */
	struct range said;		/* set by netsync_extend_span() */
	struct range read;		/* if times are raw, span of the clock's readings */
	int64_t last_used;		/* last time of messages in non-raw time */
	struct range span;		/* of the clock; see span.h */
	int64_t time_error;		/* largest error of its messages' times, ns */
	bool raw;			/* times are raw: clock events report how it was steered, */
	const struct range *unreported; /* except in these raw times, absolute, ns */
	size_t num_unreported;
	bool has_unreported; /* some unreported times are within the span, beyond time_error */
	struct resolution resolution; /* resolution of the stamps of messages */
	int64_t resolution_ns;	      /* resolution assumed for them, ns */
	/* results */
	enum netsync_quality quality;
	uint32_t island;
	int64_t bound_median;
	int64_t bound_max;
	int64_t deviation_median;
	int64_t deviation_max;
	bool contradicted; /* no clocks satisfy its messages */
	int64_t silent;	   /* longest time in which a daemon may have steered clocks, ns */
	struct netsync_clock *clock;
	struct netsync_step *step;
	uint32_t num_steps;
	struct netsync_stack stack[2]; /* indexed by direction */
	/* Changed by each packet, while threads that match others use the origin: */
	uint64_t packets;
	int64_t first; /* span of packets and messages, ns: */
	int64_t last;  /* first > last: none */
	uint8_t apart[CACHE_LINE];
};

#define NO_HOST UINT32_MAX

/* Arguments of a reduction. */
struct task {
	const struct method *method;
	struct limits limits;	   /* limits of bounds */
	double drift;		   /* largest drift of an oscillator, 1 / ns */
	bool left_alone;	   /* nobody steers clocks, even if no message shows it */
	uint32_t reference;	   /* NO_HOST: choose one, and set it */
	struct parallel *parallel; /* NULL: the caller's thread alone */
	uint32_t threads;
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
int reduce(struct host *host, uint32_t num_hosts, struct estimate *est, uint32_t num_pairs,
	   struct task *task);

/*
 * Set the median and the largest bound and deviation of a host's clock over its span. A clock
 * without a bound most of the time is not accurate.
 */
void host_summarize(struct host *host);

/* Release the results of a host. */
void host_clear(struct host *h);

#endif
