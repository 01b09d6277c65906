/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From two hosts to the number of their pair. */
#ifndef NETSYNC_UTIL_PAIR_TABLE_H
#define NETSYNC_UTIL_PAIR_TABLE_H

#include <stddef.h>
#include <stdint.h>

/* With many pairs, to look at one that is not the right one costs most. */
struct pair_slot {
	uint32_t host[2];
	uint32_t number; /* of the pair + 1; 0: free */
};

struct pair_table {
	struct pair_slot *slot; /* at most half of them are taken */
	size_t slots;
	size_t num;
};

/* The number + 1; 0: there is none. */
uint32_t pair_table_find(const struct pair_table *t, uint32_t a, uint32_t b);

/* Add a pair, or number it anew, which cannot fail: 0 or -ENOMEM. */
int pair_table_set(struct pair_table *t, uint32_t a, uint32_t b,
		   uint32_t number);

void pair_table_release(struct pair_table *t);

#endif
