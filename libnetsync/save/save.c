// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Write the part of struct netsync that netsync_solve() needs as bytes. take.c reads the items in
 * the same order.
 */
#include <string.h>

#include "save/format.h"
#include "save/save.h"

/* Size of the write buffer, in bytes. Chosen. */
#define SAVED_ROOM 4096
/*
 * Space that reserve_saved_room() guarantees, in bytes. This space exceeds LEB128_MAX, the maximum
 * size of an encoded number.
 */
#define MAX_SAVED_ITEM 24

struct saving {
	netsync_write_func write;
	void *data;
	int error;	      /* error of write(), which is not called again after an error */
	struct bytes_put put; /* the write position in the buffer */
	uint8_t room[SAVED_ROOM];
};

/* Write the buffered bytes. Return 0 or the error of write(). */
static int flush_saved(struct saving *p)
{
	const size_t used = (size_t)(p->put.at - p->room);

	if (!p->error && used)
		p->error = p->write(p->data, p->room, used);
	p->put.at = p->room;
	return p->error;
}

/* Make space for one number in the buffer. Return the write position. */
static struct bytes_put *reserve_saved_room(struct saving *p)
{
	if (p->put.at > p->room + SAVED_ROOM - MAX_SAVED_ITEM)
		flush_saved(p);
	return &p->put;
}

static void save_bytes(struct saving *p, const char *bytes, size_t num)
{
	for (size_t i = 0; i < num; i++)
		bytes_put_fixed(reserve_saved_room(p), (uint8_t)bytes[i], 1);
}

static void save_128(struct saving *p, __int128 v)
{
	bytes_put_fixed(reserve_saved_room(p), (uint64_t)v, 8);
	bytes_put_fixed(reserve_saved_room(p), (uint64_t)((unsigned __int128)v >> 64), 8);
}

static void save_wide(struct saving *p, struct wide v)
{
	bytes_put_fixed(reserve_saved_room(p), v.low, 8);
	save_128(p, v.high);
}

static void save_histogram(struct saving *p, const struct histogram *h)
{
	bytes_put_number(reserve_saved_room(p), h != NULL);
	if (!h)
		return;
	bytes_put_number(reserve_saved_room(p), h->num);
	bytes_put_number(reserve_saved_room(p), (uint64_t)h->min);
	bytes_put_number(reserve_saved_room(p), (uint64_t)h->max);
	for (size_t i = 0; i < sizeof(h->count) / sizeof(*h->count); i++)
		bytes_put_number(reserve_saved_room(p), h->count[i]);
}

static void save_clock_point(struct saving *p, const struct clock_point *c)
{
	bytes_put_signed(reserve_saved_room(p), c->t);
	bytes_put_signed(reserve_saved_room(p), c->raw);
	bytes_put_number(reserve_saved_room(p), (uint64_t)c->within);
	bytes_put_double(reserve_saved_room(p), c->rate);
	bytes_put_number(reserve_saved_room(p), c->set);
	bytes_put_number(reserve_saved_room(p), c->number);
}

static void save_steering(struct saving *p, const struct steering *s)
{
	bytes_put_number(reserve_saved_room(p), s->num);
	for (size_t i = 0; i < s->num; i++)
		save_clock_point(p, &s->point[i]);
	bytes_put_number(reserve_saved_room(p), s->anchored);
	if (s->anchored)
		save_clock_point(p, &s->anchor);
	bytes_put_number(reserve_saved_room(p), s->has_promise);
	if (s->has_promise)
		bytes_put_signed(reserve_saved_room(p), max64(s->promised, -INT64_MAX));
}

static void save_resolution(struct saving *p, const struct resolution *r)
{
	bytes_put_signed(reserve_saved_room(p), r->first);
	bytes_put_number(reserve_saved_room(p), r->divisor);
	bytes_put_number(reserve_saved_room(p), r->stamps);
	bytes_put_number(reserve_saved_room(p), r->same);
	bytes_put_signed(reserve_saved_room(p), r->least);
}

static void save_host(struct saving *p, const struct host *h)
{
	const size_t length = strlen(h->name);

	bytes_put_number(reserve_saved_room(p), length);
	save_bytes(p, h->name, length);
	bytes_put_number(reserve_saved_room(p), h->packets);
	bytes_put_number(reserve_saved_room(p), h->first <= h->last);
	if (h->first > h->last)
		return;
	bytes_put_signed(reserve_saved_room(p), h->origin);
	bytes_put_signed(reserve_saved_room(p), h->first);
	bytes_put_signed(reserve_saved_room(p), h->last);
	bytes_put_number(reserve_saved_room(p), h->said.lo <= h->said.hi);
	if (h->said.lo <= h->said.hi) {
		bytes_put_signed(reserve_saved_room(p), h->said.lo);
		bytes_put_signed(reserve_saved_room(p), h->said.hi);
	}
	bytes_put_number(reserve_saved_room(p), h->last_used > INT64_MIN);
	if (h->last_used > INT64_MIN)
		bytes_put_signed(reserve_saved_room(p), h->last_used);
	save_resolution(p, &h->resolution);
}

static void save_hosts(struct saving *p, const struct netsync *ns)
{
	bytes_put_number(reserve_saved_room(p), ns->num_hosts);
	for (size_t i = 0; i < ns->num_hosts; i++) {
		save_host(p, &ns->host[i]);
		for (int d = 0; d < 2; d++)
			save_histogram(p, ns->matcher.peers.host[i].stack[d]);
		save_steering(p, &ns->steering[i]);
	}
}

/*
 * The x of a corner is saved relative to the beginning of its bin, so that the saved bytes do not
 * depend on the origin of times.
 */
static void save_bin(struct saving *p, const struct envelope *e, const struct bin *b)
{
	const int64_t begin = b->index * (INT64_C(1) << e->shift) + e->base;

	bytes_put_signed(reserve_saved_room(p), b->index);
	bytes_put_number(reserve_saved_room(p), b->messages);
	save_128(p, b->sum_x);
	bytes_put_number(reserve_saved_room(p), b->corners);
	for (uint32_t i = 0; i < b->corners; i++) {
		bytes_put_number(reserve_saved_room(p), (uint64_t)(b->corner[i].x - begin));
		bytes_put_signed(reserve_saved_room(p), b->corner[i].y);
	}
}

static void save_direction(struct saving *p, const struct direction *d)
{
	bytes_put_number(reserve_saved_room(p), d->inversions);
	bytes_put_signed(reserve_saved_room(p), d->raised);
	bytes_put_number(reserve_saved_room(p), d->num);
	save_128(p, d->sum_x);
	save_128(p, d->sum_y);
	save_wide(p, d->sum_xx);
	save_wide(p, d->sum_xy);
	bytes_put_number(reserve_saved_room(p), d->num_fresh);
	for (size_t i = 0; i < d->num_fresh; i++) {
		bytes_put_signed(reserve_saved_room(p), d->fresh[i].x);
		bytes_put_signed(reserve_saved_room(p), d->fresh[i].y);
	}
	bytes_put_number(reserve_saved_room(p), (uint64_t)d->envelope.shift);
	bytes_put_number(reserve_saved_room(p), d->envelope.num);
	for (size_t i = 0; i < d->envelope.num; i++)
		save_bin(p, &d->envelope, &d->envelope.bin[i]);
}

static void save_pair(struct saving *p, const struct pair *pair)
{
	bytes_put_number(reserve_saved_room(p), pair->host[0]);
	bytes_put_number(reserve_saved_room(p), pair->host[1]);
	for (int d = 0; d < 2; d++)
		save_direction(p, &pair->direction[d]);
}

static void save_pairs(struct saving *p, const struct pairs *ps)
{
	size_t num = 0;

	for (size_t k = 0; k < PAIR_PARTS; k++)
		num += ps->part[k].num;
	bytes_put_number(reserve_saved_room(p), num);
	for (size_t k = 0; k < PAIR_PARTS; k++)
		for (size_t i = 0; i < ps->part[k].num; i++)
			save_pair(p, ps->part[k].pair[i]);
}

static void save_match_counts(struct saving *p, const struct match_counts *past,
			      const struct match_counts *live)
{
	bytes_put_number(reserve_saved_room(p), past->matched + live->matched);
	bytes_put_number(reserve_saved_room(p), past->nat + live->nat);
	bytes_put_number(reserve_saved_room(p), past->ambiguous + live->ambiguous);
	bytes_put_number(reserve_saved_room(p), past->unmatched + live->unmatched);
}

static void save_peer(struct saving *p, const struct peer_pair *pair)
{
	bytes_put_number(reserve_saved_room(p), pair->host[0]);
	bytes_put_number(reserve_saved_room(p), pair->host[1]);
	save_match_counts(p, &pair->past, &pair->live);
}

static void save_peers(struct saving *p, const struct peers *peers)
{
	bytes_put_number(reserve_saved_room(p), peers_count_pairs(peers));
	for (size_t k = 0; k < PAIR_PARTS; k++)
		for (size_t i = 0; i < peers->part[k].pairs; i++)
			save_peer(p, &peers->part[k].pair[i]);
}

static void save_held_messages(struct saving *p, const struct held_message *message, size_t num)
{
	bytes_put_number(reserve_saved_room(p), num);
	for (size_t i = 0; i < num; i++) {
		const struct held_message *m = &message[i];

		bytes_put_number(reserve_saved_room(p), m->from);
		bytes_put_number(reserve_saved_room(p), m->to);
		bytes_put_signed(reserve_saved_room(p), m->send);
		bytes_put_signed(reserve_saved_room(p), m->recv);
	}
}

int saved_write(struct netsync *ns, netsync_write_func write, void *data)
{
	struct saving p = { .write = write, .data = data, .put.at = p.room };

	save_bytes(&p, SAVED_MAGIC, sizeof(SAVED_MAGIC) - 1);
	bytes_put_number(reserve_saved_room(&p), SAVED_VERSION);
	bytes_put_number(reserve_saved_room(&p), ns->packets);
	bytes_put_number(reserve_saved_room(&p), ns->loopback);
	bytes_put_number(reserve_saved_room(&p), ns->unsupported);
	bytes_put_number(reserve_saved_room(&p), ns->matcher.evicted);
	save_match_counts(&p, &ns->matcher.past, &ns->matcher.live);
	save_hosts(&p, ns);
	save_pairs(&p, &ns->pairs);
	save_peers(&p, &ns->matcher.peers);
	save_held_messages(&p, ns->held.message, ns->held.num);
	save_held_messages(&p, ns->held.uncovered, ns->held.num_uncovered);
	return flush_saved(&p);
}
