/* SPDX-License-Identifier: GPL-2.0-only */
/* Messages that wait on disk until the clocks are known: memory does not grow. */
#ifndef NETSYNC_SPOOL_H
#define NETSYNC_SPOOL_H

#include "tool.h"

/* Times are as the clocks of the hosts showed them. */
struct spooled {
	uint32_t from;
	uint32_t to;
	int64_t send_ns;
	int64_t recv_ns;
};

struct spool {
	FILE *file;		/* in $TMPDIR, and nameless */
};

/* Keep all messages that are found in @ns from now on. False: that was said. */
bool spool_start(struct spool *spool, struct netsync *ns);

/*
 * Call @each for all of them, as often as wanted. False: not all of them could
 * be kept, or @each returned false; the former was said.
 */
bool spool_replay(struct spool *spool,
		  bool (*each)(void *data, const struct spooled *message),
		  void *data);

void spool_release(struct spool *spool);

#endif
