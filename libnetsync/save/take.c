// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Bytes of save.c -> struct saved. They may hold anything: what is beyond the limits that
 * the rest of the library relies on is refused, and no more memory is taken than some
 * times what the bytes take themselves.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "save/format.h"
#include "util/array.h"

/* The least that each thing takes, bytes: so many of them can there be. */
#define HOST_BYTES 9
#define POINT_BYTES 13
#define PAIR_BYTES 2
#define COUNTS_BYTES 6
#define BIN_BYTES 19
#define CORNER_BYTES 2
#define HELD_BYTES 4

static bool take_flag(struct bytes_take *t)
{
	return take_upto(t, 1);
}

static int64_t take_time(struct bytes_take *t)
{
	return take_signed(t, NETSYNC_MAX_TIME - 1);
}

static int64_t take_span(struct bytes_take *t)
{
	return take_signed(t, NETSYNC_MAX_SPAN);
}

/* @num of them, all zero, or NULL where it is bad: then, too, if there is no memory. */
static void *take_room(struct bytes_take *t, size_t num, size_t size)
{
	void *room = t->bad ? NULL : calloc(num + 1, size);

	t->bad |= !room;
	return room;
}

/* ---- hosts --------------------------------------------------------------- */

static void take_histogram(struct bytes_take *t, struct histogram **to)
{
	uint64_t num = 0;
	struct histogram *h;

	if (!take_flag(t))
		return;
	h = *to = take_room(t, 1, sizeof(*h));
	if (!h)
		return;
	h->num = take_upto(t, SAVED_MAX_COUNT);
	h->min = (int64_t)take_upto(t, INT64_MAX);
	h->max = (int64_t)take_upto(t, INT64_MAX);
	for (size_t i = 0; i < sizeof(h->count) / sizeof(*h->count); i++) {
		h->count[i] = take_upto(t, h->num - num);
		num += h->count[i];
	}
	t->bad |= !num || num != h->num || h->min > h->max;
}

static void take_point(struct bytes_take *t, struct clock_point *c)
{
	c->t = take_time(t);
	c->raw = take_time(t);
	c->within = (int64_t)take_upto(t, NETSYNC_MAX_SPAN - 1);
	c->rate = take_double(t);
	c->set = take_flag(t);
	c->number = (uint32_t)take_upto(t, UINT32_MAX);
	t->bad |= !(c->rate == 0 || (c->rate > 0.5 && c->rate < 2));
}

static void take_steering(struct bytes_take *t, struct steering *s)
{
	s->num = take_count(t, POINT_BYTES);
	s->point = take_room(t, s->num, sizeof(*s->point));
	for (size_t i = 0; i < s->num && !t->bad; i++)
		take_point(t, &s->point[i]);
	s->anchored = take_flag(t);
	if (s->anchored)
		take_point(t, &s->anchor);
	s->has_promise = take_flag(t);
	if (s->has_promise)
		s->promised = take_signed(t, INT64_MAX);
}

static void take_resolution(struct bytes_take *t, struct resolution *r)
{
	r->first = take_span(t);
	r->divisor = take_upto(t, 2 * NETSYNC_MAX_SPAN);
	r->stamps = take_upto(t, SAVED_MAX_COUNT);
	r->same = take_upto(t, r->stamps);
	r->least = take_span(t);
}

static void take_host(struct bytes_take *t, struct host *h, size_t *length)
{
	*length = take_count(t, 1);
	h->name = (char *)take_bytes(t, *length);
	t->bad |= !*length || (h->name && memchr(h->name, 0, *length));
	h->packets = take_upto(t, SAVED_MAX_COUNT);
	h->first = h->said.lo = INT64_MAX;
	h->last = h->said.hi = h->last_used = INT64_MIN;
	if (!take_flag(t))
		return;
	h->origin = take_time(t);
	h->first = take_span(t);
	h->last = take_span(t);
	t->bad |= h->first > h->last;
	if (take_flag(t)) {
		h->said.lo = take_span(t);
		h->said.hi = take_span(t);
		t->bad |= h->said.lo > h->said.hi || h->said.lo < h->first ||
			  h->said.hi > h->last;
	}
	if (take_flag(t))
		h->last_used = take_span(t);
	take_resolution(t, &h->resolution);
}

static void take_hosts(struct bytes_take *t, struct saved *s)
{
	const size_t num = take_count(t, HOST_BYTES);

	s->host = take_room(t, num, sizeof(*s->host));
	s->name_length = take_room(t, num, sizeof(*s->name_length));
	s->stack = take_room(t, num, sizeof(*s->stack));
	s->steering = take_room(t, num, sizeof(*s->steering));
	if (t->bad)
		return;
	s->num_hosts = num;
	for (size_t i = 0; i < num && !t->bad; i++) {
		take_host(t, &s->host[i], &s->name_length[i]);
		for (int d = 0; d < 2; d++)
			take_histogram(t, &s->stack[i][d]);
		take_steering(t, &s->steering[i]);
	}
}

/* Two hosts of which something was seen, in order. */
static void take_ends(struct bytes_take *t, const struct saved *s, uint32_t *host)
{
	for (int i = 0; i < 2; i++) {
		host[i] = (uint32_t)take_upto(t, s->num_hosts);
		t->bad |= host[i] >= s->num_hosts;
		if (!t->bad)
			t->bad = s->host[host[i]].first > s->host[host[i]].last;
	}
}

/* ---- messages -------------------------------------------------------------- */

static bool is_within(__int128 sum, uint64_t num, int64_t lo, int64_t hi)
{
	return sum >= (__int128)num * lo && sum <= (__int128)num * hi;
}

/* Its corners are the next ones of the pool. */
static void take_bin(struct bytes_take *t, struct envelope *e, struct bin *b)
{
	const int64_t width = INT64_C(1) << e->shift;
	/* Times are below 2^62, and what lies in a bin is within 2^60 of them. */
	const int64_t most = NETSYNC_MAX_TIME / width + 2;
	int64_t begin, before = -1;

	b->index = take_signed(t, most);
	/* |index| * width and |base| are 2^63 and 2^62 at most. */
	t->bad |= __builtin_mul_overflow(b->index, width, &begin) ||
		  __builtin_add_overflow(begin, e->base, &begin) ||
		  begin > NETSYNC_MAX_SPAN || begin < -NETSYNC_MAX_SPAN - width;
	b->messages = take_upto(t, SAVED_MAX_COUNT);
	b->sum_x = take_128(t);
	b->corners = (uint32_t)take_upto(t, b->messages < UINT32_MAX / 2 ?
						    b->messages :
						    UINT32_MAX / 2);
	t->bad |= !b->corners || !is_within(b->sum_x, b->messages, begin,
					    begin + width - 1);
	for (uint32_t i = 0; i < b->corners && !t->bad; i++) {
		const int64_t x = (int64_t)take_upto(t, (uint64_t)width - 1);
		const int64_t y = take_signed(t, SAVED_MAX_Y);

		t->bad |= x <= before ||
			  array_grow(&e->pool, &e->pool_room, e->corners,
				     sizeof(*e->pool));
		if (!t->bad)
			e->pool[e->corners++] = (struct point){ begin + x, y };
		before = x;
	}
}

/* Their corners lie one behind the other. */
static void set_corners(struct envelope *e)
{
	size_t used = 0;

	for (size_t i = 0; i < e->num; i++) {
		e->bin[i].corner = e->pool + used;
		used += e->bin[i].corners;
	}
}

static void take_envelope(struct bytes_take *t, struct direction *d, int64_t base)
{
	struct envelope *e = &d->envelope;
	const uint64_t shift = take_upto(t, 60);
	uint64_t messages = 0;

	e->shift = (int)shift;
	e->base = base;
	e->num = take_count(t, BIN_BYTES);
	t->bad |= (e->num == 0) != (shift == 0) || (shift && shift < 20);
	e->bin = take_room(t, e->num, sizeof(*e->bin));
	for (size_t i = 0; i < e->num && !t->bad; i++) {
		take_bin(t, e, &e->bin[i]);
		messages += e->bin[i].messages;
		t->bad |= messages > d->num;
	}
	t->bad |= messages != d->num;
	if (!t->bad)
		set_corners(e);
}

/* Is a sum of @num products in the range that those of two times can be in? */
static bool is_sum(struct wide sum, uint64_t num)
{
	/* Times and y are 2^62 at most: products are 2^124, of which high has 2^60. */
	const __int128 most = ((__int128)num + 1) << 60;

	return sum.high <= most && sum.high >= -most;
}

static void take_direction(struct bytes_take *t, struct direction *d, int64_t base)
{
	d->inversions = take_upto(t, SAVED_MAX_COUNT);
	d->raised = take_signed(t, SAVED_MAX_RAISED);
	d->num = take_upto(t, SAVED_MAX_COUNT);
	d->sum_x = take_128(t);
	d->sum_y = take_128(t);
	d->sum_xx = take_wide(t);
	d->sum_xy = take_wide(t);
	t->bad |= !is_within(d->sum_x, d->num, -NETSYNC_MAX_SPAN, NETSYNC_MAX_SPAN) ||
		  !is_within(d->sum_y, d->num, -SAVED_MAX_Y, SAVED_MAX_Y) ||
		  !is_sum(d->sum_xx, d->num) || !is_sum(d->sum_xy, d->num);
	d->num_fresh = take_count(t, CORNER_BYTES);
	d->fresh = take_room(t, d->num_fresh, sizeof(*d->fresh));
	for (size_t i = 0; i < d->num_fresh && !t->bad; i++) {
		d->fresh[i].x = take_span(t);
		d->fresh[i].y = take_signed(t, SAVED_MAX_Y);
	}
	take_envelope(t, d, base);
	t->bad |= d->inversions > d->num + d->num_fresh;
}

static void take_pairs(struct bytes_take *t, struct saved *s)
{
	const size_t num = take_count(t, PAIR_BYTES);

	s->pairs.part[0].pair = take_room(t, num, sizeof(*s->pairs.pair));
	while (s->pairs.part[0].num < num && !t->bad) {
		struct pair *p = take_room(t, 1, sizeof(*p));

		if (!p)
			return;
		s->pairs.part[0].pair[s->pairs.part[0].num++] = p;
		take_ends(t, s, p->host);
		t->bad |= p->host[0] >= p->host[1];
		for (int d = 0; d < 2 && !t->bad; d++)
			take_direction(t, &p->direction[d],
				       -s->host[p->host[0]].origin);
	}
}

static void take_match_counts(struct bytes_take *t, struct match_counts *c)
{
	c->matched = take_upto(t, SAVED_MAX_COUNT);
	c->nat = take_upto(t, c->matched);
	c->ambiguous = take_upto(t, SAVED_MAX_COUNT);
	c->unmatched = take_upto(t, SAVED_MAX_COUNT);
}

static void take_peers(struct bytes_take *t, struct saved *s)
{
	const size_t num = take_count(t, COUNTS_BYTES);

	s->counts = take_room(t, num, sizeof(*s->counts));
	for (; s->num_counts < num && !t->bad; s->num_counts++) {
		struct peer_pair *p = &s->counts[s->num_counts];

		take_ends(t, s, p->host);
		t->bad |= p->host[0] >= p->host[1];
		take_match_counts(t, &p->past);
	}
}

static void take_messages(struct bytes_take *t, const struct saved *s,
			  struct held_message **message, size_t *done)
{
	const size_t num = take_count(t, HELD_BYTES);

	*message = take_room(t, num, sizeof(**message));
	for (; *done < num && !t->bad; ++*done) {
		struct held_message *m = &(*message)[*done];
		uint32_t host[2] = { 0 };

		take_ends(t, s, host);
		m->from = host[0];
		m->to = host[1];
		m->send = take_time(t);
		m->recv = take_time(t);
		t->bad |= m->from == m->to;
	}
}

static void take_stats(struct bytes_take *t, struct netsync_stats *s)
{
	struct match_counts c;

	s->packets = take_upto(t, SAVED_MAX_COUNT);
	s->loopback = take_upto(t, s->packets);
	s->unsupported = take_upto(t, s->packets);
	s->evicted = take_upto(t, s->packets);
	take_match_counts(t, &c);
	s->matched = c.matched;
	s->nat = c.nat;
	s->ambiguous = c.ambiguous;
	s->unmatched = c.unmatched;
}

int take_saved(struct saved *s, const void *bytes, size_t size)
{
	struct bytes_take t = { bytes, (const uint8_t *)bytes + size, false };
	const uint8_t *magic = take_bytes(&t, sizeof(SAVED_MAGIC) - 1);

	memset(s, 0, sizeof(*s));
	if (!magic || memcmp(magic, SAVED_MAGIC, sizeof(SAVED_MAGIC) - 1))
		return -EBADMSG;
	if (take_number(&t) != SAVED_VERSION)
		return t.bad ? -EBADMSG : -EPROTO;
	take_stats(&t, &s->stats);
	take_hosts(&t, s);
	take_pairs(&t, s);
	take_peers(&t, s);
	take_messages(&t, s, &s->held, &s->num_held);
	take_messages(&t, s, &s->beside, &s->num_beside);
	return t.bad || t.at != t.end ? -EBADMSG : 0;
}

void saved_release(struct saved *s)
{
	for (size_t i = 0; i < s->num_hosts; i++) {
		steering_release(&s->steering[i]);
		for (int d = 0; d < 2; d++)
			free(s->stack[i][d]);
	}
	free(s->host);
	free(s->name_length);
	free(s->stack);
	free(s->steering);
	free(s->counts);
	free(s->held);
	free(s->beside);
	pairs_release(&s->pairs);
}
