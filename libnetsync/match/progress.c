// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * From the progress of all hosts, compute the limits on each host's clock up to which records can
 * be decided.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "match/peers.h"
#include "match/ring.h"
#include "util/number.h"

/*
 * Minimum number of messages of a pair before the pair's clock offset is used. The median of five
 * is right if at most two are wrong. Chosen.
 */
#define MIN_SAMPLES 5

/* Return the median offset. A few wrong matches do not change it. */
static int64_t compute_median_offset(const struct peer_pair *p)
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

/* A host in a union-find forest. All hosts of a tree are connected by messages. */
struct node {
	uint32_t parent;
	uint32_t root;
	uint32_t size;	 /* number of hosts in the tree, valid in its root */
	__int128 offset; /* clock of this host minus the clock of its parent */
};

/* Find the root of a host. Make the root the host's parent, which shortens later searches. */
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

static void join_hosts_of_pair(struct node *node, const struct peer_pair *p)
{
	uint32_t a = find_root(node, p->host[0]);
	uint32_t b = find_root(node, p->host[1]);
	__int128 from_a = p->host[0] == a ? 0 : node[p->host[0]].offset;
	__int128 from_b = p->host[1] == b ? 0 : node[p->host[1]].offset;

	if (a == b)
		return;
	/* The clock of b is the clock of host[1] minus from_b. The same applies to a. */
	node[b].parent = a;
	node[b].offset = (__int128)compute_median_offset(p) + from_a - from_b;
}

static void join_hosts_of_all_pairs(struct node *node, const struct peers *ps)
{
	for (size_t k = 0; k < PAIR_PARTS; k++)
		for (size_t i = 0; i < ps->part[k].pairs; i++)
			if (ps->part[k].pair[i].samples >= MIN_SAMPLES)
				join_hosts_of_pair(node, &ps->part[k].pair[i]);
}

/*
 * Compute the limits. All events before the earliest promised time of a tree's hosts, on the root's
 * clock, have been added. As long as a host is not connected, there is no limit, unless this host
 * has no more events, or pauses. While all hosts pause or have no more events, nothing advances.
 */
int peers_update(struct peers *ps)
{
	struct node *node = malloc((ps->hosts + 1) * sizeof(*node));
	uint32_t common = NO_PEER, largest = 0;
	bool one = true, any_paused = false;
	__int128 least = INT64_MAX;

	if (!node)
		return -ENOMEM;
	for (uint32_t h = 0; h < ps->hosts; h++)
		node[h] = (struct node){ .parent = h };
	join_hosts_of_all_pairs(node, ps);
	for (uint32_t h = 0; h < ps->hosts; h++) {
		__int128 t = ps->host[h].until;

		node[h].root = find_root(node, h);
		if (++node[node[h].root].size > node[largest].size)
			largest = node[h].root;
		any_paused |= ps->host[h].paused;
		if (ps->host[h].paused || ps->host[h].until == INT64_MAX)
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
		host->joined = node[h].root == largest;
		if (common == NO_PEER && any_paused)
			continue;
		if (common == NO_PEER)
			t = INT64_MAX;
		else if (!one || node[h].root != common)
			t = INT64_MIN;
		host->decide = clamp_to_int64(t - PEER_LIFETIME);
		/* One lifetime later, no record refers to an older record. */
		host->free = clamp_to_int64(t - 2 * (__int128)PEER_LIFETIME -
					    (any_paused ? PEER_PAUSE : 0));
	}
	ps->connected = one;
	free(node);
	return 0;
}
