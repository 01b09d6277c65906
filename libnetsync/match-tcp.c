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
 */
#include "match.h"

/* So many segments that hold one byte are a storm. */
#define MAX_OTHERS 32

/* Bytes from the beginning of a to that of b; the sequence wraps. */
static int32_t lead(const struct sighting *a, const struct sighting *b)
{
	return (int32_t)(b->seq - a->seq);
}

/* Is the first byte of a in b? */
static bool begins_in(const struct sighting *a, const struct sighting *b)
{
	return a->seq - b->seq < b->len;
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

bool match_bytes(const struct sighting *a, const struct sighting *b, bool nat)
{
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
	uint32_t i;

	o->n = 0;
	o->storm = false;
	for (i = *log_chain(l, s->protocol, s->seq, s->ack); log_has(l, i);
	     i = log_at(l, i)->next) {
		struct sighting *t = log_at(l, i);

		if (t != s && same_key(s, t) && has_data(t))
			add_other(o, t);
	}
	for (i = *log_chain(l, BLOCK_KIND, s->seq >> BLOCK_SHIFT, s->ack);
	     log_has(l, i); i = log_at(l, i)->next) {
		const struct sighting *t = log_at(l, i);
		uint32_t primary = i - t->alias;

		if (t->alias && t->ack == s->ack && t->seq != s->seq &&
		    alias_block(t) == s->seq >> BLOCK_SHIFT &&
		    begins_in(s, t) && log_has(l, primary))
			add_other(o, log_at(l, primary));
	}
}

bool match_inside_other(const struct matcher *m, const struct sighting *s,
			const struct sighting *received)
{
	struct others o;

	find_others(m, s, &o);
	for (int i = 0; i < o.n; i++)
		if (o.s[i]->dir == NETSYNC_OUT && o.s[i]->seq != s->seq &&
		    match_bytes(o.s[i], received, false))
			return true;
	return o.storm;
}

/* Is it the same segment, seen on another device of its host? */
static bool same_segment(const struct sighting *a, const struct sighting *b)
{
	return a->host == b->host && a->dir == b->dir && a->seq == b->seq &&
	       a->len == b->len && match_bytes(a, b, false) &&
	       match_one_packet(a, b);
}

/*
 * The counterparts of s: the other way, on other hosts. Of one that was seen on
 * several devices of its host the outermost one counts. Return their number;
 * negative: it is not clear which.
 */
static int find_counterparts(const struct sighting *s, const struct others *all,
			     bool nat, struct sighting **found)
{
	int n = 0, j;

	for (int i = 0; i < all->n; i++) {
		struct sighting *t = all->s[i];

		if (t->dir == s->dir || t->host == s->host ||
		    (t->len == s->len && t->seq == s->seq) ||
		    !match_bytes(s, t, nat))
			continue;
		for (j = 0; j < n && found[j]->host != t->host; j++)
			;
		/* Sent by two hosts, or twice at one. */
		if (j == n ? n && t->dir == NETSYNC_OUT :
			     !same_segment(found[j], t))
			return -1;
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
 */
static int check_own_side(const struct sighting *s, const struct others *own,
			  struct sighting **found, int n, bool nat)
{
	int outer = 0;

	for (int i = 0; i < own->n; i++) {
		const struct sighting *t = own->s[i];

		if (t->dir != s->dir ||
		    (t->host != s->host && t->dir == NETSYNC_IN))
			continue;
		if (same_segment(s, t)) {
			outer |= t->time > s->time;
			continue;
		}
		for (int j = 0; j < n; j++)
			if (match_bytes(t, found[j], nat))
				return -1;
	}
	return outer;
}

static void ambiguous(struct matcher *m, struct sighting *s,
		      const struct others *o, bool nat)
{
	match_ambiguous(m, s);
	for (int i = 0; i < o->n; i++)
		if (o->s[i]->host != s->host && o->s[i]->dir != s->dir &&
		    match_bytes(s, o->s[i], nat))
			match_ambiguous(m, o->s[i]);
}

/* 1: found; 0: nothing like it; negative errno. */
static int find_bytes(struct matcher *m, struct sighting *s,
		      const struct others *all, bool nat)
{
	struct sighting *found[MAX_OTHERS];
	int n = find_counterparts(s, all, nat, found), own = 0, ret = 0;

	if (n > 0)
		own = check_own_side(s, all, found, n, nat);
	if (n < 0 || own < 0) {
		ambiguous(m, s, all, nat);
		return 1;
	}
	for (int i = 0; i < n && !ret; i++) {
		struct sighting *t = found[i];

		match_used(s, t->host, nat);
		match_used(t, s->host, nat);
		if (s->dir == NETSYNC_OUT && !own && begins_in(s, t) &&
		    lead(t, s) + (int64_t)s->len >= t->len) {
			ret = match_emit(m, s, t);
			s->state |= SEEN_EMITTED;
		}
	}
	return ret ? ret : n > 0;
}

int match_ranges(struct matcher *m, struct sighting *s)
{
	struct others all;
	int ret;

	find_others(m, s, &all);
	if (!all.n)
		return 0;
	if (all.storm) {
		match_ambiguous(m, s);
		return 0;
	}
	ret = find_bytes(m, s, &all, false);
	if (!ret)
		ret = find_bytes(m, s, &all, true);
	return ret < 0 ? ret : 0;
}
