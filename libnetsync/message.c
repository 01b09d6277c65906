// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "message.h"

/*
 * What the envelopes of all clouds may take together: 40 MB or so. Each cloud
 * gets its share.
 */
#define MAX_BINS ((size_t)1 << 17)
#define MAX_CORNERS ((size_t)3 << 19)
#define MAX_BINS_OF_CLOUD ((size_t)1 << 15)
#define MIN_BINS_OF_CLOUD ((size_t)1 << 2)
#define MIN_CORNERS_OF_CLOUD ((size_t)1 << 5)

static size_t slot_of(uint32_t a, uint32_t b, size_t slots)
{
	uint64_t v = ((uint64_t)a << 32 | b) * UINT64_C(0x9e3779b97f4a7c15);

	return (v ^ v >> 32) & (slots - 1);
}

static struct budget share(size_t pairs)
{
	struct budget b = { MAX_BINS / (2 * pairs), MAX_CORNERS / (2 * pairs) };

	if (b.bins > MAX_BINS_OF_CLOUD)
		b.bins = MAX_BINS_OF_CLOUD;
	if (b.bins < MIN_BINS_OF_CLOUD)
		b.bins = MIN_BINS_OF_CLOUD;
	if (b.corners < MIN_CORNERS_OF_CLOUD)
		b.corners = MIN_CORNERS_OF_CLOUD;
	return b;
}

static int settle_envelopes(struct pairs *ps)
{
	int ret = 0;

	for (size_t i = 0; i < ps->num && !ret; i++)
		for (int d = 0; d < 2 && !ret; d++)
			ret = envelope_settle(&ps->pair[i]->cloud[d].envelope,
					      &ps->budget);
	return ret;
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

/* The number of the pair of two hosts; ps->num: there is none yet. */
static size_t find_pair(const struct pairs *ps, uint32_t a, uint32_t b)
{
	if (ps->last < ps->num && ps->pair[ps->last]->host[0] == a &&
	    ps->pair[ps->last]->host[1] == b)
		return ps->last;
	for (size_t i = ps->slots ? slot_of(a, b, ps->slots) : 0;
	     ps->slots && ps->slot[i]; i = (i + 1) & (ps->slots - 1)) {
		const struct pair *p = ps->pair[ps->slot[i] - 1];

		if (p->host[0] == a && p->host[1] == b)
			return ps->slot[i] - 1;
	}
	return ps->num;
}

/* Times of host[0] are on a grid that does not depend on its origin. */
static int make_pair(struct pairs *ps, const struct end *a, uint32_t b)
{
	struct pair *p;
	int ret;

	if (grow_index(ps) ||
	    array_grow(&ps->pair, &ps->room, ps->num, sizeof(*ps->pair)))
		return -ENOMEM;
	ps->budget = share(ps->num + 1);
	/* Those that no longer send must give up what others need, too. */
	if (!(ps->num & (ps->num - 1))) {
		ret = settle_envelopes(ps);
		if (ret)
			return ret;
	}
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->host[0] = a->host;
	p->host[1] = b;
	p->cloud[0].envelope.base = -a->origin;
	p->cloud[1].envelope.base = -a->origin;
	ps->pair[ps->num] = p;
	index_pair(ps, (uint32_t)ps->num++);
	return 0;
}

int pairs_add(struct pairs *ps, const struct end *from, const struct end *to)
{
	bool back = from->host > to->host;
	const struct end *a = back ? to : from, *b = back ? from : to;
	int64_t x = a->t, y = b->t - a->t;
	struct cloud *c;

	ps->last = find_pair(ps, a->host, b->host);
	if (ps->last == ps->num && make_pair(ps, a, b->host))
		return -ENOMEM;
	c = &ps->pair[ps->last]->cloud[back];
	if (envelope_add(&c->envelope, x, back ? -y : y, &ps->budget))
		return -ENOMEM;
	c->num++;
	c->inversions += to->t - from->t < from->origin - to->origin;
	c->sum_x += x;
	c->sum_y += y;
	c->sum_xx = wide_sum(c->sum_xx, wide_of((__int128)x * x));
	c->sum_xy = wide_sum(c->sum_xy, wide_of((__int128)x * y));
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

static int make_hull(struct cloud *c)
{
	int ret = 0;

	c->hull.corners = 0;
	for (size_t i = 0; i < c->envelope.num; i++) {
		const struct bin *b = &c->envelope.bin[i];

		for (uint32_t k = 0; k < b->corners && !ret; k++)
			ret = hull_add(&c->hull, &b->corner[k]);
	}
	return ret;
}

int pairs_settle(struct pairs *ps)
{
	int ret;

	/* In an order that does not depend on that of the messages. */
	if (ps->num)
		qsort(ps->pair, ps->num, sizeof(*ps->pair), by_hosts);
	if (ps->slots)
		memset(ps->slot, 0, ps->slots * sizeof(*ps->slot));
	for (uint32_t i = 0; i < ps->num; i++)
		index_pair(ps, i);
	ret = settle_envelopes(ps);
	for (size_t i = 0; i < ps->num; i++)
		for (int d = 0; d < 2 && !ret; d++)
			ret = make_hull(&ps->pair[i]->cloud[d]);
	return ret;
}

void pairs_release(struct pairs *ps)
{
	for (size_t i = 0; i < ps->num; i++) {
		for (int d = 0; d < 2; d++) {
			hull_release(&ps->pair[i]->cloud[d].hull);
			envelope_release(&ps->pair[i]->cloud[d].envelope);
		}
		free(ps->pair[i]);
	}
	free(ps->pair);
	free(ps->slot);
	memset(ps, 0, sizeof(*ps));
}
