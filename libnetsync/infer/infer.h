/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The messages of all pairs -> the posterior of all clocks, by the model of model/. */
#ifndef NETSYNC_INFER_INFER_H
#define NETSYNC_INFER_INFER_H

#include <stdint.h>

#include "curve/correction.h"
#include "message/message.h"
#include "util/parallel.h"

/* A host that takes part. */
struct infer_host {
	/* Its span and straight part are set; what replaces them is the posterior mean. */
	struct correction *correction;
	uint32_t number;	/* of the host, in pairs */
	size_t parent;		/* index of the one that it is first compared with */
	const struct pair *via; /* their messages */
};

/* A pair whose two hosts take part: by index. */
struct infer_pair {
	const struct pair *pair;
	size_t host[2];
};

struct infer_task {
	const struct infer_host *host; /* the reference first; parents before their children */
	size_t num;
	const struct infer_pair *pair;
	size_t num_pairs;
	struct parallel *parallel; /* NULL: the caller's thread alone */
	uint32_t threads;
};

/*
 * Replace the corrections of all hosts. Where the posterior is no clock, as messages
 * contradict each other, a correction stays straight, with no_margin. The result does not
 * depend on the threads. 0 or -ENOMEM.
 */
int infer_clocks(const struct infer_task *t);

#endif
