// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "envelope.h"

/* Begin with bins of 2^20 ns = 1 ms: finer ones say nothing more. */
#define FIRST_SHIFT 20
/* The steepest slope between two clocks that is reckoned with is 1 in 512. */
#define STEEPEST 512

static size_t slot_of(const struct envelope *e, int64_t index)
{
	uint64_t v = (uint64_t)index * UINT64_C(0x9e3779b97f4a7c15);

	return (v ^ v >> 32) & (e->slots - 1);
}

static size_t find_slot(const struct envelope *e, int64_t index)
{
	size_t i = slot_of(e, index);

	while (e->slot[i] && e->bin[e->slot[i] - 1].index != index)
		i = (i + 1) & (e->slots - 1);
	return i;
}

/* Make the hash table anew, of at least twice as many slots as bins. */
static int rehash(struct envelope *e, size_t bins)
{
	size_t slots = e->slots ? e->slots : 64;
	uint32_t *slot;

	while (slots < 2 * bins)
		slots *= 2;
	slot = calloc(slots, sizeof(*slot));
	if (!slot)
		return -ENOMEM;
	free(e->slot);
	e->slot = slot;
	e->slots = slots;
	for (size_t i = 0; i < e->num; i++)
		e->slot[find_slot(e, e->bin[i].index)] = (uint32_t)i + 1;
	return 0;
}

/* Is q lower than p for every slope that clocks can have? p.x != q.x */
static bool beats(const struct point *q, const struct point *p)
{
	int64_t dx = q->x > p->x ? q->x - p->x : p->x - q->x;

	return (__int128)(p->y - q->y) * STEEPEST > dx;
}

static void drop(struct bin *b, uint32_t i)
{
	memmove(&b->corner[i], &b->corner[i + 1],
		(--b->corners - i) * sizeof(*b->corner));
}

/* A full bin loses the corner that is the least below its neighbours. */
static void make_room(struct bin *b)
{
	double least = HUGE_VAL;
	uint32_t worst = 0;

	for (uint32_t i = 1; i + 1 < b->corners; i++) {
		const struct point *p = &b->corner[i - 1];
		double part = (double)(p[1].x - p[0].x) /
			      (double)(p[2].x - p[0].x);
		double below = part * (double)(p[2].y - p[0].y) -
			       (double)(p[1].y - p[0].y);

		if (below < least) {
			worst = i;
			least = below;
		}
	}
	drop(b, worst);
}

static void add_point(struct bin *b, const struct point *p)
{
	uint32_t i = 0;

	while (i < b->corners && b->corner[i].x < p->x)
		i++;
	if (i < b->corners && b->corner[i].x == p->x) {
		if (b->corner[i].y <= p->y)
			return;
		drop(b, i);
	}
	if ((i > 0 && beats(&b->corner[i - 1], p)) ||
	    (i < b->corners && beats(&b->corner[i], p)) ||
	    (i > 0 && i < b->corners &&
	     on_or_above(&b->corner[i - 1], p, &b->corner[i])))
		return;
	while (i > 0 && (beats(p, &b->corner[i - 1]) ||
			 (i > 1 && on_or_above(&b->corner[i - 2],
					   &b->corner[i - 1], p))))
		drop(b, --i);
	while (i < b->corners && (beats(p, &b->corner[i]) ||
				  (i + 1 < b->corners &&
				   on_or_above(p, &b->corner[i],
					   &b->corner[i + 1]))))
		drop(b, i);
	if (b->corners == BIN_CORNERS) {
		make_room(b);
		for (i = 0; i < b->corners && b->corner[i].x < p->x; i++)
			;
	}
	memmove(&b->corner[i + 1], &b->corner[i],
		(b->corners++ - i) * sizeof(*b->corner));
	b->corner[i] = *p;
}

/* Bins become twice as wide; two neighbours become one. */
static int widen(struct envelope *e)
{
	size_t n = 0;

	/* In order, a bin meets its neighbour, and the first is the target. */
	int ret = envelope_settle(e);

	if (ret)
		return ret;
	e->shift++;
	for (size_t i = 0; i < e->num; i++) {
		struct bin *b = &e->bin[i];

		b->index >>= 1;
		if (n && e->bin[n - 1].index == b->index) {
			struct bin *to = &e->bin[n - 1];

			for (uint32_t k = 0; k < b->corners; k++)
				add_point(to, &b->corner[k]);
			to->messages += b->messages;
			to->sum_x += b->sum_x;
		} else {
			e->bin[n++] = *b;
		}
	}
	e->num = n;
	e->last = 0;
	return rehash(e, n);
}

int envelope_add(struct envelope *e, int64_t x, int64_t y, size_t limit)
{
	struct point p = { x, y };
	struct bin *b;
	size_t i;

	if (!e->shift)
		e->shift = FIRST_SHIFT;
	if (!e->num || e->bin[e->last].index != (x - e->base) >> e->shift) {
		if (2 * e->num >= e->slots && rehash(e, e->num + 1))
			return -ENOMEM;
		if (array_grow(&e->bin, &e->room, e->num, sizeof(*e->bin)))
			return -ENOMEM;
		i = find_slot(e, (x - e->base) >> e->shift);
		while (!e->slot[i] && e->num >= limit) {
			if (widen(e))
				return -ENOMEM;
			i = find_slot(e, (x - e->base) >> e->shift);
		}
		if (!e->slot[i]) {
			e->bin[e->num++] = (struct bin){
				.index = (x - e->base) >> e->shift,
			};
			e->slot[i] = (uint32_t)e->num;
		}
		e->last = e->slot[i] - 1;
	}
	b = &e->bin[e->last];
	b->messages++;
	b->sum_x += x;
	add_point(b, &p);
	return 0;
}

static int by_index(const void *a, const void *b)
{
	const struct bin *p = a, *q = b;

	return p->index < q->index ? -1 : p->index > q->index;
}

int envelope_settle(struct envelope *e)
{
	bool sorted = true;

	for (size_t i = 1; i < e->num && sorted; i++)
		sorted = e->bin[i - 1].index < e->bin[i].index;
	if (sorted)
		return 0;
	qsort(e->bin, e->num, sizeof(*e->bin), by_index);
	memset(e->slot, 0, e->slots * sizeof(*e->slot));
	e->last = 0;
	return rehash(e, e->num);
}

void envelope_release(struct envelope *e)
{
	free(e->bin);
	free(e->slot);
	memset(e, 0, sizeof(*e));
}
