/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Two hosts -> the number of their pair. */
#ifndef NETSYNC_UTIL_PAIR_TABLE_H
#define NETSYNC_UTIL_PAIR_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "util/hash.h"

/*
 * Number of parts into which the state of pairs is divided; threads may change different
 * parts at the same time. Chosen: several parts for each thread of most machines.
 */
#define PAIR_PARTS 16

/* The part of a pair, from bits that do not alone determine its slot in a table. */
static inline uint32_t pair_part(uint32_t a, uint32_t b)
{
	const uint64_t pair = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;

	return (uint32_t)(hash_mix(pair) >> 32) % PAIR_PARTS;
}

/* The slot contains the hosts, because reading a wrong pair would cost most. */
struct pair_slot {
	uint32_t host[2];
	uint32_t number; /* number of the pair + 1; 0: free */
};

struct pair_table {
	struct pair_slot *slot; /* at most half of the slots are used */
	size_t slots;
	size_t num;
};

/* The number of a pair + 1, or 0 if there is no pair. */
uint32_t pair_table_find(const struct pair_table *t, uint32_t a, uint32_t b);

/* Add a pair, or change its number; a change cannot fail. Return 0 or -ENOMEM. */
int pair_table_set(struct pair_table *t, uint32_t a, uint32_t b, uint32_t number);

void pair_table_release(struct pair_table *t);

#endif
