// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Whole packets: the sightings of one key are sorted into packets; two are of
 * one packet if they agree in all that both know. Where that does not divide
 * them clearly, or a packet seems to have been sent twice, they are ambiguous.
 *
 * What finds no counterpart may have had its addresses translated on the way.
 * Such sightings are compared in all the rest. Segments are still found by
 * their key then, datagrams and pings by the second one that they are filed
 * under.
 */
#include <stdlib.h>

#include "match/match.h"

/*
 * More sightings of one key than that are a storm of repetitions, from which
 * no message can be had; this keeps the cost of a key constant.
 */
#define MAX_SIGHTINGS 256

/* More of one packet are not looked at when it says how far clocks are apart. */
#define MAX_SAMPLED 24

/*
 * Segmentation clears these on all but one of the segments that it makes, and
 * the other side may have put them together again otherwise.
 */
#define PSH_FIN_CWR 0x0089

/*
 * SCTP's packets that are sent at once: the first of them has the number that
 * all together have.
 */
static bool is_first_of(const struct sighting *a, const struct sighting *b)
{
	return a->protocol == SCTP && (a->len > b->len ? a : b)->gso_size;
}

/* Are two sightings of one packet, as far as can be said? */
static bool agree(const struct sighting *a, const struct sighting *b, bool nat)
{
	uint16_t differ = a->flags ^ b->flags;

	if (both(a, b, NETSYNC_HAS_IP_ID) && a->ip_id != b->ip_id)
		return false;
	if (both(a, b, NETSYNC_HAS_LEN)) {
		if (a->len != b->len && !is_first_of(a, b))
			return false;
		if (has_data(a))
			differ &= (uint16_t)~PSH_FIN_CWR;
	} else if (nat) {
		return false;
	}
	return !differ && match_headers(a, b, nat);
}

/* What one host saw of a packet. */
struct view {
	const struct sighting *first;
	const struct sighting *last;
	const struct sighting *first_in;
	const struct sighting *last_out;
	uint32_t host;
	bool origin;		/* it left before it ever came in */
};

static int by_host_and_time(const void *a, const void *b)
{
	const struct sighting *p = *(struct sighting *const *)a;
	const struct sighting *q = *(struct sighting *const *)b;

	if (p->host != q->host)
		return p->host < q->host ? -1 : 1;
	if (p->time != q->time)
		return p->time < q->time ? -1 : 1;
	return p->dir - q->dir;
}

static int make_views(struct sighting **s, int n, struct view *v)
{
	int views = 0;

	qsort(s, (size_t)n, sizeof(*s), by_host_and_time);
	for (int i = 0; i < n; i++) {
		struct view *at;

		if (!i || s[i]->host != s[i - 1]->host)
			v[views++] = (struct view){
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

static void all_ambiguous(struct matcher *m, struct sighting **s, int n)
{
	for (int i = 0; i < n; i++)
		match_ambiguous(m, s[i]);
}

/* How long it took from a socket to the last device, or the other way. */
static int count_passages(struct matcher *m, struct sighting **s, int n,
			  const struct view *v, int views)
{
	int ret = 0;

	for (int i = 0; i < views && !ret; i++)
		if (v[i].first->dir == v[i].last->dir &&
		    match_other_place(v[i].first, v[i].last) &&
		    !((v[i].first->state | v[i].last->state) & SEEN_PASSED))
			ret = peers_passed(&m->peers, v[i].host,
					   (enum netsync_dir)v[i].last->dir,
					   v[i].last->time - v[i].first->time);
	for (int i = 0; i < n; i++)
		s[i]->state |= SEEN_PASSED;
	return ret;
}

/* All sightings of a key, of which some are of one packet. */
struct key {
	struct sighting **s;
	int n;
};

/* Was it seen in parts, or as one, further out on its host? */
static bool is_further_out(const struct key *key, const struct sighting *s)
{
	for (int i = 0; i < key->n && has_parts(s); i++) {
		const struct sighting *t = key->s[i];

		if (t->len != s->len && match_same_passage(s, t) &&
		    (s->dir == NETSYNC_OUT ? t->time > s->time :
					     t->time < s->time))
			return true;
	}
	return false;
}

/* Where it seems to have begun on several hosts, can these be one machine? */
static bool are_one_machine(const struct view *v, int views)
{
	const struct sighting *sent = NULL;

	for (int i = 0; i < views; i++) {
		if (!v[i].origin)
			continue;
		if (sent && (!both(sent, v[i].first, NETSYNC_HAS_ADDRS) ||
			     sent->addr[0] != v[i].first->addr[0] ||
			     sent->addr[1] != v[i].first->addr[1]))
			return false;
		sent = v[i].first;
	}
	return true;
}

/*
 * Did it leave @from before it came to @to? It did where it began, and from a
 * router (in and out) it went onward, if there is one only: the order of several
 * is not known.
 *
 * Where it began on several hosts, which are clocks of one machine, one of them
 * may as well be a router of which the way in was not seen. It says nothing of
 * other routers, which may have been before it.
 */
static bool is_before(const struct view *from, const struct view *to,
		      int origins, int routers)
{
	if (to->origin || from == to)
		return false;
	if (from->origin)
		return origins == 1 || !to->last_out;
	return from->last_out && routers == 1;
}

/*
 * One packet: a message goes from each host that it left to each that received
 * it later. Where either end was seen further out in other parts, these tell
 * more.
 */
static int emit(struct matcher *m, const struct key *key, struct sighting **s,
		int n, bool nat)
{
	struct view v[MAX_SIGHTINGS];
	int views = make_views(s, n, v), origins = 0, routers = 0, ret = 0;
	uint32_t from = NO_PEER, to = NO_PEER;
	uint8_t emitted = 0;

	for (int i = 0; i < views; i++) {
		origins += v[i].origin;
		routers += !v[i].origin && v[i].last_out;
	}
	if (origins > 1 && !are_one_machine(v, views)) {
		all_ambiguous(m, s, n);
		return 0;
	}
	ret = count_passages(m, s, n, v, views);
	for (int i = 0; i < views && !ret; i++) {
		for (int j = 0; j < views && !ret; j++) {
			if (!is_before(&v[i], &v[j], origins, routers))
				continue;
			from = v[i].host;
			to = v[j].host;
			if (is_further_out(key, v[i].last_out) ||
			    is_further_out(key, v[j].first_in))
				continue;
			emitted = SEEN_EMITTED;
			ret = match_emit(m, v[i].last_out, v[j].first_in);
		}
	}
	for (int i = 0, at = 0; i < n && from != NO_PEER; i++) {
		at += s[i]->host != v[at].host;
		s[i]->state |= emitted;
		match_used(s[i], v[at].origin || v[at].host == from ? to : from,
			   nat);
	}
	return ret;
}

/* Do all agree with each other, and can be of one packet? */
static bool are_one_packet(struct sighting **s, int n, bool nat)
{
	for (int i = 0; i < n; i++)
		for (int j = 0; j < i; j++)
			if (!agree(s[i], s[j], nat) ||
			    !match_one_packet(s[i], s[j]))
				return false;
	return true;
}

/* Take the sightings that are connected with the first one to the front. */
static int collect(struct sighting **s, int n, bool nat, bool *clear)
{
	int size = 1;

	for (int i = 0; i < size; i++) {
		for (int j = size; j < n; j++) {
			struct sighting *t = s[j];

			if (!agree(s[i], t, nat))
				continue;
			s[j] = s[size];
			s[size++] = t;
		}
	}
	*clear = are_one_packet(s, size, nat);
	return size;
}

/* Is it what some of these were cut from, or put together to? */
static bool were_seen_again(struct sighting **s, int n,
			    const struct sighting *other)
{
	for (int i = 0; i < n; i++)
		if (match_seen_again(s[i], other))
			return true;
	return false;
}

/*
 * Could what was received, of a packet that agrees in everything, as well be
 * a part of a longer one that was sent? What a router makes of that one, or
 * received before, is no rival.
 */
static bool rivals(const struct matcher *m, const struct key *key,
		   struct sighting **s, int size)
{
	struct sighting **others = key->s;
	bool sent = false;

	for (int i = 0; i < size; i++) {
		if (s[i]->dir != NETSYNC_OUT)
			continue;
		sent = true;
		if (has_data(s[i]) && match_forwarded(m, s[i]))
			return false;
	}
	for (int i = 0; i < size && sent; i++) {
		if (s[i]->dir != NETSYNC_IN || !has_data(s[i]))
			continue;
		for (int j = 0; j < key->n; j++)
			if (others[j]->dir == NETSYNC_OUT &&
			    others[j]->host != s[i]->host &&
			    has_data(others[j]) &&
			    others[j]->len != s[i]->len &&
			    match_same_sending(others[j], s[i], false) &&
			    !were_seen_again(s, size, others[j]) &&
			    !match_forwarded(m, others[j]))
				return true;
		for (int j = 0; j < size; j++)
			if (s[j]->dir == NETSYNC_OUT && match_weak(s[i], s[j]) &&
			    match_inside_other(m, s[j], s[i]))
				return true;
	}
	return false;
}

/* The plain case, and nearly all there are: out here, in there. */
static bool is_plain(struct sighting **s, int n)
{
	return n == 2 && s[0]->dir != s[1]->dir && s[0]->host != s[1]->host &&
	       !((s[0]->state | s[1]->state) & (SEEN_USED | SEEN_AMBIGUOUS)) &&
	       agree(s[0], s[1], false);
}

static int emit_plain(struct matcher *m, struct sighting **s)
{
	bool first_sent = s[0]->dir == NETSYNC_OUT;

	s[0]->state |= SEEN_EMITTED;
	s[1]->state |= SEEN_EMITTED;
	match_used(s[0], s[1]->host, false);
	match_used(s[1], s[0]->host, false);
	return match_emit(m, s[!first_sent], s[first_sent]);
}

static int sort_out(struct matcher *m, struct sighting **s, int n, bool nat)
{
	const struct key key = { s, n };
	int ret = 0;

	while (n && !ret) {
		bool clear, used = false;
		int size = collect(s, n, nat, &clear);

		for (int i = 0; i < size; i++)
			used |= !!(s[i]->state & (SEEN_USED | SEEN_AMBIGUOUS));
		/* What was found once stays, and nothing is added to it. */
		if (!used && size > 1) {
			if (!clear || rivals(m, &key, s, size))
				all_ambiguous(m, s, size);
			else
				ret = emit(m, &key, s, size, nat);
		}
		s += size;
		n -= size;
	}
	return ret;
}

/* All sightings of one's key: how many; MAX_SIGHTINGS + 1: too many. */
static int find_key(const struct matcher *m, const struct sighting *s,
		    struct sighting **list)
{
	int n = 0;

	for (uint32_t i = *log_chain(&m->log, s->protocol, s->seq, s->ack);
	     log_has(&m->log, i); i = log_at(&m->log, i)->next) {
		struct sighting *t = log_at(&m->log, i);

		if (!same_key(s, t))
			continue;
		if (n == MAX_SIGHTINGS)
			return n + 1;
		list[n++] = t;
	}
	return n;
}

/* Did somebody forward it, or was it dealt with? */
static bool is_simple(struct sighting **s, int n)
{
	for (int i = 0; i < n; i++) {
		if (s[i]->state & (SEEN_USED | SEEN_AMBIGUOUS))
			return false;
		for (int j = 0; j < i; j++)
			if (s[i]->host == s[j]->host && s[i]->dir != s[j]->dir)
				return false;
	}
	return true;
}

int match_sample(struct matcher *m, struct sighting *s)
{
	struct sighting *list[MAX_SIGHTINGS];
	int n = find_key(m, s, list), left = 0, ret = 0;

	/* Ports and ids alone are those of other hosts' datagrams, too. */
	for (int i = 0; i < n && n <= MAX_SIGHTINGS; i++)
		if (list[i] == s || agree(s, list[i], false))
			list[left++] = list[i];
	if (left > MAX_SAMPLED || !is_simple(list, left) ||
	    !are_one_packet(list, left, false))
		return 0;
	for (int i = 0; i < left && !ret; i++) {
		bool sent = s->dir == NETSYNC_OUT;
		const struct sighting *t = list[i];

		if (t->dir != s->dir)
			ret = match_learn(m, sent ? s : t, sent ? t : s);
	}
	return ret;
}

int match_key(struct matcher *m, struct sighting *s)
{
	struct sighting *list[MAX_SIGHTINGS];
	int n = find_key(m, s, list), left = 0, ret;

	if (n > MAX_SIGHTINGS) {
		match_ambiguous(m, s);
		return 0;
	}
	for (int i = 0; i < n; i++)
		list[i]->state |= SEEN_LOOKED;
	if (n == 1)
		return 0;
	if (is_plain(list, n) && !match_weak(list[0], list[1]))
		return emit_plain(m, list);
	ret = sort_out(m, list, n, false);
	for (int i = 0; i < n; i++)
		if (!(list[i]->state & SEEN_DONE))
			list[left++] = list[i];
	if (ret || left < 2 || has_second_key(s))
		return ret;
	return sort_out(m, list, left, true);
}

static bool same_second(const struct sighting *a, const struct sighting *b)
{
	if (a->protocol != b->protocol || a->len != b->len ||
	    counts_ids(a) != counts_ids(b))
		return false;
	if (counts_ids(a))
		return a->ip_id == b->ip_id;
	return a->seq == b->seq && (a->protocol == UDP || a->ack == b->ack);
}

bool match_is_ready(const struct matcher *m, const struct sighting *s)
{
	const int64_t decide = m->peers.host[s->host].decide;

	return m->unclear || decide == INT64_MIN ||
	       s->time - PEER_LIFETIME < decide;
}

int match_second(struct matcher *m, struct sighting *s)
{
	struct sighting *list[MAX_SIGHTINGS] = { s };
	const bool nat = counts_ids(s);
	int n = 1, looked = 0, ret = 0;

	for (uint32_t i = *log_second(&m->log, s); log_has(&m->log, i) && !ret;
	     i = log_at(&m->log, i)->next_second) {
		struct sighting *t = log_at(&m->log, i);

		if (t == s || !same_second(s, t) || !match_is_ready(m, t))
			continue;
		if (++looked == MAX_SIGHTINGS)
			return ret;
		ret = match_first(m, t);
		if (t->state & SEEN_USED)
			continue;
		if ((t->state & SEEN_DONE) && t->host != s->host &&
		    t->dir != s->dir && agree(s, t, nat))
			match_ambiguous(m, s);
		if (t->state & SEEN_DONE)
			continue;
		list[n++] = t;
	}
	if (ret || n == 1 || (s->state & SEEN_DONE))
		return ret;
	return sort_out(m, list, n, nat);
}
