/* SPDX-License-Identifier: GPL-2.0-only */
/* The clock in the metadata of a CTF 1.8 trace, which is TSDL. */
#ifndef NETSYNC_TSDL_H
#define NETSYNC_TSDL_H

#include <stdint.h>

#define TSDL_UUID_LEN 36 /* characters of a UUID as text (RFC 9562) */

struct tsdl_clock {
	uint64_t freq;		      /* Hz */
	int64_t offset_s;	      /* zero of the clock since the epoch, s */
	int64_t offset;		      /* further cycles */
	char uuid[TSDL_UUID_LEN + 1]; /* new value; empty: unchanged */
};

/* Read the clock. Return NULL; or the reason why it cannot be read, as the end of a sentence. */
const char *tsdl_read_clock(const char *text, struct tsdl_clock *clock);

/*
 * The text with another clock, whose offset_s must be 0; to be freed. Return NULL if out of
 * memory.
 */
char *tsdl_change_clock(const char *text, const struct tsdl_clock *clock);

#endif
