// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "match/peers.h"
#include "match/ring.h"

/* So many messages of a pair say how far their clocks are apart. */
#define MIN_SAMPLES 5

#define OWNER_SLOTS 16384
#define OWNER_PROBES 8
#define SHARED (NO_PEER - 1)

struct address_owner {
	uint32_t digest;
	uint32_t owner; /* host + 1; 0: free */
};

void peers_release(struct peers *ps)
{
	for (size_t i = 0; i < ps->hosts; i++) {
		free(ps->host[i].stack[NETSYNC_OUT]);
		free(ps->host[i].stack[NETSYNC_IN]);
	}
	free(ps->host);
	free(ps->pair);
	pair_table_release(&ps->table);
	free(ps->owner);
	memset(ps, 0, sizeof(*ps));
}

int peers_add_host(struct peers *ps)
{
	if (!ps->owner)
		ps->owner = calloc(OWNER_SLOTS, sizeof(*ps->owner));
	if (!ps->owner ||
	    array_grow(&ps->host, &ps->host_room, ps->hosts, sizeof(*ps->host)))
		return -ENOMEM;
	ps->host[ps->hosts++] = (struct peer_host){
		.until = INT64_MIN,
		.decide = INT64_MIN,
		.free = INT64_MIN,
	};
	return 0;
}

/* ---- addresses --------------------------------------------------------- */

static struct address_owner *find_address(const struct peers *ps,
					  uint32_t digest)
{
	for (uint32_t i = 0; i < OWNER_PROBES; i++) {
		struct address_owner *a = &ps->owner[(digest + i) % OWNER_SLOTS];

		if (!a->owner || a->digest == digest)
			return a;
	}
	return NULL;
}

/* An address that several hosts have, or forward for, is nobody's. */
void peers_learn_address(struct peers *ps, uint32_t host, uint32_t address)
{
	struct address_owner *a = find_address(ps, address);

	if (!a || a->owner == host + 1)
		return;
	a->digest = address;
	a->owner = a->owner ? SHARED + 1 : host + 1;
}

uint32_t peers_address_owner(const struct peers *ps, uint32_t address)
{
	const struct address_owner *a = find_address(ps, address);

	return a && a->owner && a->owner != SHARED + 1 ? a->owner - 1 : NO_PEER;
}

/* ---- pairs ------------------------------------------------------------- */

struct peer_pair *peers_find(const struct peers *ps, uint32_t a, uint32_t b)
{
	uint32_t p = a < b ? pair_table_find(&ps->table, a, b)
			   : pair_table_find(&ps->table, b, a);

	return p ? &ps->pair[p - 1] : NULL;
}

int peers_message(struct peers *ps, uint32_t from, uint32_t to, int64_t send,
		  int64_t recv)
{
	struct peer_pair *p = peers_find(ps, from, to);

	if (!p) {
		uint32_t a = from < to ? from : to, b = from < to ? to : from;

		if (array_grow(&ps->pair, &ps->pair_room, ps->pairs,
			       sizeof(*ps->pair)) ||
		    pair_table_set(&ps->table, a, b, (uint32_t)ps->pairs))
			return -ENOMEM;
		p = &ps->pair[ps->pairs++];
		*p = (struct peer_pair){ .host = { a, b } };
	}
	p->offset[p->next_sample] = from < to ? recv - send : send - recv;
	p->next_sample = (p->next_sample + 1) % PEER_SAMPLES;
	if (p->samples < PEER_SAMPLES)
		p->samples++;
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

/* A wrong match now and then does not move it. */
static int64_t median(const struct peer_pair *p)
{
	int64_t v[PEER_SAMPLES];

	for (uint32_t i = 0; i < p->samples; i++) {
		uint32_t j = i;

		for (; j && v[j - 1] > p->offset[i]; j--)
			v[j] = v[j - 1];
		v[j] = p->offset[i];
	}
	return v[p->samples / 2];
}

/* ---- limits ------------------------------------------------------------ */

/* Hosts that are connected by messages, as a tree. */
struct node {
	uint32_t parent;
	uint32_t root;
	uint32_t size;	 /* of a root: how many hosts have it */
	__int128 offset; /* clock of this host - that of its parent */
};

/* The root of a host, which is then its parent: paths become short. */
static uint32_t find_root(struct node *node, uint32_t h)
{
	uint32_t root = h, next;
	__int128 offset = 0;

	while (node[root].parent != root) {
		offset += node[root].offset;
		root = node[root].parent;
	}
	for (; node[h].parent != root && h != root; h = next) {
		__int128 own = node[h].offset;

		next = node[h].parent;
		node[h].parent = root;
		node[h].offset = offset;
		offset -= own;
	}
	return root;
}

static void join(struct node *node, const struct peer_pair *p)
{
	uint32_t a = find_root(node, p->host[0]);
	uint32_t b = find_root(node, p->host[1]);
	__int128 from_a = p->host[0] == a ? 0 : node[p->host[0]].offset;
	__int128 from_b = p->host[1] == b ? 0 : node[p->host[1]].offset;

	if (a == b)
		return;
	/* clock b = clock of host[1] - from_b, and so on */
	node[b].parent = a;
	node[b].offset = (__int128)median(p) + from_a - from_b;
}

static int64_t clamp(__int128 t)
{
	return t > INT64_MAX   ? INT64_MAX
	       : t < INT64_MIN ? INT64_MIN
			       : (int64_t)t;
}

/*
 * On the root's clock, everything was pushed that happened before the
 * smallest of what its hosts promised. It says nothing as long as there is a
 * host that is not connected, unless that one brings no more.
 */
int peers_update(struct peers *ps)
{
	struct node *node = malloc((ps->hosts + 1) * sizeof(*node));
	uint32_t common = NO_PEER, largest = 0;
	bool one = true;
	__int128 least = INT64_MAX;

	if (!node)
		return -ENOMEM;
	for (uint32_t h = 0; h < ps->hosts; h++)
		node[h] = (struct node){ .parent = h };
	for (size_t i = 0; i < ps->pairs; i++)
		if (ps->pair[i].samples >= MIN_SAMPLES)
			join(node, &ps->pair[i]);
	for (uint32_t h = 0; h < ps->hosts; h++) {
		__int128 t = ps->host[h].until;

		node[h].root = find_root(node, h);
		if (++node[node[h].root].size > node[largest].size)
			largest = node[h].root;
		if (ps->host[h].until == INT64_MAX)
			continue;
		one &= common == NO_PEER || common == node[h].root;
		common = node[h].root;
		if (h != common)
			t -= node[h].offset;
		if (t < least)
			least = t;
	}
	for (uint32_t h = 0; h < ps->hosts; h++) {
		struct peer_host *host = &ps->host[h];
		__int128 t = least;

		if (node[h].root != h)
			t += node[h].offset;
		if (common == NO_PEER)
			t = INT64_MAX;
		else if (!one || node[h].root != common)
			t = INT64_MIN;
		host->joined = node[h].root == largest;
		host->decide = clamp(t - PEER_LIFETIME);
		/* Twice as long later nothing refers to it any more. */
		host->free = clamp(t - 2 * (__int128)PEER_LIFETIME);
	}
	ps->connected = one;
	free(node);
	return 0;
}
