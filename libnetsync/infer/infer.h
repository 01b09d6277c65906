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
	/* The caller sets its span and straight part; the posterior mean replaces them. */
	struct correction *correction;
	uint32_t number;	/* of the host, in pairs */
	size_t parent;		/* index of the host that its first line is relative to */
	const struct pair *via; /* their messages */
};

/* A pair whose hosts both take part, by index. */
struct infer_pair {
	const struct pair *pair;
	size_t host[2];
};

struct infer_task {
	const struct infer_host *host; /* the reference first; parents before their children */
	size_t num;
	const struct infer_pair *pair;
	size_t num_pairs;
	struct parallel *parallel; /* NULL means the caller's thread alone */
	uint32_t threads;
};

/*
 * Replace the corrections of all hosts. If the posterior of a host is no possible clock,
 * because messages are inconsistent, its correction stays straight, with no_margin. The result
 * does not depend on the threads. Return 0 or -ENOMEM.
 */
int infer_clocks(const struct infer_task *t);

#endif
