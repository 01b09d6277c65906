// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "match/peers.h"

void peers_release(struct peers *ps)
{
	for (size_t i = 0; i < ps->hosts; i++) {
		free(ps->host[i].stack[NETSYNC_OUT]);
		free(ps->host[i].stack[NETSYNC_IN]);
	}
	free(ps->host);
	free(ps->pair);
	pair_table_release(&ps->table);
	memset(ps, 0, sizeof(*ps));
}

int peers_add_host(struct peers *ps)
{
	if (array_grow(&ps->host, &ps->host_room, ps->hosts, sizeof(*ps->host)))
		return -ENOMEM;
	ps->host[ps->hosts++] = (struct peer_host){
		.until = INT64_MIN,
		.decide = INT64_MIN,
		.free = INT64_MIN,
	};
	return 0;
}

struct peer_pair *peers_find(const struct peers *ps, uint32_t a, uint32_t b)
{
	uint32_t p = a < b ? pair_table_find(&ps->table, a, b)
			   : pair_table_find(&ps->table, b, a);

	return p ? &ps->pair[p - 1] : NULL;
}

/* The pair of two hosts, which is made if there is none. NULL: there is no memory. */
static struct peer_pair *pair_of(struct peers *ps, uint32_t from, uint32_t to)
{
	const uint32_t a = from < to ? from : to, b = from < to ? to : from;
	struct peer_pair *p = peers_find(ps, a, b);

	if (p)
		return p;
	if (array_grow(&ps->pair, &ps->pair_room, ps->pairs, sizeof(*ps->pair)) ||
	    pair_table_set(&ps->table, a, b, (uint32_t)ps->pairs))
		return NULL;
	p = &ps->pair[ps->pairs++];
	*p = (struct peer_pair){ .host = { a, b } };
	return p;
}

int peers_message(struct peers *ps, uint32_t from, uint32_t to, int64_t send,
		  int64_t recv)
{
	struct peer_pair *p = pair_of(ps, from, to);

	if (!p)
		return -ENOMEM;
	p->offset[p->next_sample] = from < to ? recv - send : send - recv;
	p->next_sample = (p->next_sample + 1) % PEER_SAMPLES;
	if (p->samples < PEER_SAMPLES)
		p->samples++;
	return 0;
}

int peers_count(struct peers *ps, uint32_t a, uint32_t b,
		const struct match_counts *counts)
{
	struct peer_pair *p = pair_of(ps, a, b);

	if (!p)
		return -ENOMEM;
	p->past.matched += counts->matched;
	p->past.nat += counts->nat;
	p->past.ambiguous += counts->ambiguous;
	p->past.unmatched += counts->unmatched;
	return 0;
}

int peers_add_stack(struct peers *ps, uint32_t host, enum netsync_dir dir,
		    const struct histogram *times)
{
	struct histogram **h = &ps->host[host].stack[dir];

	if (!*h)
		*h = calloc(1, sizeof(**h));
	if (!*h)
		return -ENOMEM;
	histogram_merge(*h, times);
	return 0;
}

int peers_passed(struct peers *ps, uint32_t host, enum netsync_dir dir,
		 int64_t ns)
{
	struct histogram **h = &ps->host[host].stack[dir];

	if (!*h)
		*h = calloc(1, sizeof(**h));
	if (!*h)
		return -ENOMEM;
	histogram_add(*h, ns);
	return 0;
}
