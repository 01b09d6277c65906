// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "match/ring.h"

void log_init(struct log *l)
{
	memset(l, 0, sizeof(*l));
	/* Without it results are the same and only the speed is at risk. */
	if (getrandom(&l->seed, sizeof(l->seed), GRND_NONBLOCK) < 0)
		l->seed = (uintptr_t)l;
}

static void free_arrays(struct log *l)
{
	free(l->ring);
	free(l->addresses);
	free(l->chain);
	free(l->second);
}

void log_release(struct log *l)
{
	free_arrays(l);
	memset(l, 0, sizeof(*l));
}

static void file(struct log *l, uint32_t number)
{
	struct sighting *s = log_at(l, number);
	uint32_t *chain;

	if (s->alias)
		chain = log_chain(l, BLOCK_KIND + s->protocol, alias_block(s),
				  alias_rest(s));
	else
		chain = log_chain(l, s->protocol, s->seq, s->ack);
	s->next = *chain;
	*chain = number;
	if (!has_second_key(s))
		return;
	chain = log_second(l, s);
	s->next_second = *chain;
	*chain = number;
}

int log_reserve(struct log *l, uint32_t num)
{
	uint32_t room = l->room ? l->room : 512;
	struct log bigger = *l;

	while (room < log_live(l) + num)
		room *= 2;
	if (room == l->room && l->keep_addresses == !!l->addresses)
		return 0;
	bigger.room = room;
	bigger.ring = malloc(room * sizeof(*bigger.ring));
	bigger.addresses = l->keep_addresses ?
			   calloc(room, sizeof(*bigger.addresses)) : NULL;
	bigger.chain = malloc(room * sizeof(*bigger.chain));
	bigger.second = malloc(room * sizeof(*bigger.second));
	if (!bigger.ring || !bigger.chain || !bigger.second ||
	    l->keep_addresses != !!bigger.addresses) {
		free_arrays(&bigger);
		return -ENOMEM;
	}
	/* A number that fell off long ago ends a chain. */
	for (uint32_t i = 0; i < room; i++)
		bigger.chain[i] = bigger.second[i] = l->freed - 1;
	for (uint32_t n = l->freed; n != l->tail; n++) {
		struct sighting *s = log_at(&bigger, n);

		*s = *log_at(l, n);
		if (bigger.addresses && l->addresses)
			*log_addresses(&bigger, s) =
				*log_addresses(l, log_at(l, n));
		file(&bigger, n);
	}
	free_arrays(l);
	*l = bigger;
	return 0;
}

struct sighting *log_add(struct log *l, const struct sighting *s)
{
	struct sighting *new = log_at(l, l->tail);

	*new = *s;
	file(l, l->tail++);
	return new;
}
