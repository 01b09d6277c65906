/* SPDX-License-Identifier: GPL-2.0-only */
/* What waits on disk until the clocks are known, so that memory does not grow. */
#ifndef NETSYNC_SPOOL_H
#define NETSYNC_SPOOL_H

#include "tool.h"

struct spool {
	FILE *file;		/* in $TMPDIR, and nameless */
	size_t size;		/* of a record; at most SPOOL_RECORD */
};

#define SPOOL_RECORD 256

/* Make one for records of this size. False: that was said. */
bool spool_open(struct spool *spool, size_t size);

/* Add a record. */
void spool_put(struct spool *spool, const void *record);

/*
 * Call @each for all of them, as often as wanted. False: not all of them could
 * be kept, or @each returned false; the former was said.
 */
bool spool_replay(struct spool *spool,
		  bool (*each)(void *data, const void *record), void *data);

void spool_close(struct spool *spool);

#endif
