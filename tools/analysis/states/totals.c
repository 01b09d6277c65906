// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "../../../libnetsync/util/array.h"
#include "../../../libnetsync/util/hash.h"
#include "totals.h"

static bool is_same_total(const struct total *a, const struct total *b)
{
	return a->host == b->host && a->definition == b->definition && a->name == b->name &&
	       a->state == b->state;
}

static uint32_t *find_total_slot(const struct totals *totals, uint32_t *slots, size_t num,
				 const struct total *key)
{
	size_t at = hash_mix(((uint64_t)key->name << 32 | key->state) +
			     hash_slot((uint64_t)key->host << 32 | key->definition)) &
		    (num - 1);

	while (slots[at] && !is_same_total(&totals->list[slots[at] - 1], key))
		at = (at + 1) & (num - 1);
	return &slots[at];
}

static bool grow_total_slots(struct totals *totals)
{
	const size_t num = totals->num_slots ? totals->num_slots * 2 : 64;
	uint32_t *slots = calloc(num, sizeof(*slots));

	if (!slots)
		return false;
	for (size_t i = 0; i < totals->num; i++)
		*find_total_slot(totals, slots, num, &totals->list[i]) = i + 1;
	free(totals->slots);
	totals->slots = slots;
	totals->num_slots = num;
	return true;
}

/* Find the total with the same key, or add it. Return NULL if out of memory. */
static struct total *find_or_add_total(struct totals *totals, const struct total *key)
{
	uint32_t *slot;

	if (totals->num >= totals->num_slots / 2 && !grow_total_slots(totals))
		return NULL;
	slot = find_total_slot(totals, totals->slots, totals->num_slots, key);
	if (*slot)
		return &totals->list[*slot - 1];
	if (totals->num == UINT32_MAX - 1 ||
	    array_grow(&totals->list, &totals->room, totals->num, sizeof(*key)))
		return NULL;
	totals->list[totals->num] = *key;
	*slot = ++totals->num;
	return &totals->list[totals->num - 1];
}

bool totals_add(struct totals *totals, const struct state_span *span)
{
	const struct total key = {
		.host = span->host,
		.definition = span->definition,
		.name = span->name,
		.state = span->state,
		.objects = 1,
		.shortest_ns = INT64_MAX,
	};
	const int64_t ns = span->end_ns - span->begin_ns;
	struct total *total = find_or_add_total(totals, &key);

	if (!total)
		return false;
	total->times++;
	total->total_ns += ns;
	if (ns < total->shortest_ns)
		total->shortest_ns = ns;
	if (ns > total->longest_ns)
		total->longest_ns = ns;
	total->open += span->is_open;
	total->doubtful += span->is_doubtful;
	return true;
}

bool totals_sum(struct totals *sums, const struct totals *totals)
{
	for (size_t i = 0; i < totals->num; i++) {
		const struct total *from = &totals->list[i];
		const struct total key = {
			.host = from->host,
			.definition = from->definition,
			.name = NO_TEXT,
			.state = from->state,
			.shortest_ns = INT64_MAX,
		};
		struct total *sum = find_or_add_total(sums, &key);

		if (!sum)
			return false;
		sum->objects += from->objects;
		sum->times += from->times;
		sum->total_ns += from->total_ns;
		if (from->shortest_ns < sum->shortest_ns)
			sum->shortest_ns = from->shortest_ns;
		if (from->longest_ns > sum->longest_ns)
			sum->longest_ns = from->longest_ns;
		sum->open += from->open;
		sum->doubtful += from->doubtful;
	}
	return true;
}

static int compare_totals_longest_first(const void *one, const void *other)
{
	const struct total *a = one, *b = other;

	if (a->definition != b->definition)
		return a->definition < b->definition ? -1 : 1;
	if (a->host != b->host)
		return a->host < b->host ? -1 : 1;
	if (a->total_ns != b->total_ns)
		return a->total_ns > b->total_ns ? -1 : 1;
	if (a->name != b->name)
		return a->name < b->name ? -1 : 1;
	return (a->state > b->state) - (a->state < b->state);
}

void totals_sort(struct totals *totals)
{
	if (totals->num)
		qsort(totals->list, totals->num, sizeof(*totals->list),
		      compare_totals_longest_first);
	free(totals->slots);
	totals->slots = NULL;
	totals->num_slots = 0;
}

void totals_release(struct totals *totals)
{
	free(totals->list);
	free(totals->slots);
}
