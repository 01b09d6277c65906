/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Hash integers and texts. */
#ifndef NETSYNC_UTIL_HASH_H
#define NETSYNC_UTIL_HASH_H

#include <stdint.h>

/*
 * Factor for multiplicative hashing, which is 2^64 / golden ratio, rounded to an odd
 * number (D. E. Knuth, "The art of computer programming", volume 3, section 6.4).
 */
#define HASH_MULTIPLIER UINT64_C(0x9e3779b97f4a7c15)

/*
 * Hash @v for a table with 2^n slots. The high bits of the product depend on all bits of @v. The
 * high bits are folded into the low bits.
 */
static inline uint64_t hash_slot(uint64_t v)
{
	v *= HASH_MULTIPLIER;
	return v ^ v >> 32;
}

/* Hash @v such that all bits of the result depend on all bits of @v. */
static inline uint64_t hash_mix(uint64_t v)
{
	v = hash_slot(v) * UINT64_C(0xd6e8feb86659fd93);
	return v ^ v >> 29;
}

/* Add a text, including its end, to a hash. */
static inline uint64_t hash_text(uint64_t hash, const char *text)
{
	do
		hash = hash_mix(hash ^ (uint8_t)*text);
	while (*text++);
	return hash;
}

#endif
