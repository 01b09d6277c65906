// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Find the records that contain the first byte of a segment, or the first of several datagrams. The
 * function finds records with the same key, and longer records by the block index.
 */
#include "match/internal.h"

static void add_candidate(struct candidates *o, struct packet_record *s)
{
	if (o->n < MATCH_MAX_CANDIDATES)
		o->s[o->n++] = s;
	else
		o->too_many = true;
}

/* Find the records that begin with the first byte of s, and longer records that contain it. */
void match_find_candidates(const struct shard *m, const struct packet_record *s,
			   struct candidates *o)
{
	const struct packet_ring *l = &m->ring;
	uint32_t i, block = s->tcp.seq >> BLOCK_SHIFT;

	if (s->protocol == UDP)
		block = s->ip_id;
	o->n = 0;
	o->too_many = false;
	for (i = *ring_get_chain(l, s->protocol, s->key[0], s->key[1]); ring_has(l, i);
	     i = ring_at(l, i)->next) {
		struct packet_record *t = ring_at(l, i);

		if (t != s && have_same_key(s, t) && may_be_segmented(t))
			add_candidate(o, t);
	}
	for (i = *ring_get_chain(l, BLOCK_INDEX + s->protocol, block, get_block_rest(s));
	     ring_has(l, i); i = ring_at(l, i)->next) {
		const struct packet_record *t = ring_at(l, i);
		uint32_t primary = i - t->block;

		if (t->block && t->protocol == s->protocol &&
		    get_block_rest(t) == get_block_rest(s) && get_block_number(t) == block &&
		    match_compute_lead(t, s) && match_begins_in(s, t) && ring_has(l, primary))
			add_candidate(o, ring_at(l, primary));
	}
}

bool match_is_inside_other(const struct shard *m, const struct packet_record *s,
			   const struct packet_record *received)
{
	struct candidates o;

	match_find_candidates(m, s, &o);
	for (int i = 0; i < o.n; i++)
		if (o.s[i]->dir == NETSYNC_OUT && match_compute_lead(o.s[i], s) &&
		    match_is_same_transmission(o.s[i], received, false) &&
		    !match_is_same_side(o.s[i], s))
			return true;
	return o.too_many;
}

/*
 * Return whether the host of t forwards packets: whether it received t's first byte before t left.
 */
bool match_is_forwarded(const struct packet_record *t, const struct candidates *all)
{
	for (int i = 0; i < all->n; i++) {
		const struct packet_record *u = all->s[i];

		if (u->host == t->host && u->dir == NETSYNC_IN && u->time <= t->time &&
		    match_is_same_transmission(t, u, false))
			return true;
	}
	return false;
}

bool match_is_record_forwarded(const struct shard *m, const struct packet_record *s)
{
	struct candidates o;

	match_find_candidates(m, s, &o);
	return match_is_forwarded(s, &o);
}
