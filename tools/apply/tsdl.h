/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Read and change the clock in the metadata of a CTF 1.8 trace. The metadata is in the language
 * TSDL.
 */
#ifndef NETSYNC_TSDL_H
#define NETSYNC_TSDL_H

#include <stdint.h>

#define TSDL_UUID_LEN 36 /* number of characters in the text form of a UUID (RFC 9562) */

struct tsdl_clock {
	uint64_t freq;		      /* frequency, Hz */
	int64_t offset_s;	      /* zero of the clock, s since the epoch */
	int64_t offset;		      /* number of cycles added to offset_s */
	int64_t precision;	      /* new value, cycles; negative if the value does not change */
	char uuid[TSDL_UUID_LEN + 1]; /* new value, or an empty text if the value does not change */
};

/* Read the clock. Return NULL on success. Otherwise, return the reason as the end of a sentence. */
const char *tsdl_read_clock(const char *text, struct tsdl_clock *clock);

/*
 * Return the text with a different clock. The caller frees it. Return NULL if out of memory.
 * @clock->offset_s must be 0.
 */
char *tsdl_change_clock(const char *text, const struct tsdl_clock *clock);

#endif
