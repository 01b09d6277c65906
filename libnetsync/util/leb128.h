/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Numbers with seven bits in each byte (LEB128, as in DWARF 5, section 7.6): numbers near
 * 0 are short, and the machine's byte order does not matter.
 */
#ifndef NETSYNC_UTIL_LEB128_H
#define NETSYNC_UTIL_LEB128_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the longest number. */
#define LEB128_MAX 10

/* Write a number. Return: the number of bytes written, at most LEB128_MAX. */
static inline size_t leb128_put(uint8_t *to, uint64_t v)
{
	size_t n = 0;

	for (; v >= 128; v >>= 7)
		to[n++] = (uint8_t)(v | 128);
	to[n++] = (uint8_t)v;
	return n;
}

/*
 * Read a number. Return: the number of bytes read; 0: the number is unterminated, or has
 * more than 64 bits.
 */
static inline size_t leb128_take(const uint8_t *from, size_t num, uint64_t *v)
{
	*v = 0;
	for (size_t n = 0; n < num && n < LEB128_MAX; n++) {
		/* The tenth byte holds only one bit. */
		if (n == LEB128_MAX - 1 && from[n] > 1)
			break;
		*v |= (uint64_t)(from[n] & 127) << (7 * n);
		if (from[n] < 128)
			return n + 1;
	}
	*v = 0;
	return 0;
}

/* The sign becomes the lowest bit, so that numbers near 0 are short: 0, -1, 1, -2, ... */
static inline uint64_t leb128_of_signed(int64_t v)
{
	return v < 0 ? ~((uint64_t)v << 1) : (uint64_t)v << 1;
}

static inline int64_t leb128_to_signed(uint64_t v)
{
	return (int64_t)(v >> 1 ^ (0 - (v & 1)));
}

#endif
