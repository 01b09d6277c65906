// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The state of struct netsync that netsync_solve() needs -> bytes; take.c reads them in the
 * same order.
 */
#include <string.h>

#include "save/format.h"
#include "save/save.h"

static void save_histogram(struct bytes_put *p, const struct histogram *h)
{
	bytes_put_number(p, h != NULL);
	if (!h)
		return;
	bytes_put_number(p, h->num);
	bytes_put_number(p, (uint64_t)h->min);
	bytes_put_number(p, (uint64_t)h->max);
	for (size_t i = 0; i < sizeof(h->count) / sizeof(*h->count); i++)
		bytes_put_number(p, h->count[i]);
}

static void save_clock_point(struct bytes_put *p, const struct clock_point *c)
{
	bytes_put_signed(p, c->t);
	bytes_put_signed(p, c->raw);
	bytes_put_number(p, (uint64_t)c->within);
	bytes_put_double(p, c->rate);
	bytes_put_number(p, c->set);
	bytes_put_number(p, c->number);
}

static void save_steering(struct bytes_put *p, const struct steering *s)
{
	bytes_put_number(p, s->num);
	for (size_t i = 0; i < s->num; i++)
		save_clock_point(p, &s->point[i]);
	bytes_put_number(p, s->anchored);
	if (s->anchored)
		save_clock_point(p, &s->anchor);
	bytes_put_number(p, s->has_promise);
	if (s->has_promise)
		bytes_put_signed(p, max64(s->promised, -INT64_MAX));
}

static void save_resolution(struct bytes_put *p, const struct resolution *r)
{
	bytes_put_signed(p, r->first);
	bytes_put_number(p, r->divisor);
	bytes_put_number(p, r->stamps);
	bytes_put_number(p, r->same);
	bytes_put_signed(p, r->least);
}

static void save_host(struct bytes_put *p, const struct host *h)
{
	const size_t length = strlen(h->name);

	bytes_put_number(p, length);
	bytes_put_raw(p, h->name, length);
	bytes_put_number(p, h->packets);
	bytes_put_number(p, h->first <= h->last);
	if (h->first > h->last)
		return;
	bytes_put_signed(p, h->origin);
	bytes_put_signed(p, h->first);
	bytes_put_signed(p, h->last);
	bytes_put_number(p, h->said.lo <= h->said.hi);
	if (h->said.lo <= h->said.hi) {
		bytes_put_signed(p, h->said.lo);
		bytes_put_signed(p, h->said.hi);
	}
	bytes_put_number(p, h->last_used > INT64_MIN);
	if (h->last_used > INT64_MIN)
		bytes_put_signed(p, h->last_used);
	save_resolution(p, &h->resolution);
}

static void save_hosts(struct bytes_put *p, const struct netsync *ns)
{
	bytes_put_number(p, ns->num_hosts);
	for (size_t i = 0; i < ns->num_hosts; i++) {
		save_host(p, &ns->host[i]);
		for (int d = 0; d < 2; d++)
			save_histogram(p, ns->matcher.peers.host[i].stack[d]);
		save_steering(p, &ns->steering[i]);
	}
}

/* Corners are relative to the start of their bin, independent of the origin of times. */
static void save_bin(struct bytes_put *p, const struct envelope *e,
		     const struct bin *b)
{
	const int64_t begin = b->index * (INT64_C(1) << e->shift) + e->base;

	bytes_put_signed(p, b->index);
	bytes_put_number(p, b->messages);
	bytes_put_128(p, b->sum_x);
	bytes_put_number(p, b->corners);
	for (uint32_t i = 0; i < b->corners; i++) {
		bytes_put_number(p, (uint64_t)(b->corner[i].x - begin));
		bytes_put_signed(p, b->corner[i].y);
	}
}

static void save_direction(struct bytes_put *p, const struct direction *d)
{
	bytes_put_number(p, d->inversions);
	bytes_put_signed(p, d->raised);
	bytes_put_number(p, d->num);
	bytes_put_128(p, d->sum_x);
	bytes_put_128(p, d->sum_y);
	bytes_put_wide(p, d->sum_xx);
	bytes_put_wide(p, d->sum_xy);
	bytes_put_number(p, d->num_fresh);
	for (size_t i = 0; i < d->num_fresh; i++) {
		bytes_put_signed(p, d->fresh[i].x);
		bytes_put_signed(p, d->fresh[i].y);
	}
	bytes_put_number(p, (uint64_t)d->envelope.shift);
	bytes_put_number(p, d->envelope.num);
	for (size_t i = 0; i < d->envelope.num; i++)
		save_bin(p, &d->envelope, &d->envelope.bin[i]);
}

static void save_pair(struct bytes_put *p, const struct pair *pair)
{
	bytes_put_number(p, pair->host[0]);
	bytes_put_number(p, pair->host[1]);
	for (int d = 0; d < 2; d++)
		save_direction(p, &pair->direction[d]);
}

static void save_pairs(struct bytes_put *p, const struct pairs *ps)
{
	size_t num = 0;

	for (size_t k = 0; k < PAIR_PARTS; k++)
		num += ps->part[k].num;
	bytes_put_number(p, num);
	for (size_t k = 0; k < PAIR_PARTS; k++)
		for (size_t i = 0; i < ps->part[k].num; i++)
			save_pair(p, ps->part[k].pair[i]);
}

static void save_match_counts(struct bytes_put *p, const struct match_counts *past,
			      const struct match_counts *live)
{
	bytes_put_number(p, past->matched + live->matched);
	bytes_put_number(p, past->nat + live->nat);
	bytes_put_number(p, past->ambiguous + live->ambiguous);
	bytes_put_number(p, past->unmatched + live->unmatched);
}

static void save_peer(struct bytes_put *p, const struct peer_pair *pair)
{
	bytes_put_number(p, pair->host[0]);
	bytes_put_number(p, pair->host[1]);
	save_match_counts(p, &pair->past, &pair->live);
}

static void save_peers(struct bytes_put *p, const struct peers *peers)
{
	bytes_put_number(p, peers_pairs(peers));
	for (size_t k = 0; k < PAIR_PARTS; k++)
		for (size_t i = 0; i < peers->part[k].pairs; i++)
			save_peer(p, &peers->part[k].pair[i]);
}

static void save_held_messages(struct bytes_put *p, const struct held_message *message,
			       size_t num)
{
	bytes_put_number(p, num);
	for (size_t i = 0; i < num; i++) {
		const struct held_message *m = &message[i];

		bytes_put_number(p, m->from);
		bytes_put_number(p, m->to);
		bytes_put_signed(p, m->send);
		bytes_put_signed(p, m->recv);
	}
}

int saved_write(struct netsync *ns, netsync_write_func write, void *data)
{
	struct bytes_put p = { .write = write, .data = data };

	bytes_put_raw(&p, SAVED_MAGIC, sizeof(SAVED_MAGIC) - 1);
	bytes_put_number(&p, SAVED_VERSION);
	bytes_put_number(&p, ns->packets);
	bytes_put_number(&p, ns->loopback);
	bytes_put_number(&p, ns->unsupported);
	bytes_put_number(&p, ns->matcher.evicted);
	save_match_counts(&p, &ns->matcher.past, &ns->matcher.live);
	save_hosts(&p, ns);
	save_pairs(&p, &ns->pairs);
	save_peers(&p, &ns->matcher.peers);
	save_held_messages(&p, ns->held.message, ns->held.num);
	save_held_messages(&p, ns->held.beside, ns->held.num_beside);
	return bytes_flush(&p);
}
