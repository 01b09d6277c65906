/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Two hosts -> the number of their pair. */
#ifndef NETSYNC_UTIL_PAIR_TABLE_H
#define NETSYNC_UTIL_PAIR_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "util/hash.h"

/*
 * Number of parts that the state of pairs is divided into; threads may change different parts
 * at the same time. Chosen: several parts for each thread of most machines.
 */
#define PAIR_PARTS 16

/* The part of a pair, of bits that its slot in a table does not depend on alone. */
static inline uint32_t pair_part(uint32_t a, uint32_t b)
{
	const uint64_t pair = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;

	return (uint32_t)(hash_mix(pair) >> 32) % PAIR_PARTS;
}

/* The hosts are in the slot, as looking at a wrong pair costs most. */
struct pair_slot {
	uint32_t host[2];
	uint32_t number; /* number of the pair + 1; 0: free */
};

struct pair_table {
	struct pair_slot *slot; /* at most half of the slots are used */
	size_t slots;
	size_t num;
};

/* The number of a pair + 1; 0: there is none. */
uint32_t pair_table_find(const struct pair_table *t, uint32_t a, uint32_t b);

/* Add a pair, or change its number, which cannot fail: 0 or -ENOMEM. */
int pair_table_set(struct pair_table *t, uint32_t a, uint32_t b,
		   uint32_t number);

void pair_table_release(struct pair_table *t);

#endif
