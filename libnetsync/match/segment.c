// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Match TCP segments that were segmented into smaller ones, or merged into larger ones,
 * between the places where they were recorded.
 *
 * All parts of a segment have its acknowledgment number, window and options, and
 * increasing IP ids. Receive offload merges only segments that agree in these fields. Two
 * segments that agree in these fields and have bytes in common belong to the same
 * transmission of these bytes.
 *
 * For every such pair, a byte is received after it was sent. The tightest constraints
 * come from pairs where the received segment contains the first byte of the sent one, and
 * where no later sent segment begins in the received one. All other constraints follow
 * from these.
 *
 * A segment that begins inside another one is found by the block index entries of the
 * longer segment, one for each 64 KiB. Only segments longer than a single packet have
 * entries, which keeps entries few.
 *
 * Datagrams that are sent or received together (offload) are matched in the same way, by
 * IP ids instead of bytes.
 */
#include "match/internal.h"

/* Return whether several hosts forward the segment, in an unknown order. */
static bool has_routers(const struct packet_record *s, const struct candidates *all)
{
	for (int i = 0; i < all->n; i++) {
		const struct packet_record *t = all->s[i];

		if (t->dir == NETSYNC_OUT && t->host != s->host &&
		    match_is_same_transmission(s, t, false) && match_is_forwarded(t, all))
			return true;
	}
	return false;
}

/*
 * Return whether t is a counterpart of s with other bytes. whole.c matches records with the same
 * bytes.
 */
static bool is_counterpart(const struct packet_record *s, const struct packet_record *t, bool nat)
{
	return t->dir != s->dir && t->host != s->host &&
	       (match_get_span(t) != match_get_span(s) || match_compute_lead(s, t)) &&
	       match_is_same_transmission(s, t, nat);
}

/*
 * Find the counterparts of s. If a host has several observation points, use the outermost one.
 * Return the number of counterparts, or a negative value if they are ambiguous.
 */
static int find_counterparts(const struct packet_record *s, const struct candidates *all, bool nat,
			     struct packet_record **found)
{
	const struct packet_record *origin = NULL;
	int n = 0, j;

	for (int i = 0; i < all->n; i++) {
		struct packet_record *t = all->s[i];

		if (!is_counterpart(s, t, nat))
			continue;
		/*
		 * The match is ambiguous if one host has two transmissions of the byte, or if two
		 * hosts may have sent the byte first.
		 */
		for (j = 0; j < i; j++)
			if (all->s[j]->host == t->host && is_counterpart(s, all->s[j], nat) &&
			    !match_is_same_transit(all->s[j], t))
				return -1;
		for (j = 0; j < n && found[j]->host != t->host; j++)
			;
		if (j == n && t->dir == NETSYNC_OUT && !match_is_forwarded(t, all)) {
			if (origin && !match_is_same_side(origin, t))
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
 * Check other records in the direction of s. Return 1 if s was recorded again further out, 0 if it
 * was not, and -1 if the counterparts could belong to another transmission of the same byte.
 * Records that another host forwards, and records from another clock of the sender, do not count as
 * other transmissions.
 */
static int check_own_side(const struct packet_record *s, const struct candidates *own,
			  struct packet_record **found, int n, bool nat)
{
	int outer = 0;

	for (int i = 0; i < own->n; i++) {
		const struct packet_record *t = own->s[i];

		if (t->dir != s->dir ||
		    (t->host != s->host &&
		     (t->dir == NETSYNC_IN || match_is_same_side(s, t) ||
		      match_is_forwarded(t, own) || match_is_forwarded(s, own))))
			continue;
		if (match_is_same_transit(s, t)) {
			outer |= t->time > s->time;
			continue;
		}
		for (int j = 0; j < n; j++)
			if (match_is_same_transmission(t, found[j], nat))
				return -1;
	}
	return outer;
}

/* The records that belong to the same transmission as a given record. */
struct parts {
	struct packet_record *found[MATCH_MAX_CANDIDATES]; /* records on other hosts */
	int n;
	bool outer; /* whether the record was taken again further out */
};

/*
 * Find the counterparts of s. Return false if the segments are ambiguous. Earlier decisions do not
 * affect the result.
 */
static bool find_segment_parts(const struct packet_record *s, const struct candidates *all,
			       bool nat, struct parts *p)
{
	int own = 0;

	if (all->too_many)
		return false;
	p->n = find_counterparts(s, all, nat, p->found);
	if (p->n > 0)
		own = check_own_side(s, all, p->found, p->n, nat);
	p->outer = own || (p->n > 0 && match_is_forwarded(s, all) && has_routers(s, all));
	return p->n >= 0 && own >= 0;
}

/* Return whether the counterparts that begin in s are unambiguous, too. */
static bool are_parts_unambiguous(const struct shard *m, const struct packet_record *s,
				  const struct parts *p, bool nat)
{
	struct candidates around;
	struct parts theirs;

	for (int i = 0; i < p->n; i++) {
		if (!match_begins_in(p->found[i], s))
			continue;
		match_find_candidates(m, p->found[i], &around);
		if (!find_segment_parts(p->found[i], &around, nat, &theirs))
			return false;
	}
	return true;
}

/*
 * Return whether t may have arrived before s left. If a transmission seems to begin on several
 * hosts, one of them may be a router whose incoming record is missing. Another router may precede
 * it.
 */
static bool may_be_before(const struct packet_record *t, const struct packet_record *s,
			  const struct candidates *all)
{
	bool origins = false, forwards = false;

	for (int i = 0; i < all->n; i++) {
		const struct packet_record *u = all->s[i];

		if (u->host == s->host || u->dir != NETSYNC_OUT ||
		    !match_is_same_transmission(s, u, false))
			continue;
		forwards |= u->host == t->host;
		origins |= !match_is_forwarded(u, all);
	}
	return origins && forwards && !match_is_forwarded(s, all);
}

/* Return 1 if the record is decided, 0 if it has no counterparts, or a negative errno value. */
static int match_segment_parts(struct shard *m, struct packet_record *s,
			       const struct candidates *all, bool nat)
{
	struct parts p;
	int ret = 0;

	if (!find_segment_parts(s, all, nat, &p) || !are_parts_unambiguous(m, s, &p, nat)) {
		match_mark_ambiguous(m, s);
		return 1;
	}
	for (int i = 0; i < p.n && !ret; i++) {
		struct packet_record *t = p.found[i];

		ret = match_mark_matched(m, s, t->host, nat);
		if (!ret)
			ret = match_mark_matched(m, t, s->host, nat);
		if (!ret && s->dir == NETSYNC_OUT && !p.outer && match_begins_in(s, t) &&
		    match_compute_lead(t, s) + (int64_t)match_get_span(s) >= match_get_span(t) &&
		    !may_be_before(t, s, all)) {
			ret = match_emit_message(m, s, t);
			s->state |= RECORD_EMITTED;
		}
	}
	return ret ? ret : p.n > 0;
}

int match_segments(struct shard *m, struct packet_record *s)
{
	struct candidates all;
	int ret = 0;

	match_find_candidates(m, s, &all);
	if (!all.n)
		return 0;
	/* Match whole packets first, so that the order of records does not affect the result. */
	for (int i = 0; i < all.n && !ret; i++)
		if (!(all.s[i]->state & (RECORD_DECIDED | RECORD_EXAMINED | RECORD_COPY)) &&
		    match_is_ready(m, all.s[i]))
			ret = match_whole_record(m, all.s[i]);
	if (!ret)
		ret = match_segment_parts(m, s, &all, false);
	if (!ret)
		ret = match_segment_parts(m, s, &all, true);
	return ret < 0 ? ret : 0;
}

int match_by_first_key(struct shard *m, struct packet_record *s)
{
	int ret = 0;

	if (!(s->state & (RECORD_DECIDED | RECORD_EXAMINED)))
		ret = match_whole_record(m, s);
	if (ret || !may_be_segmented(s))
		return ret;
	/* A sent record that was matched as a whole may still have a message to report. */
	if (s->dir == NETSYNC_OUT ?
		    s->state & (RECORD_EMITTED | RECORD_AMBIGUOUS | RECORD_AMBIGUOUS_YET) :
		    s->state & RECORD_DECIDED)
		return 0;
	return match_segments(m, s);
}
