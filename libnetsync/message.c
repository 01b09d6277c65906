// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "message.h"

#define MAX_BINS ((size_t)1 << 18)
#define MAX_BINS_OF_CLOUD ((size_t)1 << 15)
#define MIN_BINS_OF_CLOUD ((size_t)1 << 4)

static size_t slot_of(uint32_t a, uint32_t b, size_t slots)
{
	uint64_t v = ((uint64_t)a << 32 | b) * UINT64_C(0x9e3779b97f4a7c15);

	return (v ^ v >> 32) & (slots - 1);
}

static void index_pair(struct pairs *ps, uint32_t number)
{
	const struct pair *p = ps->pair[number];
	size_t i = slot_of(p->host[0], p->host[1], ps->slots);

	while (ps->slot[i])
		i = (i + 1) & (ps->slots - 1);
	ps->slot[i] = number + 1;
}

/* Keep the table at most half full. */
static int grow_index(struct pairs *ps)
{
	size_t slots = ps->slots ? ps->slots * 2 : 16;
	uint32_t *bigger;

	if (ps->num * 2 < ps->slots)
		return 0;
	bigger = calloc(slots, sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	free(ps->slot);
	ps->slot = bigger;
	ps->slots = slots;
	for (uint32_t i = 0; i < ps->num; i++)
		index_pair(ps, i);
	return 0;
}

/* The pair of two hosts, made where there is none; NULL: no memory. */
static struct pair *find_pair(struct pairs *ps, uint32_t a, uint32_t b)
{
	struct pair *p;
	size_t i;

	if (grow_index(ps))
		return NULL;
	for (i = slot_of(a, b, ps->slots); ps->slot[i];
	     i = (i + 1) & (ps->slots - 1)) {
		p = ps->pair[ps->slot[i] - 1];
		if (p->host[0] == a && p->host[1] == b)
			return p;
	}
	if (array_grow(&ps->pair, &ps->room, ps->num, sizeof(*ps->pair)))
		return NULL;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->host[0] = a;
	p->host[1] = b;
	ps->pair[ps->num] = p;
	index_pair(ps, ps->num++);
	return p;
}

int pairs_add(struct pairs *ps, uint32_t from, uint32_t to, int64_t send,
	      int64_t recv, bool inverted)
{
	bool back = from > to;
	struct pair *p = back ? find_pair(ps, to, from) :
				find_pair(ps, from, to);
	struct cloud *c;
	int64_t x, y;
	int ret;

	if (!p)
		return -ENOMEM;
	c = &p->cloud[back];
	x = back ? recv : send;
	y = back ? send - recv : recv - send;
	ret = array_grow(&c->msg, &c->room, c->num, sizeof(*c->msg));
	if (!ret)
		ret = hull_add(&c->hull, x, back ? -y : y);
	if (ret)
		return ret;
	c->msg[c->num].send = send;
	c->msg[c->num++].recv = recv;
	c->inversions += inverted;
	c->sum_x += x;
	c->sum_y += y;
	return 0;
}

static int by_hosts(const void *a, const void *b)
{
	const struct pair *p = *(struct pair *const *)a;
	const struct pair *q = *(struct pair *const *)b;

	if (p->host[0] != q->host[0])
		return p->host[0] < q->host[0] ? -1 : 1;
	return p->host[1] < q->host[1] ? -1 : p->host[1] > q->host[1];
}

int pairs_settle(struct pairs *ps)
{
	/* In an order that does not depend on that of the messages. */
	if (ps->num)
		qsort(ps->pair, ps->num, sizeof(*ps->pair), by_hosts);
	if (ps->slots)
		memset(ps->slot, 0, ps->slots * sizeof(*ps->slot));
	for (uint32_t i = 0; i < ps->num; i++)
		index_pair(ps, i);
	for (size_t i = 0; i < ps->num; i++) {
		for (int d = 0; d < 2; d++) {
			int ret = hull_settle(&ps->pair[i]->cloud[d].hull);

			if (ret)
				return ret;
		}
	}
	return 0;
}

/* All clouds share a number of bins. */
static size_t bins_of_cloud(const struct pairs *ps)
{
	size_t share = MAX_BINS / (2 * ps->num);

	if (share > MAX_BINS_OF_CLOUD)
		return MAX_BINS_OF_CLOUD;
	return share < MIN_BINS_OF_CLOUD ? MIN_BINS_OF_CLOUD : share;
}

static int bin_cloud(struct cloud *c, bool back, size_t bins)
{
	envelope_release(&c->envelope);
	/* Not where times are counted from, which the first message set. */
	c->envelope.base = INT64_MAX;
	for (size_t i = 0; i < c->num; i++) {
		int64_t x = back ? c->msg[i].recv : c->msg[i].send;

		if (x < c->envelope.base)
			c->envelope.base = x;
	}
	for (size_t i = 0; i < c->num; i++) {
		const struct message *m = &c->msg[i];
		int64_t d = m->recv - m->send;
		/* The way back: x is the time received, and y is negated. */
		int ret = envelope_add(&c->envelope, back ? m->recv : m->send,
				       d, bins);

		if (ret)
			return ret;
	}
	return envelope_settle(&c->envelope);
}

int pairs_bin(struct pairs *ps)
{
	for (size_t i = 0; i < ps->num; i++) {
		for (int d = 0; d < 2; d++) {
			int ret = bin_cloud(&ps->pair[i]->cloud[d], d,
					    bins_of_cloud(ps));

			if (ret)
				return ret;
		}
	}
	return 0;
}

void pairs_release(struct pairs *ps)
{
	for (size_t i = 0; i < ps->num; i++) {
		for (int d = 0; d < 2; d++) {
			free(ps->pair[i]->cloud[d].msg);
			hull_release(&ps->pair[i]->cloud[d].hull);
			envelope_release(&ps->pair[i]->cloud[d].envelope);
		}
		free(ps->pair[i]);
	}
	free(ps->pair);
	free(ps->slot);
	memset(ps, 0, sizeof(*ps));
}
