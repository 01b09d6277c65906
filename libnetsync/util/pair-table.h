/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Map two hosts to the number of their pair. */
#ifndef NETSYNC_UTIL_PAIR_TABLE_H
#define NETSYNC_UTIL_PAIR_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "util/hash.h"

/*
 * Number of parts into which the state of pairs is divided. Threads may change different parts at
 * the same time. Chosen so that each thread has several parts on most machines.
 */
#define PAIR_PARTS 16

/*
 * Return the part to which a pair belongs. The part depends on bits of the hash that do not alone
 * determine the pair's slot in a table.
 */
static inline uint32_t get_pair_part(uint32_t a, uint32_t b)
{
	const uint64_t pair = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;

	return (uint32_t)(hash_mix(pair) >> 32) % PAIR_PARTS;
}

/*
 * A slot contains the hosts, so that a search does not have to read other pairs, which would take
 * most of its time.
 */
struct pair_slot {
	uint32_t host[2];
	uint32_t number; /* number of the pair plus 1, or 0 if the slot is free */
};

struct pair_table {
	struct pair_slot *slot; /* at most half of the slots are in use */
	size_t slots;
	size_t num;
};

/* Return the number of a pair plus 1, or 0 if the pair is not in the table. */
uint32_t pair_table_find(const struct pair_table *t, uint32_t a, uint32_t b);

/*
 * Set the number of a pair. If the pair is new, add it. Return 0 or -ENOMEM. Changing the number of
 * an existing pair cannot fail.
 */
int pair_table_set(struct pair_table *t, uint32_t a, uint32_t b, uint32_t number);

void pair_table_release(struct pair_table *t);

#endif
