// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Match whole packets. The records with one key are divided into packets. Two records belong to one
 * packet if they agree in all fields that both have. Records are ambiguous if they cannot be
 * divided clearly, or if their packet seems to have been sent twice.
 *
 * If records have no counterpart, their packet's addresses may have been translated along the path.
 * All of their other fields are then compared. Segments are still found by their key. Datagrams and
 * echoes are found by their second key.
 */
#include <stdlib.h>

#include "match/internal.h"

/* Maximum number of records of one packet that are used to learn clock offsets. Chosen. */
#define MAX_SAMPLED 24

/*
 * Return whether one record is an SCTP bundle and the other one is its first packet. A bundle of
 * SCTP packets has the TSN of its first packet.
 */
static bool is_first_of_sctp_bundle(const struct packet_record *a, const struct packet_record *b)
{
	return a->protocol == SCTP && (a->len > b->len ? a : b)->gso_size;
}

bool match_is_same_packet(const struct packet_record *a, const struct packet_record *b, bool nat)
{
	if (record_both_have(a, b, NETSYNC_HAS_IP_ID) && a->ip_id != b->ip_id)
		return false;
	if (record_both_have(a, b, NETSYNC_HAS_LEN)) {
		if (a->len != b->len && !is_first_of_sctp_bundle(a, b))
			return false;
	} else if (nat) {
		return false;
	}
	return protocol_find(a->protocol)->agree_whole(a, b) && match_have_same_headers(a, b, nat);
}

/* The records of one packet on one host. */
struct host_view {
	const struct packet_record *first;
	const struct packet_record *last;
	const struct packet_record *first_in;
	const struct packet_record *last_out;
	uint32_t host;
	bool origin; /* whether the packet left the host without having arrived there before */
};

static int compare_records_by_host_and_time(const void *a, const void *b)
{
	const struct packet_record *p = *(struct packet_record *const *)a;
	const struct packet_record *q = *(struct packet_record *const *)b;

	if (p->host != q->host)
		return p->host < q->host ? -1 : 1;
	if (p->time != q->time)
		return p->time < q->time ? -1 : 1;
	return p->dir - q->dir;
}

static int make_host_views(struct packet_record **s, int n, struct host_view *v)
{
	int views = 0;

	qsort(s, (size_t)n, sizeof(*s), compare_records_by_host_and_time);
	for (int i = 0; i < n; i++) {
		struct host_view *at;

		if (!i || s[i]->host != s[i - 1]->host)
			v[views++] = (struct host_view){
				.first = s[i],
				.host = s[i]->host,
				.origin = s[i]->dir == NETSYNC_OUT,
			};
		at = &v[views - 1];
		at->last = s[i];
		if (s[i]->dir == NETSYNC_OUT)
			at->last_out = s[i];
		else if (!at->first_in)
			at->first_in = s[i];
	}
	return views;
}

static void mark_records_ambiguous(struct shard *m, struct packet_record **s, int n)
{
	for (int i = 0; i < n; i++)
		match_mark_ambiguous(m, s[i]);
}

/*
 * Record the times that packets spent in hosts' stacks, between a socket and the outermost device.
 */
static int count_passages(struct shard *m, struct packet_record **s, int n,
			  const struct host_view *v, int views)
{
	int ret = 0;

	for (int i = 0; i < views && !ret; i++)
		if (v[i].first->dir == v[i].last->dir &&
		    match_is_other_place(v[i].first, v[i].last) &&
		    !((v[i].first->state | v[i].last->state) & RECORD_TIMED))
			ret = match_add_passage(m, v[i].host, v[i].last->dir,
						v[i].last->time - v[i].first->time);
	for (int i = 0; i < n; i++)
		s[i]->state |= RECORD_TIMED;
	return ret;
}

/* All records with one key. The records belong to one packet or to several. */
struct key {
	struct packet_record **s;
	int n;
};

/* Return whether the packet was also recorded further out on its host, segmented or merged. */
static bool was_seen_further_out(const struct key *key, const struct packet_record *s)
{
	for (int i = 0; i < key->n && may_be_segmented(s); i++) {
		const struct packet_record *t = key->s[i];

		if (t->len != s->len && match_is_same_transit(s, t) &&
		    (s->dir == NETSYNC_OUT ? t->time > s->time : t->time < s->time))
			return true;
	}
	return false;
}

/*
 * If the packet seems to begin on several hosts, return whether these may be clocks of one machine.
 */
static bool are_views_of_one_machine(const struct host_view *v, int views)
{
	const struct packet_record *sent = NULL;

	for (int i = 0; i < views; i++) {
		if (!v[i].origin)
			continue;
		if (sent &&
		    (!record_both_have(sent, v[i].first, NETSYNC_HAS_ADDRS) ||
		     sent->addr[0] != v[i].first->addr[0] || sent->addr[1] != v[i].first->addr[1]))
			return false;
		sent = v[i].first;
	}
	return true;
}

/*
 * Return whether the packet left @from before it arrived at @to. The result is true if @from is the
 * packet's origin, or its only router (in and out). If there are several routers, their order is
 * not known. If several origins are clocks of one machine, one of them may be a router whose
 * incoming record is missing. This origin may then be behind other routers.
 */
static bool is_view_before(const struct host_view *from, const struct host_view *to, int origins,
			   int routers)
{
	if (to->origin || from == to)
		return false;
	if (from->origin)
		return origins == 1 || !to->last_out;
	return from->last_out && routers == 1;
}

/*
 * Report the messages of a packet: from each host that it left to each host that received it later.
 * If either end was also recorded further out as segments, report none, because segments give
 * tighter messages.
 */
static int emit_packet_messages(struct shard *m, const struct key *key, struct packet_record **s,
				int n, bool nat)
{
	struct host_view v[MATCH_MAX_RECORDS];
	int views = make_host_views(s, n, v), origins = 0, routers = 0, ret = 0;
	uint32_t from = NO_PEER, to = NO_PEER;
	uint8_t emitted = 0;

	for (int i = 0; i < views; i++) {
		origins += v[i].origin;
		routers += !v[i].origin && v[i].last_out;
	}
	if (origins > 1 && !are_views_of_one_machine(v, views)) {
		mark_records_ambiguous(m, s, n);
		return 0;
	}
	ret = count_passages(m, s, n, v, views);
	for (int i = 0; i < views && !ret; i++) {
		for (int j = 0; j < views && !ret; j++) {
			if (!is_view_before(&v[i], &v[j], origins, routers))
				continue;
			from = v[i].host;
			to = v[j].host;
			if (was_seen_further_out(key, v[i].last_out) ||
			    was_seen_further_out(key, v[j].first_in))
				continue;
			emitted = RECORD_EMITTED;
			ret = match_emit_message(m, v[i].last_out, v[j].first_in);
		}
	}
	for (int i = 0, at = 0; i < n && from != NO_PEER && !ret; i++) {
		at += s[i]->host != v[at].host;
		s[i]->state |= emitted;
		ret = match_mark_matched(m, s[i], v[at].origin || v[at].host == from ? to : from,
					 nat);
	}
	return ret;
}

/* Return whether all records agree with each other and may all belong to one packet. */
static bool are_records_of_one_packet(struct packet_record **s, int n, bool nat)
{
	for (int i = 0; i < n; i++)
		for (int j = 0; j < i; j++)
			if (!match_is_same_packet(s[i], s[j], nat) ||
			    !match_may_be_one_packet(s[i], s[j]))
				return false;
	return true;
}

/*
 * Move records that agree with the first one, directly or through other records, to the front.
 * Return their number. Set *clear if they all belong to one packet.
 */
static int collect_agreeing_records(struct packet_record **s, int n, bool nat, bool *clear)
{
	int size = 1;

	for (int i = 0; i < size; i++) {
		for (int j = size; j < n; j++) {
			struct packet_record *t = s[j];

			if (!match_is_same_packet(s[i], t, nat))
				continue;
			s[j] = s[size];
			s[size++] = t;
		}
	}
	*clear = are_records_of_one_packet(s, size, nat);
	return size;
}

/* Return whether one of these records was segmented from the other record, or merged into it. */
static bool were_records_seen_again(struct packet_record **s, int n,
				    const struct packet_record *other)
{
	for (int i = 0; i < n; i++)
		if (match_is_same_side(s[i], other))
			return true;
	return false;
}

/*
 * Return whether a packet is ambiguous although all its records agree, because its received record
 * could also be a part of a longer sent record. A record that a router made from the longer one, or
 * received before it, does not count.
 */
static bool has_rival_sent_record(const struct shard *m, const struct key *key,
				  struct packet_record **s, int size)
{
	struct packet_record **others = key->s;
	bool sent = false;

	for (int i = 0; i < size; i++) {
		if (s[i]->dir != NETSYNC_OUT)
			continue;
		sent = true;
		if (has_tcp_data(s[i]) && match_is_record_forwarded(m, s[i]))
			return false;
	}
	for (int i = 0; i < size && sent; i++) {
		if (s[i]->dir != NETSYNC_IN || !has_tcp_data(s[i]))
			continue;
		for (int j = 0; j < key->n; j++)
			if (others[j]->dir == NETSYNC_OUT && others[j]->host != s[i]->host &&
			    has_tcp_data(others[j]) && others[j]->len != s[i]->len &&
			    match_is_same_transmission(others[j], s[i], false) &&
			    !were_records_seen_again(s, size, others[j]) &&
			    !match_is_record_forwarded(m, others[j]))
				return true;
		for (int j = 0; j < size; j++)
			if (s[j]->dir == NETSYNC_OUT && protocol_lacks_id(s[i], s[j]) &&
			    match_is_inside_other(m, s[j], s[i]))
				return true;
	}
	return false;
}

/* Return whether the records are the most frequent case: one sent and one received record. */
static bool is_plain_record_pair(struct packet_record **s, int n)
{
	return n == 2 && s[0]->dir != s[1]->dir && s[0]->host != s[1]->host &&
	       !((s[0]->state | s[1]->state) & (RECORD_MATCHED | RECORD_AMBIGUOUS)) &&
	       match_is_same_packet(s[0], s[1], false);
}

static int emit_plain_record_pair(struct shard *m, struct packet_record **s)
{
	bool first_sent = s[0]->dir == NETSYNC_OUT;

	return match_emit_both(m, s[!first_sent], s[first_sent]);
}

int match_resolve_records(struct shard *m, struct packet_record **s, int n, bool nat)
{
	const struct key key = { s, n };
	int ret = 0;

	while (n && !ret) {
		bool clear, used = false;
		int size = collect_agreeing_records(s, n, nat, &clear);

		for (int i = 0; i < size; i++)
			used |= !!(s[i]->state & (RECORD_MATCHED | RECORD_AMBIGUOUS));
		/* Keep earlier matches unchanged. */
		if (!used && size > 1) {
			if (!clear || has_rival_sent_record(m, &key, s, size))
				mark_records_ambiguous(m, s, size);
			else
				ret = emit_packet_messages(m, &key, s, size, nat);
		}
		s += size;
		n -= size;
	}
	return ret;
}

/*
 * Find all records with the key of s. Return their number, or MATCH_MAX_RECORDS + 1 if there are
 * too many.
 */
static int find_records_of_key(const struct shard *m, const struct packet_record *s,
			       struct packet_record **list)
{
	int n = 0;

	for (uint32_t i = *ring_get_chain(&m->ring, s->protocol, s->key[0], s->key[1]);
	     ring_has(&m->ring, i); i = ring_at(&m->ring, i)->next) {
		struct packet_record *t = ring_at(&m->ring, i);

		if (!have_same_key(s, t))
			continue;
		if (n == MATCH_MAX_RECORDS)
			return n + 1;
		list[n++] = t;
	}
	return n;
}

/* Return whether no host forwarded the records and no record was decided before. */
static bool are_unforwarded_and_undecided(struct packet_record **s, int n)
{
	for (int i = 0; i < n; i++) {
		if (s[i]->state & (RECORD_MATCHED | RECORD_AMBIGUOUS))
			return false;
		for (int j = 0; j < i; j++)
			if (s[i]->host == s[j]->host && s[i]->dir != s[j]->dir)
				return false;
	}
	return true;
}

int match_learn_offset(struct shard *m, struct packet_record *s)
{
	struct packet_record *list[MATCH_MAX_RECORDS];
	int n = find_records_of_key(m, s, list), left = 0, ret = 0;

	/* Datagrams of other hosts may have equal ports and ids. */
	for (int i = 0; i < n && n <= MATCH_MAX_RECORDS; i++)
		if (list[i] == s || match_is_same_packet(s, list[i], false))
			list[left++] = list[i];
	if (left > MAX_SAMPLED || !are_unforwarded_and_undecided(list, left) ||
	    !are_records_of_one_packet(list, left, false))
		return 0;
	for (int i = 0; i < left && !ret; i++) {
		bool sent = s->dir == NETSYNC_OUT;
		const struct packet_record *t = list[i];

		if (t->dir != s->dir)
			ret = match_add_learned(m, sent ? s : t, sent ? t : s);
	}
	return ret;
}

int match_whole_record(struct shard *m, struct packet_record *s)
{
	struct packet_record *list[MATCH_MAX_RECORDS];
	int n = find_records_of_key(m, s, list), left = 0, ret;

	if (n > MATCH_MAX_RECORDS) {
		match_mark_ambiguous(m, s);
		return 0;
	}
	for (int i = 0; i < n; i++)
		list[i]->state |= RECORD_EXAMINED;
	if (n == 1)
		return 0;
	if (is_plain_record_pair(list, n) && !protocol_lacks_id(list[0], list[1]))
		return emit_plain_record_pair(m, list);
	ret = match_resolve_records(m, list, n, false);
	for (int i = 0; i < n; i++)
		if (!(list[i]->state & RECORD_DECIDED))
			list[left++] = list[i];
	if (ret || left < 2 || has_second_key(s))
		return ret;
	return match_resolve_records(m, list, left, true);
}
