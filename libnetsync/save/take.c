// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Read the bytes that save.c has written into struct saved. The bytes are not trusted. Values
 * beyond the limits on which the rest of the library relies are refused. Memory use is at most a
 * multiple of the size of the input.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "save/format.h"
#include "util/array.h"

/*
 * Minimum sizes of saved items, in bytes. The size of the input divided by these sizes limits
 * the number of items.
 */
#define HOST_BYTES 9
#define POINT_BYTES 13
#define PAIR_BYTES 2
#define COUNTS_BYTES 6
#define BIN_BYTES 19
#define CORNER_BYTES 2
#define HELD_BYTES 4

static __int128 load_128(struct bytes_take *t)
{
	const uint64_t low = bytes_take_fixed(t, 8);

	return (__int128)((unsigned __int128)bytes_take_fixed(t, 8) << 64 | low);
}

static struct wide load_wide(struct bytes_take *t)
{
	const uint64_t low = bytes_take_fixed(t, 8);

	return (struct wide){ low, load_128(t) };
}

static bool load_flag(struct bytes_take *t)
{
	return bytes_take_up_to(t, 1);
}

static int64_t load_time(struct bytes_take *t)
{
	return bytes_take_within(t, NETSYNC_MAX_TIME - 1);
}

static int64_t load_span(struct bytes_take *t)
{
	return bytes_take_within(t, NETSYNC_MAX_SPAN);
}

/*
 * Allocate @num zeroed elements. Return NULL if the input is bad or out of memory. In the latter
 * case, also mark the input as bad.
 */
static void *allocate_loaded_array(struct bytes_take *t, size_t num, size_t size)
{
	void *room = t->bad ? NULL : calloc(num + 1, size);

	t->bad |= !room;
	return room;
}

/* ---- hosts --------------------------------------------------------------- */

static void load_histogram(struct bytes_take *t, struct histogram **to)
{
	uint64_t num = 0;
	struct histogram *h;

	if (!load_flag(t))
		return;
	h = *to = allocate_loaded_array(t, 1, sizeof(*h));
	if (!h)
		return;
	h->num = bytes_take_up_to(t, SAVED_MAX_COUNT);
	h->min = (int64_t)bytes_take_up_to(t, INT64_MAX);
	h->max = (int64_t)bytes_take_up_to(t, INT64_MAX);
	for (size_t i = 0; i < sizeof(h->count) / sizeof(*h->count); i++) {
		h->count[i] = bytes_take_up_to(t, h->num - num);
		num += h->count[i];
	}
	t->bad |= !num || num != h->num || h->min > h->max;
}

static void load_clock_point(struct bytes_take *t, struct clock_point *c)
{
	c->t = load_time(t);
	c->raw = load_time(t);
	c->within = (int64_t)bytes_take_up_to(t, NETSYNC_MAX_SPAN - 1);
	c->rate = bytes_take_double(t);
	c->set = load_flag(t);
	c->number = (uint32_t)bytes_take_up_to(t, UINT32_MAX);
	t->bad |= !(c->rate == 0 || (c->rate > 0.5 && c->rate < 2));
}

static void load_steering(struct bytes_take *t, struct steering *s)
{
	s->num = bytes_take_count(t, POINT_BYTES);
	s->point = allocate_loaded_array(t, s->num, sizeof(*s->point));
	for (size_t i = 0; i < s->num && !t->bad; i++)
		load_clock_point(t, &s->point[i]);
	s->anchored = load_flag(t);
	if (s->anchored)
		load_clock_point(t, &s->anchor);
	s->has_promise = load_flag(t);
	if (s->has_promise)
		s->promised = bytes_take_within(t, INT64_MAX);
}

static void load_resolution(struct bytes_take *t, struct resolution *r)
{
	r->first = load_span(t);
	r->divisor = bytes_take_up_to(t, 2 * NETSYNC_MAX_SPAN);
	r->stamps = bytes_take_up_to(t, SAVED_MAX_COUNT);
	r->same = bytes_take_up_to(t, r->stamps);
	r->least = load_span(t);
}

static void load_saved_host(struct bytes_take *t, struct host *h, size_t *length)
{
	*length = bytes_take_count(t, 1);
	h->name = (char *)bytes_take_raw(t, *length);
	t->bad |= !*length || (h->name && memchr(h->name, 0, *length));
	h->packets = bytes_take_up_to(t, SAVED_MAX_COUNT);
	h->first = h->said.lo = INT64_MAX;
	h->last = h->said.hi = h->last_used = INT64_MIN;
	if (!load_flag(t))
		return;
	h->origin = load_time(t);
	h->first = load_span(t);
	h->last = load_span(t);
	t->bad |= h->first > h->last;
	if (load_flag(t)) {
		h->said.lo = load_span(t);
		h->said.hi = load_span(t);
		t->bad |= h->said.lo > h->said.hi || h->said.lo < h->first || h->said.hi > h->last;
	}
	if (load_flag(t))
		h->last_used = load_span(t);
	load_resolution(t, &h->resolution);
}

static void load_hosts(struct bytes_take *t, struct saved *s)
{
	const size_t num = bytes_take_count(t, HOST_BYTES);

	s->host = allocate_loaded_array(t, num, sizeof(*s->host));
	s->name_length = allocate_loaded_array(t, num, sizeof(*s->name_length));
	s->stack = allocate_loaded_array(t, num, sizeof(*s->stack));
	s->steering = allocate_loaded_array(t, num, sizeof(*s->steering));
	if (t->bad)
		return;
	s->num_hosts = num;
	for (size_t i = 0; i < num && !t->bad; i++) {
		load_saved_host(t, &s->host[i], &s->name_length[i]);
		for (int d = 0; d < 2; d++)
			load_histogram(t, &s->stack[i][d]);
		load_steering(t, &s->steering[i]);
	}
}

/* Load the numbers of two different hosts. The first number must be lower. */
static void load_host_pair(struct bytes_take *t, const struct saved *s, uint32_t *host)
{
	for (int i = 0; i < 2; i++) {
		host[i] = (uint32_t)bytes_take_up_to(t, s->num_hosts);
		t->bad |= host[i] >= s->num_hosts;
		if (!t->bad)
			t->bad = s->host[host[i]].first > s->host[host[i]].last;
	}
}

/* ---- messages -------------------------------------------------------------- */

static bool is_sum_within(__int128 sum, uint64_t num, int64_t lo, int64_t hi)
{
	return sum >= (__int128)num * lo && sum <= (__int128)num * hi;
}

/* Load a bin and append its corners to the pool. */
static void load_bin(struct bytes_take *t, struct envelope *e, struct bin *b)
{
	const int64_t width = INT64_C(1) << e->shift;
	/* Times are below 2^62, and the points of a bin are at most 2^60 from them. */
	const int64_t most = NETSYNC_MAX_TIME / width + 2;
	int64_t begin, before = -1;

	b->index = bytes_take_within(t, most);
	/* |index| * width is at most 2^63, and |base| is at most 2^62. */
	t->bad |= __builtin_mul_overflow(b->index, width, &begin) ||
		  __builtin_add_overflow(begin, e->base, &begin) || begin > NETSYNC_MAX_SPAN ||
		  begin < -NETSYNC_MAX_SPAN - width;
	b->messages = bytes_take_up_to(t, SAVED_MAX_COUNT);
	b->sum_x = load_128(t);
	b->corners = (uint32_t)bytes_take_up_to(t, b->messages < UINT32_MAX / 2 ? b->messages :
										  UINT32_MAX / 2);
	t->bad |= !b->corners || !is_sum_within(b->sum_x, b->messages, begin, begin + width - 1);
	for (uint32_t i = 0; i < b->corners && !t->bad; i++) {
		const int64_t x = (int64_t)bytes_take_up_to(t, (uint64_t)width - 1);
		const int64_t y = bytes_take_within(t, SAVED_MAX_Y);

		t->bad |= x <= before ||
			  array_grow(&e->pool, &e->pool_room, e->corners, sizeof(*e->pool));
		if (!t->bad)
			e->pool[e->corners++] = (struct point){ begin + x, y };
		before = x;
	}
}

/* Set the corner pointers of all bins. All corners are next to each other in the pool. */
static void set_bin_corners(struct envelope *e)
{
	size_t used = 0;

	for (size_t i = 0; i < e->num; i++) {
		e->bin[i].corner = e->pool + used;
		used += e->bin[i].corners;
	}
}

static void load_envelope(struct bytes_take *t, struct direction *d, int64_t base)
{
	struct envelope *e = &d->envelope;
	const uint64_t shift = bytes_take_up_to(t, 60);
	uint64_t messages = 0;

	e->shift = (int)shift;
	e->base = base;
	e->num = bytes_take_count(t, BIN_BYTES);
	t->bad |= (e->num == 0) != (shift == 0) || (shift && shift < 20);
	e->bin = allocate_loaded_array(t, e->num, sizeof(*e->bin));
	for (size_t i = 0; i < e->num && !t->bad; i++) {
		load_bin(t, e, &e->bin[i]);
		messages += e->bin[i].messages;
		t->bad |= messages > d->num;
	}
	t->bad |= messages != d->num;
	if (!t->bad)
		set_bin_corners(e);
}

/* Return whether @sum can be a sum of @num products of two times. */
static bool is_sum_of_products(struct wide sum, uint64_t num)
{
	/*
	 * Times and y are at most 2^62, so a product is at most 2^124, and contributes at most
	 * 2^60 to the high part.
	 */
	const __int128 most = ((__int128)num + 1) << 60;

	return sum.high <= most && sum.high >= -most;
}

static void load_direction(struct bytes_take *t, struct direction *d, int64_t base)
{
	d->inversions = bytes_take_up_to(t, SAVED_MAX_COUNT);
	d->raised = bytes_take_within(t, SAVED_MAX_RAISED);
	d->num = bytes_take_up_to(t, SAVED_MAX_COUNT);
	d->sum_x = load_128(t);
	d->sum_y = load_128(t);
	d->sum_xx = load_wide(t);
	d->sum_xy = load_wide(t);
	t->bad |= !is_sum_within(d->sum_x, d->num, -NETSYNC_MAX_SPAN, NETSYNC_MAX_SPAN) ||
		  !is_sum_within(d->sum_y, d->num, -SAVED_MAX_Y, SAVED_MAX_Y) ||
		  !is_sum_of_products(d->sum_xx, d->num) || !is_sum_of_products(d->sum_xy, d->num);
	d->num_fresh = bytes_take_count(t, CORNER_BYTES);
	d->fresh = allocate_loaded_array(t, d->num_fresh, sizeof(*d->fresh));
	for (size_t i = 0; i < d->num_fresh && !t->bad; i++) {
		d->fresh[i].x = load_span(t);
		d->fresh[i].y = bytes_take_within(t, SAVED_MAX_Y);
	}
	load_envelope(t, d, base);
	t->bad |= d->inversions > d->num + d->num_fresh;
}

static void load_pairs(struct bytes_take *t, struct saved *s)
{
	const size_t num = bytes_take_count(t, PAIR_BYTES);

	s->pairs.part[0].pair = allocate_loaded_array(t, num, sizeof(*s->pairs.pair));
	while (s->pairs.part[0].num < num && !t->bad) {
		struct pair *p = allocate_loaded_array(t, 1, sizeof(*p));

		if (!p)
			return;
		s->pairs.part[0].pair[s->pairs.part[0].num++] = p;
		load_host_pair(t, s, p->host);
		t->bad |= p->host[0] >= p->host[1];
		for (int d = 0; d < 2 && !t->bad; d++)
			load_direction(t, &p->direction[d], -s->host[p->host[0]].origin);
	}
}

static void load_match_counts(struct bytes_take *t, struct match_counts *c)
{
	c->matched = bytes_take_up_to(t, SAVED_MAX_COUNT);
	c->nat = bytes_take_up_to(t, c->matched);
	c->ambiguous = bytes_take_up_to(t, SAVED_MAX_COUNT);
	c->unmatched = bytes_take_up_to(t, SAVED_MAX_COUNT);
}

static void load_peers(struct bytes_take *t, struct saved *s)
{
	const size_t num = bytes_take_count(t, COUNTS_BYTES);

	s->counts = allocate_loaded_array(t, num, sizeof(*s->counts));
	for (; s->num_counts < num && !t->bad; s->num_counts++) {
		struct peer_pair *p = &s->counts[s->num_counts];

		load_host_pair(t, s, p->host);
		t->bad |= p->host[0] >= p->host[1];
		load_match_counts(t, &p->past);
	}
}

static void load_held_messages(struct bytes_take *t, const struct saved *s,
			       struct held_message **message, size_t *done)
{
	const size_t num = bytes_take_count(t, HELD_BYTES);

	*message = allocate_loaded_array(t, num, sizeof(**message));
	for (; *done < num && !t->bad; ++*done) {
		struct held_message *m = &(*message)[*done];
		uint32_t host[2] = { 0 };

		load_host_pair(t, s, host);
		m->from = host[0];
		m->to = host[1];
		m->send = load_time(t);
		m->recv = load_time(t);
		t->bad |= m->from == m->to;
	}
}

static void load_stats(struct bytes_take *t, struct netsync_stats *s)
{
	struct match_counts c;

	s->packets = bytes_take_up_to(t, SAVED_MAX_COUNT);
	s->loopback = bytes_take_up_to(t, s->packets);
	s->unsupported = bytes_take_up_to(t, s->packets);
	s->evicted = bytes_take_up_to(t, s->packets);
	load_match_counts(t, &c);
	s->matched = c.matched;
	s->nat = c.nat;
	s->ambiguous = c.ambiguous;
	s->unmatched = c.unmatched;
}

int saved_read(struct saved *s, const void *bytes, size_t size)
{
	struct bytes_take t = bytes_take_all(bytes, size);
	const uint8_t *magic = bytes_take_raw(&t, sizeof(SAVED_MAGIC) - 1);

	memset(s, 0, sizeof(*s));
	if (!magic || memcmp(magic, SAVED_MAGIC, sizeof(SAVED_MAGIC) - 1))
		return -EBADMSG;
	if (bytes_take_number(&t) != SAVED_VERSION)
		return t.bad ? -EBADMSG : -EPROTO;
	load_stats(&t, &s->stats);
	load_hosts(&t, s);
	load_pairs(&t, s);
	load_peers(&t, s);
	load_held_messages(&t, s, &s->held, &s->num_held);
	load_held_messages(&t, s, &s->uncovered, &s->num_uncovered);
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
	free(s->uncovered);
	pairs_release(&s->pairs);
}
