// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/number.h"
#include "message/message.h"

/*
 * Limits for all envelopes together, about 40 MB. All envelopes get equal shares. With fewer than
 * FEW_BINS_OF_CLOUD bins, the curvature of a clock cannot be seen. If there are many pairs, more
 * memory is therefore used, up to MOST_BINS (a bin has 48 bytes). Chosen: 1,000 hosts with eight
 * neighbours each need this number.
 */
#define MAX_BINS ((int64_t)1 << 17)
#define MOST_BINS ((int64_t)1 << 18)
#define MAX_CORNERS ((int64_t)5 << 18)
#define MAX_BINS_OF_CLOUD ((int64_t)1 << 15)
#define FEW_BINS_OF_CLOUD ((int64_t)1 << 5)
#define MIN_BINS_OF_CLOUD ((int64_t)1 << 2)
#define MIN_CORNERS_OF_CLOUD ((int64_t)1 << 5)

/* Number of messages in one direction that are added together. Chosen for speed. */
#define FRESH 32

/* Budget for each envelope before there are pairs that share it. */
static const struct budget whole = { MAX_BINS_OF_CLOUD, MAX_CORNERS / 2 };

/*
 * Compute the budget for each envelope. The budget never increases with the number of pairs,
 * because an envelope cannot recover what it has dropped.
 */
static struct budget compute_pair_budget(size_t pairs)
{
	const int64_t envelopes = 2 * (int64_t)pairs;
	const int64_t few = min64(FEW_BINS_OF_CLOUD, MOST_BINS / envelopes);
	const int64_t bins = min64(max64(MAX_BINS / envelopes, few), MAX_BINS_OF_CLOUD);

	return (struct budget){
		.bins = (size_t)max64(bins, MIN_BINS_OF_CLOUD),
		.corners = (size_t)max64(MAX_CORNERS / envelopes, MIN_CORNERS_OF_CLOUD),
	};
}

static int settle_envelopes(struct pairs_part *part, const struct budget *room)
{
	int ret = 0;

	for (size_t i = 0; i < part->num && !ret; i++)
		for (int d = 0; d < 2 && !ret; d++)
			ret = envelope_settle(&part->pair[i]->direction[d].envelope, room);
	return ret;
}

/* Return whether the first pair was added, or the number of pairs has passed a power of two. */
static bool has_passed_power_of_two(size_t before, size_t now)
{
	size_t power = 1;

	while (power < before)
		power *= 2;
	return !before || power < now;
}

void pairs_share_budget(struct pairs *ps)
{
	size_t num = 0;
	int ret = 0;

	for (size_t i = 0; i < PAIR_PARTS; i++)
		num += ps->part[i].num;
	if (num == ps->sharing)
		return;
	ps->budget = compute_pair_budget(num);
	/* Pairs that get no more messages must free memory, too. */
	for (size_t i = 0; i < PAIR_PARTS && has_passed_power_of_two(ps->sharing, num) && !ret; i++)
		ret = settle_envelopes(&ps->part[i], &ps->budget);
	if (!ret)
		ps->sharing = num;
}

/* Add a pair. Return NULL if out of memory. */
static struct pair *add_new_pair(struct pairs_part *part, const struct endpoint *a, uint32_t b)
{
	struct pair *p;

	if (array_grow(&part->pair, &part->room, part->num, sizeof(*part->pair)))
		return NULL;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	if (pair_table_set(&part->table, a->host, b, (uint32_t)part->num)) {
		free(p);
		return NULL;
	}
	p->host[0] = a->host;
	p->host[1] = b;
	/* Bins lie on a grid of absolute time, independent of the origin. */
	p->direction[0].envelope.base = -a->origin;
	p->direction[1].envelope.base = -a->origin;
	part->pair[part->num++] = p;
	return p;
}

/*
 * Sort deferred points by time. Shards report messages one shard after the other; only the messages
 * of one shard are in order.
 */
static void sort_fresh(struct direction *c)
{
	struct point *p = c->fresh;

	for (size_t i = 1; i < c->num_fresh; i++) {
		const struct point last = p[i];
		size_t at = i;

		for (; at && p[at - 1].x > last.x; at--)
			p[at] = p[at - 1];
		p[at] = last;
	}
}

static int add_fresh_points(struct direction *c, bool back, const struct budget *room)
{
	size_t n;

	sort_fresh(c);
	n = envelope_add(&c->envelope, c->fresh, c->num_fresh, room);

	for (size_t i = 0; i < n; i++) {
		int64_t x = c->fresh[i].x;
		int64_t y = back ? -c->fresh[i].y : c->fresh[i].y;

		c->sum_x += x;
		c->sum_y += y;
		c->sum_xx = wide_add(c->sum_xx, make_wide((__int128)x * x));
		c->sum_xy = wide_add(c->sum_xy, make_wide((__int128)x * y));
	}
	c->num += n;
	c->num_fresh -= n;
	if (!c->num_fresh)
		return 0;
	memmove(c->fresh, c->fresh + n, c->num_fresh * sizeof(*c->fresh));
	return -ENOMEM;
}

/* Store a point until several points can be added together. Return 0 or -ENOMEM. */
static int add_fresh_point(struct direction *c, bool back, struct point p,
			   const struct budget *room)
{
	if ((c->num_fresh == FRESH && add_fresh_points(c, back, room)) ||
	    array_grow(&c->fresh, &c->fresh_room, c->num_fresh, sizeof(*c->fresh)))
		return -ENOMEM;
	c->fresh[c->num_fresh++] = p;
	return 0;
}

/* Find the pair of two hosts, or add one. Return NULL if out of memory. */
static struct pair *find_message_pair(struct pairs *ps, const struct endpoint *a, uint32_t b)
{
	struct pairs_part *part = &ps->part[get_pair_part(a->host, b)];
	const uint32_t number = pair_table_find(&part->table, a->host, b);

	return number ? part->pair[number - 1] : add_new_pair(part, a, b);
}

int pairs_add_concurrently(struct pairs *ps, const struct endpoint *from, const struct endpoint *to)
{
	bool back = from->host > to->host;
	const struct endpoint *a = back ? to : from, *b = back ? from : to;
	int64_t y = b->t - a->t;
	struct pair *p = find_message_pair(ps, a, b->host);
	struct direction *c;
	int ret;

	if (!p)
		return -ENOMEM;
	c = &p->direction[back];
	ret = add_fresh_point(c, back, (struct point){ a->t, (back ? -y : y) + c->raised },
			      ps->sharing ? &ps->budget : &whole);
	if (!ret)
		c->inversions += to->t - from->t < from->origin - to->origin;
	return ret;
}

int pairs_add(struct pairs *ps, const struct endpoint *from, const struct endpoint *to)
{
	const struct pairs_part *part = &ps->part[get_pair_part(from->host, to->host)];
	const size_t before = part->num;
	const int ret = pairs_add_concurrently(ps, from, to);

	if (part->num != before)
		pairs_share_budget(ps);
	return ret;
}

/* Add the sums of another direction. The other direction's points are shifted by @x and @y. */
static void merge_sums(struct direction *c, const struct direction *other, int64_t x, int64_t y)
{
	const __int128 n = other->num, sum_x = other->sum_x + n * x;

	c->num += other->num;
	c->inversions += other->inversions;
	c->sum_y += other->sum_y + n * y;
	/*
	 * The sums follow from (a + x)^2 = a^2 + a x + (a + x) x, and from (a + x) (b +
	 * y) = a b + b x + (a + x) y.
	 */
	c->sum_xx = wide_add(c->sum_xx, other->sum_xx);
	c->sum_xx = wide_add(c->sum_xx, wide_multiply(other->sum_x, x));
	c->sum_xx = wide_add(c->sum_xx, wide_multiply(sum_x, x));
	c->sum_xy = wide_add(c->sum_xy, other->sum_xy);
	c->sum_xy = wide_add(c->sum_xy, wide_multiply(other->sum_y, x));
	c->sum_xy = wide_add(c->sum_xy, wide_multiply(sum_x, y));
	c->sum_x += sum_x;
}

/*
 * Merge the messages of a direction from another object. @x and @y are added to the coordinates of
 * its points to get coordinates in this object. y is time on host[1] minus time on host[0].
 */
static int merge_direction(struct direction *c, bool back, const struct direction *other, int64_t x,
			   int64_t y, const struct budget *room)
{
	const int64_t raise = c->raised - other->raised;
	const int64_t up = (back ? -y : y) + raise;
	int ret = envelope_merge(&c->envelope, &other->envelope, x, up, room);

	merge_sums(c, other, x, back ? -up : up);
	for (size_t i = 0; i < other->num_fresh && !ret; i++)
		ret = add_fresh_point(
			c, back, (struct point){ other->fresh[i].x + x, other->fresh[i].y + up },
			room);
	return ret;
}

static int merge_pair(struct pairs *ps, const int64_t *origin, const struct pair *other,
		      const int64_t *from_origin)
{
	const uint32_t a = other->host[0], b = other->host[1];
	const int64_t x = from_origin[a] - origin[a];
	struct pair *p = find_message_pair(ps, &(struct endpoint){ a, origin[a], 0 }, b);
	int ret = 0;

	if (!p)
		return -ENOMEM;
	pairs_share_budget(ps);
	for (int d = 0; d < 2 && !ret; d++)
		ret = merge_direction(&p->direction[d], d, &other->direction[d], x,
				      from_origin[b] - origin[b] - x, &ps->budget);
	return ret;
}

int pairs_merge(struct pairs *ps, const int64_t *origin, const struct pairs *from,
		const int64_t *from_origin)
{
	int ret = 0;

	for (size_t k = 0; k < PAIR_PARTS; k++)
		for (size_t i = 0; i < from->part[k].num && !ret; i++)
			ret = merge_pair(ps, origin, from->part[k].pair[i], from_origin);
	return ret;
}

static int compare_pairs_by_hosts(const void *a, const void *b)
{
	const struct pair *p = *(struct pair *const *)a;
	const struct pair *q = *(struct pair *const *)b;

	if (p->host[0] != q->host[0])
		return p->host[0] < q->host[0] ? -1 : 1;
	return p->host[1] < q->host[1] ? -1 : p->host[1] > q->host[1];
}

/*
 * Add an offset to the y of all points of a direction. No stored value depends on the origin of y.
 */
static void raise_direction(struct direction *c, bool back, int64_t by)
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
	c->sum_xy = wide_add(c->sum_xy, make_wide(c->sum_x * y));
	c->raised += by;
}

static void raise_pair(struct pair *p, const int64_t *resolution, double slope)
{
	for (int d = 0; d < 2; d++) {
		int64_t late = resolution[p->host[!d]] - 1;

		/* The clocks continue to run until then, with different rates. */
		late += (int64_t)ceil((double)late * slope);
		raise_direction(&p->direction[d], d, late - p->direction[d].raised);
	}
}

void pairs_raise(struct pairs *ps, const int64_t *resolution, double slope)
{
	for (size_t k = 0; k < PAIR_PARTS; k++)
		for (size_t i = 0; i < ps->part[k].num; i++)
			raise_pair(ps->part[k].pair[i], resolution, slope);
}

static int settle_direction(struct direction *c, bool back, const struct budget *room)
{
	int ret = add_fresh_points(c, back, room);

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

/* List all pairs in the order of their hosts, so that the order of messages has no effect. */
static int list_sorted_pairs(struct pairs *ps)
{
	struct pair **all;
	size_t num = 0;

	for (size_t k = 0; k < PAIR_PARTS; k++)
		num += ps->part[k].num;
	if (num == ps->num)
		return 0;
	all = realloc(ps->pair, num * sizeof(*all));
	if (!all)
		return -ENOMEM;
	ps->pair = all;
	ps->num = 0;
	for (size_t k = 0; k < PAIR_PARTS; k++)
		for (size_t i = 0; i < ps->part[k].num; i++)
			all[ps->num++] = ps->part[k].pair[i];
	qsort(all, num, sizeof(*all), compare_pairs_by_hosts);
	return 0;
}

int pairs_settle(struct pairs *ps)
{
	int ret = list_sorted_pairs(ps);

	pairs_share_budget(ps);
	for (size_t i = 0; i < ps->num && !ret; i++)
		for (int d = 0; d < 2 && !ret; d++)
			ret = settle_direction(&ps->pair[i]->direction[d], d, &ps->budget);
	return ret;
}

static void release_pair(struct pair *p)
{
	for (int d = 0; d < 2; d++) {
		free(p->direction[d].fresh);
		hull_release(&p->direction[d].hull);
		envelope_release(&p->direction[d].envelope);
	}
	free(p);
}

void pairs_release(struct pairs *ps)
{
	for (size_t k = 0; k < PAIR_PARTS; k++) {
		for (size_t i = 0; i < ps->part[k].num; i++)
			release_pair(ps->part[k].pair[i]);
		free(ps->part[k].pair);
		pair_table_release(&ps->part[k].table);
	}
	free(ps->pair);
	memset(ps, 0, sizeof(*ps));
}
