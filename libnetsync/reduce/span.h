/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Times of messages and packets -> the span in which a host was traced. A false timestamp
 * may be years away from all others; curves and bounds must not depend on it.
 */
#ifndef NETSYNC_REDUCE_SPAN_H
#define NETSYNC_REDUCE_SPAN_H

#include "message/message.h"
#include "reduce/reduce.h"

/*
 * Set the spans of all hosts: the specified times and those of messages and packets, except a few
 * that are far off and inconsistent with all others. @slope: the largest difference in rate of two
 * clocks. 0 or -ENOMEM.
 */
int spans_set(struct host *host, uint32_t num_hosts, struct pair **pair, size_t num_pairs,
	      double slope);

#endif
