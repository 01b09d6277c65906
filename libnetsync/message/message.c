// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "message/message.h"

/*
 * Limits of all envelopes together, some 40 MB, and of one envelope, which gets an equal
 * share. Chosen.
 */
#define MAX_BINS ((size_t)1 << 17)
#define MAX_CORNERS ((size_t)5 << 18)
#define MAX_BINS_OF_CLOUD ((size_t)1 << 15)
#define MIN_BINS_OF_CLOUD ((size_t)1 << 2)
#define MIN_CORNERS_OF_CLOUD ((size_t)1 << 5)

/* Messages of a direction that are added at once. Chosen, for speed. */
#define FRESH 32

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
			ret = envelope_settle(
				&ps->pair[i]->direction[d].envelope,
				&ps->budget);
	return ret;
}

/* Add a pair. NULL: there is no memory. */
static struct pair *make_pair(struct pairs *ps, const struct endpoint *a,
			      uint32_t b)
{
	struct pair *p;

	if (array_grow(&ps->pair, &ps->room, ps->num, sizeof(*ps->pair)))
		return NULL;
	ps->budget = share(ps->num + 1);
	/* Pairs that no longer get messages must give up memory, too. */
	if (!(ps->num & (ps->num - 1)) && settle_envelopes(ps))
		return NULL;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	if (pair_table_set(&ps->table, a->host, b, (uint32_t)ps->num)) {
		free(p);
		return NULL;
	}
	p->host[0] = a->host;
	p->host[1] = b;
	/* Bins lie on a grid of absolute time, whatever the origin. */
	p->direction[0].envelope.base = -a->origin;
	p->direction[1].envelope.base = -a->origin;
	ps->pair[ps->num++] = p;
	return p;
}

static int add_fresh(struct direction *c, bool back, const struct budget *room)
{
	size_t n = envelope_add(&c->envelope, c->fresh, c->num_fresh, room);

	for (size_t i = 0; i < n; i++) {
		int64_t x = c->fresh[i].x;
		int64_t y = back ? -c->fresh[i].y : c->fresh[i].y;

		c->sum_x += x;
		c->sum_y += y;
		c->sum_xx = wide_sum(c->sum_xx, wide_of((__int128)x * x));
		c->sum_xy = wide_sum(c->sum_xy, wide_of((__int128)x * y));
	}
	c->num += n;
	c->num_fresh -= n;
	if (!c->num_fresh)
		return 0;
	memmove(c->fresh, c->fresh + n, c->num_fresh * sizeof(*c->fresh));
	return -ENOMEM;
}

int pairs_add(struct pairs *ps, const struct endpoint *from,
	      const struct endpoint *to)
{
	bool back = from->host > to->host;
	const struct endpoint *a = back ? to : from, *b = back ? from : to;
	int64_t y = b->t - a->t;
	uint32_t number = pair_table_find(&ps->table, a->host, b->host);
	struct direction *c;
	struct pair *p;

	p = number ? ps->pair[number - 1] : make_pair(ps, a, b->host);
	if (!p)
		return -ENOMEM;
	c = &p->direction[back];
	if ((c->num_fresh == FRESH && add_fresh(c, back, &ps->budget)) ||
	    array_grow(&c->fresh, &c->fresh_room, c->num_fresh,
		       sizeof(*c->fresh)))
		return -ENOMEM;
	c->fresh[c->num_fresh++] = (struct point){ a->t, (back ? -y : y) +
								 c->raised };
	c->inversions += to->t - from->t < from->origin - to->origin;
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

/* Nothing that is kept depends on where y is counted from. */
static void raise_by(struct direction *c, bool back, int64_t by)
{
	__int128 y = back ? -by : by;

	if (!by)
		return;
	for (size_t i = 0; i < c->num_fresh; i++)
		c->fresh[i].y += by;
	for (size_t i = 0; i < c->envelope.num; i++)
		for (uint32_t k = 0; k < c->envelope.bin[i].corners; k++)
			c->envelope.bin[i].corner[k].y += by;
	c->sum_y += (__int128)c->num * y;
	c->sum_xy = wide_sum(c->sum_xy, wide_of(c->sum_x * y));
	c->raised += by;
}

void pairs_raise(struct pairs *ps, const int64_t *resolution, double slope)
{
	for (size_t i = 0; i < ps->num; i++) {
		struct pair *p = ps->pair[i];

		for (int d = 0; d < 2; d++) {
			int64_t late = resolution[p->host[!d]] - 1;

			/* The clocks go on meanwhile. */
			late += (int64_t)ceil((double)late * slope);
			raise_by(&p->direction[d], d,
				 late - p->direction[d].raised);
		}
	}
}

static int settle(struct direction *c, bool back, const struct budget *room)
{
	int ret = add_fresh(c, back, room);

	if (!ret)
		ret = envelope_settle(&c->envelope, room);
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
	int ret = 0;

	/* Sort pairs, so that their order does not depend on that of messages. */
	if (ps->num)
		qsort(ps->pair, ps->num, sizeof(*ps->pair), by_hosts);
	for (uint32_t i = 0; i < ps->num; i++)
		pair_table_set(&ps->table, ps->pair[i]->host[0],
			       ps->pair[i]->host[1], i);
	for (size_t i = 0; i < ps->num; i++)
		for (int d = 0; d < 2 && !ret; d++)
			ret = settle(&ps->pair[i]->direction[d], d,
				     &ps->budget);
	return ret;
}

void pairs_release(struct pairs *ps)
{
	for (size_t i = 0; i < ps->num; i++) {
		for (int d = 0; d < 2; d++) {
			free(ps->pair[i]->direction[d].fresh);
			hull_release(&ps->pair[i]->direction[d].hull);
			envelope_release(&ps->pair[i]->direction[d].envelope);
		}
		free(ps->pair[i]);
	}
	free(ps->pair);
	pair_table_release(&ps->table);
	memset(ps, 0, sizeof(*ps));
}
