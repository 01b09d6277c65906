// SPDX-License-Identifier: LGPL-2.1-or-later
/* Map two hosts to the number of their pair, by a hash table with linear probing. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/pair-table.h"

static struct pair_slot *find_pair_slot(const struct pair_table *t, uint32_t a, uint32_t b)
{
	size_t i = hash_slot((uint64_t)a << 32 | b) & (t->slots - 1);

	while (t->slot[i].number && (t->slot[i].host[0] != a || t->slot[i].host[1] != b))
		i = (i + 1) & (t->slots - 1);
	return &t->slot[i];
}

static int grow_pair_table(struct pair_table *t)
{
	struct pair_table bigger = { .slots = t->slots ? t->slots * 2 : 16, .num = t->num };

	if (t->num * 2 < t->slots)
		return 0;
	bigger.slot = calloc(bigger.slots, sizeof(*bigger.slot));
	if (!bigger.slot)
		return -ENOMEM;
	for (size_t i = 0; i < t->slots; i++) {
		const struct pair_slot *s = &t->slot[i];

		if (s->number)
			*find_pair_slot(&bigger, s->host[0], s->host[1]) = *s;
	}
	free(t->slot);
	*t = bigger;
	return 0;
}

uint32_t pair_table_find(const struct pair_table *t, uint32_t a, uint32_t b)
{
	return t->slots ? find_pair_slot(t, a, b)->number : 0;
}

int pair_table_set(struct pair_table *t, uint32_t a, uint32_t b, uint32_t number)
{
	struct pair_slot slot = { { a, b }, number + 1 };

	if (!pair_table_find(t, a, b)) {
		if (grow_pair_table(t))
			return -ENOMEM;
		t->num++;
	}
	*find_pair_slot(t, a, b) = slot;
	return 0;
}

void pair_table_release(struct pair_table *t)
{
	free(t->slot);
	memset(t, 0, sizeof(*t));
}
