/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The outcomes of a shard: messages, and changes to the state of hosts and pairs. Outcomes are
 * stored until all shards have processed a batch of records. Then one thread for each part of the
 * pairs updates the state of the pairs, in the order of shards.
 */
#ifndef NETSYNC_MATCH_OUTCOME_H
#define NETSYNC_MATCH_OUTCOME_H

#include <stddef.h>
#include <stdint.h>

#include "util/pair-table.h"

enum outcome_kind {
	OUTCOME_MESSAGE, /* a message was found */
	OUTCOME_LEARNED, /* an undecided message has revealed a clock offset */
	OUTCOME_PASSED,	 /* a packet passed through a host's stack */
	OUTCOME_COUNTED, /* a record was matched, or dropped without a match */
};

struct match_outcome {
	uint32_t from; /* the sender, or for PASSED and COUNTED the host */
	uint32_t to;   /* the receiver, or for COUNTED the other host of the record's pair */
	int64_t send;  /* send time, or for PASSED the time in the stack, ns */
	int64_t recv;
	uint32_t kind; /* enum outcome_kind */
	/*
	 * For MESSAGE, the number of records that the message marked as matched; for
	 * PASSED, enum netsync_dir; for COUNTED, the record's state.
	 */
	uint32_t detail;
};

struct outcomes {
	struct match_outcome *list;
	size_t num;
	size_t room;
};

/*
 * Add an outcome to the list of its part. @parts has one list for each part. Return 0 or
 * -ENOMEM.
 */
int outcome_add(struct outcomes *parts, const struct match_outcome *o);

/* Empty the lists, and free capacity that only few batches need. */
void outcomes_clear(struct outcomes *parts);

void outcomes_release(struct outcomes *parts);

#endif
