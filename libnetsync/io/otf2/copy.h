/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Copy an archive with new clock offsets. */
#ifndef NETSYNC_IO_OTF2_COPY_H
#define NETSYNC_IO_OTF2_COPY_H

#include "io/otf2/otf2.h"

/* Types of records in files of definitions: of locations, and of the archive. */
#define OTF2_CLOCK_OFFSET 6
#define OTF2_CLOCK_PROPERTIES 5

struct otf2_copy {
	struct netsync_io *io;
	const char *from, *to; /* anchor files */
	netsync_io_host_time_func time;
	void *data;
	struct otf2_archive archive;
	struct otf2_timer timer; /* of the copy */
};

/* Bytes in memory, with capacity for @room. */
struct otf2_bytes {
	uint8_t *data;
	size_t num, room;
};

/* ---- offsets.c ------------------------------------------------------------------ */

/*
 * Find the clock offsets of a host that give its events their new times, and extend the copy's range
 * of times. Return 0, or a negative value after io_fail().
 */
int otf2_find_offsets(struct otf2_copy *copy, const struct otf2_host *host,
		      struct otf2_offset **offsets, size_t *num);

/* ---- chunk.c -------------------------------------------------------------------- */

int otf2_put_offset(struct otf2_bytes *records, const struct otf2_offset *offset);
int otf2_put_timer(struct otf2_bytes *records, const struct otf2_timer *timer);
/* Make a file of definitions without records. Return 0 or -ENOMEM. */
int otf2_make_definitions(struct otf2_bytes *file);
/*
 * Replace all records of a type in a file of definitions by @records, and keep all other bytes.
 * @chunk is the size of its chunks, and @only_chunk whether it must have only one. Return 0;
 * -EILSEQ if the file is damaged; -E2BIG if it has too many or too large chunks; or -ENOMEM.
 */
int otf2_replace_records(struct otf2_bytes *file, uint8_t type, const struct otf2_bytes *records,
			 uint64_t chunk, bool only_chunk);

#endif
