/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Numbers as bytes, independent of the machine's byte order: seven bits in each byte
 * (util/leb128.h), or little-endian for numbers most of which use all their bits.
 */
#ifndef NETSYNC_SAVE_BYTES_H
#define NETSYNC_SAVE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "netsync.h"
#include "util/wide.h"

/* Bytes that are written together. Chosen. */
#define BYTES_ROOM 4096

/* Output bytes, and the error of write(), after which nothing is output. */
struct bytes_put {
	netsync_write_func write;
	void *data;
	int error;
	size_t used;
	uint8_t room[BYTES_ROOM];
};

/* Input bytes; bad: bytes are missing, or numbers exceed their limits. */
struct bytes_take {
	const uint8_t *at;
	const uint8_t *end;
	bool bad;
};

void bytes_put_raw(struct bytes_put *p, const void *bytes, size_t num);
void bytes_put_number(struct bytes_put *p, uint64_t v);
void bytes_put_signed(struct bytes_put *p, int64_t v);
void bytes_put_128(struct bytes_put *p, __int128 v);
void bytes_put_wide(struct bytes_put *p, struct wide v);
void bytes_put_double(struct bytes_put *p, double v);
/* Write buffered bytes: 0, or the error of write(). */
int bytes_flush(struct bytes_put *p);

/* Return 0 if the input is bad, as for all that follows. */
uint64_t bytes_take_number(struct bytes_take *t);
/* Take a number that is @most or less. */
uint64_t bytes_take_up_to(struct bytes_take *t, uint64_t most);
/* Take a number whose magnitude is @most or less. */
int64_t bytes_take_signed(struct bytes_take *t, int64_t most);
__int128 bytes_take_128(struct bytes_take *t);
struct wide bytes_take_wide(struct bytes_take *t);
double bytes_take_double(struct bytes_take *t);
/* Take @num bytes in place. NULL: the input is bad. */
const uint8_t *bytes_take_raw(struct bytes_take *t, size_t num);
/*
 * Take the number of items of at least @size bytes each; the input must be long enough
 * for them.
 */
size_t bytes_take_count(struct bytes_take *t, size_t size);

#endif
