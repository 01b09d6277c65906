// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * TCP segments that were cut into smaller ones, or put together to larger
 * ones, between the places where they were seen.
 *
 * All that segmentation makes of a segment has its acknowledgment number,
 * window and options, and IP ids that run on; what receive offload puts
 * together agrees in these as well. Two segments with that and with bytes in
 * common are of the same transmission of these bytes.
 *
 * That a byte is received after it was sent holds for every such pair. The
 * tightest statements are those where the received segment has the first byte
 * of the sent one, and no later one that was sent begins in it, which is known
 * from where both end: the others follow from these.
 *
 * A segment that begins inside another one is found by the blocks of 64 KiB
 * that the other is filed under. The other is longer than a single segment can
 * be, so that there are few.
 *
 * Datagrams that are sent or received at once are the same thing, with IP ids
 * that run on in the place of bytes.
 */
#include "match/match.h"

/* So many segments that hold one byte are a storm. */
#define MAX_OTHERS 32

/* Bytes, or ids, from the beginning of a to that of b; both wrap. */
static int32_t lead(const struct sighting *a, const struct sighting *b)
{
	if (a->protocol == UDP)
		return (int16_t)(b->ip_id - a->ip_id);
	return (int32_t)(b->seq - a->seq);
}

static uint32_t span(const struct sighting *s)
{
	return s->protocol == UDP ? s->flags : s->len;
}

/* Is the beginning of a in b? */
static bool begins_in(const struct sighting *a, const struct sighting *b)
{
	int32_t from = lead(b, a);

	return from >= 0 && (uint32_t)from < span(b);
}

/*
 * Ids run on by one from segment to segment, or stay. Where the size of the
 * segments is not known, they carry 64 bytes at least.
 */
static bool ids_fit(const struct sighting *a, const struct sighting *b)
{
	int32_t bytes = lead(a, b);
	uint32_t step;
	uint16_t size;

	if (!both(a, b, NETSYNC_HAS_IP_ID))
		return true;
	step = (uint16_t)(bytes >= 0 ? b->ip_id - a->ip_id :
			  a->ip_id - b->ip_id);
	size = bytes >= 0 ? a->gso_size : b->gso_size;
	if (bytes < 0)
		bytes = -bytes;
	if (!step)
		return true;
	return size ? step == (uint32_t)bytes / size :
	       step <= (uint32_t)bytes / 64;
}

/* The digest is of the first datagram of several, the checksum of all. */
static bool same_datagrams(const struct sighting *a, const struct sighting *b)
{
	return (!both(a, b, NETSYNC_HAS_ADDRS) ||
		(a->addr[0] == b->addr[0] && a->addr[1] == b->addr[1])) &&
	       (lead(a, b) || !both(a, b, NETSYNC_HAS_DIGEST) ||
		(a->tsval == b->tsval && a->tsecr == b->tsecr));
}

bool match_same_sending(const struct sighting *a, const struct sighting *b,
			bool nat)
{
	if (a->protocol == UDP)
		return !nat && same_datagrams(a, b);
	/* Of the flags, segmentation keeps all but PSH, FIN and CWR. */
	return has_data(a) && has_data(b) && a->ack == b->ack &&
	       !((a->flags ^ b->flags) & 0xff76) && ids_fit(a, b) &&
	       match_headers(a, b, nat);
}

/* Segments that hold the first byte of one. */
struct others {
	struct sighting *s[MAX_OTHERS];
	int n;
	bool storm;
};

static void add_other(struct others *o, struct sighting *s)
{
	if (o->n < MAX_OTHERS)
		o->s[o->n++] = s;
	else
		o->storm = true;
}

/* Those that begin with it, and the longer ones that have it inside. */
static void find_others(const struct matcher *m, const struct sighting *s,
			struct others *o)
{
	const struct log *l = &m->log;
	uint32_t i, block = s->seq >> BLOCK_SHIFT;

	if (s->protocol == UDP)
		block = s->ip_id;
	o->n = 0;
	o->storm = false;
	for (i = *log_chain(l, s->protocol, s->seq, s->ack); log_has(l, i);
	     i = log_at(l, i)->next) {
		struct sighting *t = log_at(l, i);

		if (t != s && same_key(s, t) && has_parts(t))
			add_other(o, t);
	}
	for (i = *log_chain(l, BLOCK_KIND + s->protocol, block, alias_rest(s));
	     log_has(l, i); i = log_at(l, i)->next) {
		const struct sighting *t = log_at(l, i);
		uint32_t primary = i - t->alias;

		if (t->alias && t->protocol == s->protocol &&
		    alias_rest(t) == alias_rest(s) && alias_block(t) == block &&
		    lead(t, s) && begins_in(s, t) && log_has(l, primary))
			add_other(o, log_at(l, primary));
	}
}

bool match_inside_other(const struct matcher *m, const struct sighting *s,
			const struct sighting *received)
{
	struct others o;

	find_others(m, s, &o);
	for (int i = 0; i < o.n; i++)
		if (o.s[i]->dir == NETSYNC_OUT && lead(o.s[i], s) &&
		    match_same_sending(o.s[i], received, false) &&
		    !match_seen_again(o.s[i], s))
			return true;
	return o.storm;
}

bool match_same_passage(const struct sighting *a, const struct sighting *b)
{
	return a->host == b->host && a->dir == b->dir &&
	       match_same_sending(a, b, false) &&
	       (match_other_place(a, b) ||
		(!lead(a, b) && span(a) == span(b) && match_one_packet(a, b)));
}

bool match_seen_again(const struct sighting *a, const struct sighting *b)
{
	if (a->host == b->host)
		return match_same_passage(a, b);
	return a->dir == b->dir && both(a, b, NETSYNC_HAS_ADDRS) &&
	       match_same_sending(a, b, false);
}

/* Did the host of t receive the byte before t left, that is, forward it? */
static bool is_forwarded(const struct sighting *t, const struct others *all)
{
	for (int i = 0; i < all->n; i++) {
		const struct sighting *u = all->s[i];

		if (u->host == t->host && u->dir == NETSYNC_IN &&
		    u->time <= t->time && match_same_sending(t, u, false))
			return true;
	}
	return false;
}

bool match_forwarded(const struct matcher *m, const struct sighting *s)
{
	struct others o;

	find_others(m, s, &o);
	return is_forwarded(s, &o);
}

/* Do several hosts forward it? Their order is not known. */
static bool has_routers(const struct sighting *s, const struct others *all)
{
	for (int i = 0; i < all->n; i++) {
		const struct sighting *t = all->s[i];

		if (t->dir == NETSYNC_OUT && t->host != s->host &&
		    match_same_sending(s, t, false) && is_forwarded(t, all))
			return true;
	}
	return false;
}

/* The other way, on another host; whole packets are not found here. */
static bool is_counterpart(const struct sighting *s, const struct sighting *t,
			   bool nat)
{
	return t->dir != s->dir && t->host != s->host &&
	       (span(t) != span(s) || lead(s, t)) &&
	       match_same_sending(s, t, nat);
}

/*
 * The counterparts of s. Of one that was seen at several places of its host the
 * outermost one counts. Return their number; negative: it is not clear which.
 */
static int find_counterparts(const struct sighting *s, const struct others *all,
			     bool nat, struct sighting **found)
{
	const struct sighting *origin = NULL;
	int n = 0, j;

	for (int i = 0; i < all->n; i++) {
		struct sighting *t = all->s[i];

		if (!is_counterpart(s, t, nat))
			continue;
		/* Sent twice at one host, or by two. */
		for (j = 0; j < i; j++)
			if (all->s[j]->host == t->host &&
			    is_counterpart(s, all->s[j], nat) &&
			    !match_same_passage(all->s[j], t))
				return -1;
		for (j = 0; j < n && found[j]->host != t->host; j++)
			;
		if (j == n && t->dir == NETSYNC_OUT && !is_forwarded(t, all)) {
			if (origin && !match_seen_again(origin, t))
				return -1;
			origin = t;
		}
		if (j == n)
			found[n++] = t;
		else if ((found[j]->time < t->time) == (t->dir == NETSYNC_OUT))
			found[j] = t;
	}
	return n;
}

/*
 * Others on s's own side: 1 if s was seen again further out, 0 if not, -1 if
 * another transmission of the same byte could be what the counterparts are of.
 * What another host forwards is not another one, nor what another clock of the
 * sender saw.
 */
static int check_own_side(const struct sighting *s, const struct others *own,
			  struct sighting **found, int n, bool nat)
{
	int outer = 0;

	for (int i = 0; i < own->n; i++) {
		const struct sighting *t = own->s[i];

		if (t->dir != s->dir ||
		    (t->host != s->host &&
		     (t->dir == NETSYNC_IN || match_seen_again(s, t) ||
		      is_forwarded(t, own) || is_forwarded(s, own))))
			continue;
		if (match_same_passage(s, t)) {
			outer |= t->time > s->time;
			continue;
		}
		for (int j = 0; j < n; j++)
			if (match_same_sending(t, found[j], nat))
				return -1;
	}
	return outer;
}

/* What is known of the transmission that one is of. */
struct parts {
	struct sighting *found[MAX_OTHERS];	/* on other hosts */
	int n;
	bool outer;		/* it was seen again further out */
};

/* False: it is not clear. This does not depend on what was decided before. */
static bool find_parts(const struct sighting *s, const struct others *all,
		       bool nat, struct parts *p)
{
	int own = 0;

	if (all->storm)
		return false;
	p->n = find_counterparts(s, all, nat, p->found);
	if (p->n > 0)
		own = check_own_side(s, all, p->found, p->n, nat);
	p->outer = own || (p->n > 0 && is_forwarded(s, all) &&
			   has_routers(s, all));
	return p->n >= 0 && own >= 0;
}

/* Is it clear for those, too, that begin in s, or with it? */
static bool are_clear(const struct matcher *m, const struct sighting *s,
		      const struct parts *p, bool nat)
{
	struct others around;
	struct parts theirs;

	for (int i = 0; i < p->n; i++) {
		if (!begins_in(p->found[i], s))
			continue;
		find_others(m, p->found[i], &around);
		if (!find_parts(p->found[i], &around, nat, &theirs))
			return false;
	}
	return true;
}

/*
 * May t have come before s left? Where a transmission seems to have begun on
 * several hosts, one of these may be a router of which the way in was not seen,
 * and another router be before it.
 */
static bool may_be_before(const struct sighting *t, const struct sighting *s,
			  const struct others *all)
{
	bool origins = false, forwards = false;

	for (int i = 0; i < all->n; i++) {
		const struct sighting *u = all->s[i];

		if (u->host == s->host || u->dir != NETSYNC_OUT ||
		    !match_same_sending(s, u, false))
			continue;
		forwards |= u->host == t->host;
		origins |= !is_forwarded(u, all);
	}
	return origins && forwards && !is_forwarded(s, all);
}

/* 1: found; 0: nothing like it; negative errno. */
static int use_parts(struct matcher *m, struct sighting *s,
		     const struct others *all, bool nat)
{
	struct parts p;
	int ret = 0;

	if (!find_parts(s, all, nat, &p) || !are_clear(m, s, &p, nat)) {
		match_ambiguous(m, s);
		return 1;
	}
	for (int i = 0; i < p.n && !ret; i++) {
		struct sighting *t = p.found[i];

		match_used(s, t->host, nat);
		match_used(t, s->host, nat);
		if (s->dir == NETSYNC_OUT && !p.outer && begins_in(s, t) &&
		    lead(t, s) + (int64_t)span(s) >= span(t) &&
		    !may_be_before(t, s, all)) {
			ret = match_emit(m, s, t);
			s->state |= SEEN_EMITTED;
		}
	}
	return ret ? ret : p.n > 0;
}

int match_parts(struct matcher *m, struct sighting *s)
{
	struct others all;
	int ret = 0;

	find_others(m, s, &all);
	if (!all.n)
		return 0;
	/* What is of whole packets must not depend on who comes first. */
	for (int i = 0; i < all.n && !ret; i++)
		if (!(all.s[i]->state & (SEEN_DONE | SEEN_LOOKED)) &&
		    match_is_ready(m, all.s[i]))
			ret = match_key(m, all.s[i]);
	if (!ret)
		ret = use_parts(m, s, &all, false);
	if (!ret)
		ret = use_parts(m, s, &all, true);
	return ret < 0 ? ret : 0;
}
