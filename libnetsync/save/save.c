// SPDX-License-Identifier: LGPL-2.1-or-later
/* What solving needs of struct netsync -> bytes; take.c reads them in the same order. */
#include <string.h>

#include "save/format.h"
#include "save/save.h"

static void put_histogram(struct bytes_put *p, const struct histogram *h)
{
	put_number(p, h != NULL);
	if (!h)
		return;
	put_number(p, h->num);
	put_number(p, (uint64_t)h->min);
	put_number(p, (uint64_t)h->max);
	for (size_t i = 0; i < sizeof(h->count) / sizeof(*h->count); i++)
		put_number(p, h->count[i]);
}

static void put_point(struct bytes_put *p, const struct clock_point *c)
{
	put_signed(p, c->t);
	put_signed(p, c->raw);
	put_number(p, (uint64_t)c->within);
	put_double(p, c->rate);
	put_number(p, c->set);
	put_number(p, c->number);
}

static void put_steering(struct bytes_put *p, const struct steering *s)
{
	put_number(p, s->num);
	for (size_t i = 0; i < s->num; i++)
		put_point(p, &s->point[i]);
	put_number(p, s->anchored);
	if (s->anchored)
		put_point(p, &s->anchor);
	put_number(p, s->has_promise);
	if (s->has_promise)
		put_signed(p, max64(s->promised, -INT64_MAX));
}

static void put_resolution(struct bytes_put *p, const struct resolution *r)
{
	put_signed(p, r->first);
	put_number(p, r->divisor);
	put_number(p, r->stamps);
	put_number(p, r->same);
	put_signed(p, r->least);
}

static void put_host(struct bytes_put *p, const struct host *h)
{
	const size_t length = strlen(h->name);

	put_number(p, length);
	put_bytes(p, h->name, length);
	put_number(p, h->packets);
	put_number(p, h->first <= h->last);
	if (h->first > h->last)
		return;
	put_signed(p, h->origin);
	put_signed(p, h->first);
	put_signed(p, h->last);
	put_number(p, h->said.lo <= h->said.hi);
	if (h->said.lo <= h->said.hi) {
		put_signed(p, h->said.lo);
		put_signed(p, h->said.hi);
	}
	put_number(p, h->last_used > INT64_MIN);
	if (h->last_used > INT64_MIN)
		put_signed(p, h->last_used);
	put_resolution(p, &h->resolution);
}

static void put_hosts(struct bytes_put *p, const struct netsync *ns)
{
	put_number(p, ns->num_hosts);
	for (size_t i = 0; i < ns->num_hosts; i++) {
		put_host(p, &ns->host[i]);
		for (int d = 0; d < 2; d++)
			put_histogram(p, ns->matcher.peers.host[i].stack[d]);
		put_steering(p, &ns->steering[i]);
	}
}

/* Corners count from the beginning of their bin, whatever the origin of times is. */
static void put_bin(struct bytes_put *p, const struct envelope *e,
		    const struct bin *b)
{
	const int64_t begin = b->index * (INT64_C(1) << e->shift) + e->base;

	put_signed(p, b->index);
	put_number(p, b->messages);
	put_128(p, b->sum_x);
	put_number(p, b->corners);
	for (uint32_t i = 0; i < b->corners; i++) {
		put_number(p, (uint64_t)(b->corner[i].x - begin));
		put_signed(p, b->corner[i].y);
	}
}

static void put_direction(struct bytes_put *p, const struct direction *d)
{
	put_number(p, d->inversions);
	put_signed(p, d->raised);
	put_number(p, d->num);
	put_128(p, d->sum_x);
	put_128(p, d->sum_y);
	put_wide(p, d->sum_xx);
	put_wide(p, d->sum_xy);
	put_number(p, d->num_fresh);
	for (size_t i = 0; i < d->num_fresh; i++) {
		put_signed(p, d->fresh[i].x);
		put_signed(p, d->fresh[i].y);
	}
	put_number(p, (uint64_t)d->envelope.shift);
	put_number(p, d->envelope.num);
	for (size_t i = 0; i < d->envelope.num; i++)
		put_bin(p, &d->envelope, &d->envelope.bin[i]);
}

static void put_pair(struct bytes_put *p, const struct pair *pair)
{
	put_number(p, pair->host[0]);
	put_number(p, pair->host[1]);
	for (int d = 0; d < 2; d++)
		put_direction(p, &pair->direction[d]);
}

static void put_pairs(struct bytes_put *p, const struct pairs *ps)
{
	size_t num = 0;

	for (size_t k = 0; k < PAIR_PARTS; k++)
		num += ps->part[k].num;
	put_number(p, num);
	for (size_t k = 0; k < PAIR_PARTS; k++)
		for (size_t i = 0; i < ps->part[k].num; i++)
			put_pair(p, ps->part[k].pair[i]);
}

static void put_counts(struct bytes_put *p, const struct match_counts *past,
		       const struct match_counts *live)
{
	put_number(p, past->matched + live->matched);
	put_number(p, past->nat + live->nat);
	put_number(p, past->ambiguous + live->ambiguous);
	put_number(p, past->unmatched + live->unmatched);
}

static void put_peer(struct bytes_put *p, const struct peer_pair *pair)
{
	put_number(p, pair->host[0]);
	put_number(p, pair->host[1]);
	put_counts(p, &pair->past, &pair->live);
}

static void put_peers(struct bytes_put *p, const struct peers *peers)
{
	put_number(p, peers_pairs(peers));
	for (size_t k = 0; k < PAIR_PARTS; k++)
		for (size_t i = 0; i < peers->part[k].pairs; i++)
			put_peer(p, &peers->part[k].pair[i]);
}

static void put_messages(struct bytes_put *p, const struct held_message *message,
			 size_t num)
{
	put_number(p, num);
	for (size_t i = 0; i < num; i++) {
		const struct held_message *m = &message[i];

		put_number(p, m->from);
		put_number(p, m->to);
		put_signed(p, m->send);
		put_signed(p, m->recv);
	}
}

int save(struct netsync *ns, netsync_write_func write, void *data)
{
	struct bytes_put p = { .write = write, .data = data };

	put_bytes(&p, SAVED_MAGIC, sizeof(SAVED_MAGIC) - 1);
	put_number(&p, SAVED_VERSION);
	put_number(&p, ns->packets);
	put_number(&p, ns->loopback);
	put_number(&p, ns->unsupported);
	put_number(&p, ns->matcher.evicted);
	put_counts(&p, &ns->matcher.past, &ns->matcher.live);
	put_hosts(&p, ns);
	put_pairs(&p, &ns->pairs);
	put_peers(&p, &ns->matcher.peers);
	put_messages(&p, ns->held.message, ns->held.num);
	put_messages(&p, ns->held.beside, ns->held.num_beside);
	return put_rest(&p);
}
