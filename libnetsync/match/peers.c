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
	for (size_t i = 0; i < PAIR_PARTS; i++) {
		free(ps->part[i].pair);
		pair_table_release(&ps->part[i].table);
	}
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

size_t peers_count_pairs(const struct peers *ps)
{
	size_t pairs = 0;

	for (size_t i = 0; i < PAIR_PARTS; i++)
		pairs += ps->part[i].pairs;
	return pairs;
}

struct peer_pair *peers_find(const struct peers *ps, uint32_t a, uint32_t b)
{
	const struct peers_part *part = &ps->part[get_pair_part(a, b)];
	uint32_t p = a < b ? pair_table_find(&part->table, a, b) :
			     pair_table_find(&part->table, b, a);

	return p ? &part->pair[p - 1] : NULL;
}

/* Find the pair of two hosts, or add one. Return NULL if out of memory. */
static struct peer_pair *find_or_add_peer_pair(struct peers *ps, uint32_t from, uint32_t to)
{
	const uint32_t a = from < to ? from : to, b = from < to ? to : from;
	struct peers_part *part = &ps->part[get_pair_part(a, b)];
	struct peer_pair *p = peers_find(ps, a, b);

	if (p)
		return p;
	if (array_grow(&part->pair, &part->room, part->pairs, sizeof(*p)) ||
	    pair_table_set(&part->table, a, b, (uint32_t)part->pairs))
		return NULL;
	p = &part->pair[part->pairs++];
	*p = (struct peer_pair){ .host = { a, b } };
	return p;
}

struct peer_pair *peers_add_message(struct peers *ps, uint32_t from, uint32_t to, int64_t send,
				    int64_t recv)
{
	struct peer_pair *p = find_or_add_peer_pair(ps, from, to);

	if (!p)
		return NULL;
	p->offset[p->next_sample] = from < to ? recv - send : send - recv;
	p->next_sample = (p->next_sample + 1) % PEER_SAMPLES;
	if (p->samples < PEER_SAMPLES)
		p->samples++;
	return p;
}

int peers_add_counts(struct peers *ps, uint32_t a, uint32_t b, const struct match_counts *counts)
{
	struct peer_pair *p = find_or_add_peer_pair(ps, a, b);

	if (!p)
		return -ENOMEM;
	match_counts_add(&p->past, counts);
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

int peers_add_passage(struct peers *ps, uint32_t host, enum netsync_dir dir, int64_t ns)
{
	struct histogram **h = &ps->host[host].stack[dir];

	if (!*h)
		*h = calloc(1, sizeof(**h));
	if (!*h)
		return -ENOMEM;
	histogram_add(*h, ns);
	return 0;
}

static struct netsync_stack summarize_stack_histogram(const struct histogram *h)
{
	if (!h)
		return (struct netsync_stack){
			.min_ns = NETSYNC_UNKNOWN,
			.median_ns = NETSYNC_UNKNOWN,
			.p99_ns = NETSYNC_UNKNOWN,
			.max_ns = NETSYNC_UNKNOWN,
		};
	return (struct netsync_stack){
		.packets = h->num,
		.min_ns = h->min,
		.median_ns = histogram_quantile(h, 0.5),
		.p99_ns = histogram_quantile(h, 0.99),
		.max_ns = h->max,
	};
}

void peers_summarize(const struct peers *ps, uint32_t host, struct netsync_stack stack[2])
{
	for (int dir = 0; dir < 2; dir++)
		stack[dir] = summarize_stack_histogram(ps->host[host].stack[dir]);
}
