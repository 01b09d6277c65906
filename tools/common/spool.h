/* SPDX-License-Identifier: GPL-2.0-only */
/* Records that are kept on disk until the clocks are known, to bound memory use. */
#ifndef NETSYNC_SPOOL_H
#define NETSYNC_SPOOL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <netsync.h>

struct spool {
	FILE *file;  /* unnamed file in $TMPDIR */
	size_t size; /* size of a record in bytes, at most SPOOL_RECORD */
};

/* Maximum size of a record, in bytes. Chosen: struct netsync_packet and others fit. */
#define SPOOL_RECORD 256

/* Create a spool for records of @size bytes. On failure, print a message and return false. */
bool spool_open(struct spool *spool, size_t size);

/* Write a record to the spool. */
void spool_put_record(struct spool *spool, const void *record);

/*
 * Call @each for every record. This can be repeated. Return false if @each returned false or,
 * after a message, if not all records could be kept.
 */
bool spool_read_records(struct spool *spool, bool (*each)(void *data, const void *record),
			void *data);

void spool_close(struct spool *spool);

#endif
