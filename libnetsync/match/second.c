// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Match records by a second key if their first key has found no counterpart: addresses may have
 * been translated along the path, or one source may report a property of the payload that another
 * one does not.
 */
#include "match/internal.h"

static bool have_same_second_key(const struct packet_record *a, const struct packet_record *b)
{
	if (a->protocol != b->protocol || a->len != b->len ||
	    record_counts_ip_ids(a) != record_counts_ip_ids(b))
		return false;
	if (record_counts_ip_ids(a))
		return a->ip_id == b->ip_id;
	return a->key[0] == b->key[0] && (a->protocol == UDP || a->key[1] == b->key[1]);
}

int match_by_second_key(struct shard *m, struct packet_record *s)
{
	struct packet_record *list[MATCH_MAX_RECORDS] = { s };
	const bool nat = record_counts_ip_ids(s);
	int n = 1, looked = 0, ret = 0;

	for (uint32_t i = *ring_get_second_chain(&m->ring, s); ring_has(&m->ring, i) && !ret;
	     i = ring_at(&m->ring, i)->next_second) {
		struct packet_record *t = ring_at(&m->ring, i);

		if (t == s || !have_same_second_key(s, t) || !match_is_ready(m, t))
			continue;
		if (++looked == MATCH_MAX_RECORDS)
			return ret;
		ret = match_by_first_key(m, t);
		if (t->state & RECORD_MATCHED)
			continue;
		if ((t->state & RECORD_DECIDED) && t->host != s->host && t->dir != s->dir &&
		    match_is_same_packet(s, t, nat))
			match_mark_ambiguous(m, s);
		if (t->state & RECORD_DECIDED)
			continue;
		list[n++] = t;
	}
	if (ret || n == 1 || (s->state & RECORD_DECIDED))
		return ret;
	return match_resolve_records(m, list, n, nat);
}
