/* SPDX-License-Identifier: GPL-2.0-only */
/* Records that are stored on disk until the clocks are known, so that memory use is limited. */
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

/* Maximum size of a record, in bytes. Chosen so that struct netsync_packet and others fit. */
#define SPOOL_RECORD 256

/* Create a spool for records of @size bytes. On failure, print a message and return false. */
bool spool_open(struct spool *spool, size_t size);

/* Write a record to the spool. */
void spool_put_record(struct spool *spool, const void *record);

/*
 * Call @each for every record. This function can be called several times. Return false if @each
 * returned false. If not all records could be stored, print a message and return false.
 */
bool spool_read_records(struct spool *spool, bool (*each)(void *data, const void *record),
			void *data);

/* Report why temporary data cannot be stored, according to errno. Return false. */
bool spool_report_error(void);

void spool_close(struct spool *spool);

#endif
