/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whether the bound of a pair may assume a drift limit at all.
 *
 * netsync_solve(3) promises that f, the difference of the two clocks, never changes faster than the
 * rate limit, except by steps. A daemon that steers a clock keeps to this limit, but to no drift
 * limit. Two bounds follow from the messages, whose delays in both directions are positive:
 *
 *	R: the rate limit alone. It contains f whatever steers the clocks.
 *	B: the drift limit as well. It is narrower, and may be false if a clock is steered.
 *
 * Messages tell B from a false bound as follows. Let d0 and d1 be the least delays of the two
 * directions, and D their sum. If f keeps to the drift limit, so do f + d0 and f - d1, and no
 * message is inconsistent with these. So B is at least D wide at every instant. R is too, and where
 * two quick messages of both directions pass within a short time, it is hardly wider. Hence the
 * least width of R is D and a little more, and B is false if it is narrower than D at some instant.
 *
 * Conversely, let f exceed B by v at an instant. The messages of the opposite direction near this
 * instant leave f less than d1 + e, where e is the excess delay of the quickest one. So B is
 * narrower than d1 + e - v. It is also narrower than D, unless v < e - d0: only changes smaller than
 * the excess delay of all messages near an instant can remain hidden. Unequal delays do not matter.
 */
#ifndef NETSYNC_BOUND_DRIFT_LIMIT_H
#define NETSYNC_BOUND_DRIFT_LIMIT_H

#include <stdbool.h>
#include <stddef.h>

#include "bound/rate-bound.h"
#include "bound/windows.h"

/* The messages of a pair, and what is known of its clocks. */
struct drift_evidence {
	struct limits limits;
	const struct point *point[2]; /* upper limits of f, and lower ones, negated */
	size_t num[2];
	const struct windows *windows; /* in order of time */
	double coarse;		       /* by how much coarse stamps may be off, ns */
	bool all;		       /* no message is rejected, although the curve inverts some */
};

/*
 * Replace B, whose windows are those of @e, by R in three cases: R is hardly wider, B is narrower
 * than the delays allow, or B allows no clock but R does (unless the messages that R needs are
 * inverted by the curve: they are rather wrong). Set @all to the window of all time if B
 * was replaced. Return 1 if it was, 0 if not, or -ENOMEM. O(messages log messages).
 */
int drift_limit_check(struct rate_bound *b, const struct drift_evidence *e,
		      struct change_window *all);

#endif
