/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The time in which a host was traced. A false timestamp may lie years away
 * from all others: what curves and bounds are made for must not depend on it.
 */
#ifndef NETSYNC_REDUCE_SPAN_H
#define NETSYNC_REDUCE_SPAN_H

#include "message/message.h"
#include "reduce/reduce.h"

/*
 * Set the spans of all hosts: what is said of them, and the times of their
 * messages and packets but such that are far off, few, and contradict all
 * others. @slope: what clocks may differ by. 0 or -ENOMEM.
 */
int spans_set(struct host *host, uint32_t num_hosts, struct pair **pair,
	      size_t num_pairs, double slope);

#endif
