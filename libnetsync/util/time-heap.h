/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Merge streams by time. The first item of this binary heap is the earliest one. If several items
 * are equally early, the one with the lowest rank is first.
 *
 * Either fill in items and num and call time_heap_restore_order(), or add the items. Then use the
 * first item repeatedly. After each use, call time_heap_advance_first() if the item's stream has
 * another element, and time_heap_end_first() if the stream has ended.
 */
#ifndef NETSYNC_UTIL_TIME_HEAP_H
#define NETSYNC_UTIL_TIME_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct time_heap_item {
	int64_t time_ns; /* time of the stream's next element */
	void *stream;
	uint64_t rank; /* equal in all items if the order of equal times does not matter */
};

struct time_heap {
	struct time_heap_item *items; /* owned by the caller */
	size_t num;
};

static inline bool time_heap_is_before(const struct time_heap_item *a,
				       const struct time_heap_item *b)
{
	return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->rank < b->rank;
}

/* Move the item at @at down in the heap as long as an item below it is earlier. */
static inline void time_heap_sift_down(struct time_heap *heap, size_t at)
{
	struct time_heap_item *items = heap->items;

	for (;;) {
		size_t child = at * 2 + 1;
		struct time_heap_item other;

		if (child + 1 < heap->num && time_heap_is_before(&items[child + 1], &items[child]))
			child++;
		if (child >= heap->num || !time_heap_is_before(&items[child], &items[at]))
			return;
		other = items[child];
		items[child] = items[at];
		items[at] = other;
		at = child;
	}
}

static inline void time_heap_restore_order(struct time_heap *heap)
{
	for (size_t i = heap->num / 2; i > 0; i--)
		time_heap_sift_down(heap, i - 1);
}

/* Add an item. The caller has allocated space for it behind the other items. */
static inline void time_heap_add(struct time_heap *heap, struct time_heap_item item)
{
	size_t at = heap->num++;

	while (at && time_heap_is_before(&item, &heap->items[(at - 1) / 2])) {
		heap->items[at] = heap->items[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	heap->items[at] = item;
}

static inline void time_heap_advance_first(struct time_heap *heap, int64_t time_ns)
{
	heap->items[0].time_ns = time_ns;
	time_heap_sift_down(heap, 0);
}

static inline void time_heap_end_first(struct time_heap *heap)
{
	heap->items[0] = heap->items[--heap->num];
	time_heap_sift_down(heap, 0);
}

#endif
