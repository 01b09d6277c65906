// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "match/ring.h"

static void free_ring_arrays(struct packet_ring *l)
{
	free(l->record);
	free(l->addresses);
	free(l->chain);
	free(l->second);
}

void ring_release(struct packet_ring *l)
{
	free_ring_arrays(l);
	memset(l, 0, sizeof(*l));
}

static void link_ring_record(struct packet_ring *l, uint32_t number)
{
	struct packet_record *s = ring_at(l, number);
	uint32_t *chain;

	/* In this shard, no other record has the key of a copy. */
	if (!s->block && !record_is_own(s))
		return;
	if (s->block)
		chain = ring_get_chain(l, BLOCK_INDEX + s->protocol, get_block_number(s),
				       get_block_rest(s));
	else
		chain = ring_get_chain(l, s->protocol, s->key[0], s->key[1]);
	s->next = *chain;
	*chain = number;
	if (!has_second_key(s))
		return;
	chain = ring_get_second_chain(l, s);
	s->next_second = *chain;
	*chain = number;
}

int ring_grow(struct packet_ring *l, uint32_t num)
{
	uint32_t room = l->room ? l->room : 64;
	struct packet_ring bigger = *l;

	while (room < ring_count(l) + num)
		room *= 2;
	bigger.room = room;
	bigger.record = malloc(room * sizeof(*bigger.record));
	bigger.addresses = l->keep_addresses ? calloc(room, sizeof(*bigger.addresses)) : NULL;
	bigger.chain = malloc(room * sizeof(*bigger.chain));
	bigger.second = malloc(room * sizeof(*bigger.second));
	if (!bigger.record || !bigger.chain || !bigger.second ||
	    l->keep_addresses != !!bigger.addresses) {
		free_ring_arrays(&bigger);
		return -ENOMEM;
	}
	/* A chain ends where the next number is that of a dropped record. */
	for (uint32_t i = 0; i < room; i++)
		bigger.chain[i] = bigger.second[i] = l->freed - 1;
	for (uint32_t n = l->freed; n != l->tail; n++) {
		struct packet_record *s = ring_at(&bigger, n);

		*s = *ring_at(l, n);
		if (bigger.addresses && l->addresses)
			*ring_addresses(&bigger, s) = *ring_addresses(l, ring_at(l, n));
		link_ring_record(&bigger, n);
	}
	free_ring_arrays(l);
	*l = bigger;
	return 0;
}

struct packet_record *ring_add(struct packet_ring *l, const struct packet_record *s)
{
	struct packet_record *new = ring_at(l, l->tail);

	*new = *s;
	link_ring_record(l, l->tail++);
	return new;
}
