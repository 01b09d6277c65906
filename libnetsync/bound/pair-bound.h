/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The pair bound: from the messages of a pair, and the corrections of its hosts,
 * to its rate bound, and whether that may be claimed.
 */
#ifndef NETSYNC_BOUND_PAIR_BOUND_H
#define NETSYNC_BOUND_PAIR_BOUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bound/rate-bound.h"
#include "curve/correction.h"
#include "message/message.h"
#include "netsync.h"

struct pair_bound {
	struct rate_bound bound;
	/* INCOMPLETE, APPROXIMATE or ACCURATE. */
	enum netsync_quality quality;
	bool usable; /* the bound may be claimed */
	/* In which a clock that is set is not seen to be, ns; 0 without corrections. */
	int64_t longest_silence;
	/*
	 * Time (ns) in the span of each host during which messages are a second or more apart,
	 * and drift is not assumed, because a daemon may have steered.
	 */
	int64_t silent[2];
};

/**
 * pair_bound_make() - the bound of a pair
 * @r: filled in
 * @pair: its messages
 * @correction: of its two hosts; NULL: not known. Messages that are received before
 *	they were sent by these are taken to be wrong, and steps count as windows.
 * @limits: what is assumed
 *
 * Return: 0 or -ENOMEM.
 */
int pair_bound_make(struct pair_bound *r, const struct pair *pair,
		    const struct correction *correction[2], const struct limits *limits);
void pair_bound_release(struct pair_bound *r);

/* The mean half-width from x = @first to @last, ns; HUGE_VAL: not known. */
double pair_bound_width(const struct pair_bound *r, int64_t first, int64_t last);

#endif
