/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An estimate and all clocks -> what netsync_get_pair() returns of a pair. */
#ifndef NETSYNC_REDUCE_PAIR_INFO_H
#define NETSYNC_REDUCE_PAIR_INFO_H

#include "match/match.h"
#include "pair/estimate.h"
#include "reduce/reduce.h"

/**
 * pair_info_fill() - tell of a pair
 * @info: filled in; all 0 before
 * @e: its estimate
 * @host: all hosts, with their clocks; those of its messages' times
 * @peers: where packet events went
 */
void pair_info_fill(struct netsync_pair_info *info, const struct estimate *e,
		    const struct host *host, const struct peers *peers);

#endif
