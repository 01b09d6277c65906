/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Infers the posterior of all clocks from the messages of all pairs, by the model of model/. */
#ifndef NETSYNC_INFER_INFER_H
#define NETSYNC_INFER_INFER_H

#include <stdint.h>

#include "curve/correction.h"
#include "message/message.h"
#include "util/parallel.h"

/* A host whose clock is inferred. */
struct infer_host {
	/*
	 * The caller sets the span and the straight line. Inference sets the curve to the
	 * posterior mean.
	 */
	struct correction *correction;
	uint32_t number;	/* the number of the host in pairs */
	size_t parent;		/* index of the host to which its first line is relative */
	const struct pair *via; /* the messages exchanged with the parent */
};

/* A pair of two of these hosts; host[] contains their indices. */
struct infer_pair {
	const struct pair *pair;
	size_t host[2];
};

struct infer_task {
	const struct infer_host *host; /* the reference first, and parents before their children */
	size_t num;
	const struct infer_pair *pair;
	size_t num_pairs;
	struct parallel *parallel; /* NULL to use only the caller's thread */
	uint32_t threads;
};

/*
 * Set the corrections of all hosts to their posterior. If the posterior of a host cannot be the
 * curve of a clock, because messages are inconsistent, its correction stays straight, and
 * no_margin is set. The result does not depend on the number of threads. Return 0 or -ENOMEM.
 */
int infer_clocks(const struct infer_task *t);

#endif
