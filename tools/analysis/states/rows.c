// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "../../../libnetsync/util/array.h"
#include "../../../libnetsync/util/hash.h"
#include "rows.h"

static uint32_t *find_row_slot(const struct rows *rows, uint32_t *slots, size_t room,
			       const struct row *row)
{
	size_t at = hash_mix(((uint64_t)row->name << 32 | row->lane) +
			     hash_slot((uint64_t)row->host << 32 | row->definition)) &
		    (room - 1);

	while (slots[at] && memcmp(&rows->list[slots[at] - 1], row, sizeof(*row)))
		at = (at + 1) & (room - 1);
	return &slots[at];
}

static bool grow_row_slots(struct rows *rows)
{
	const size_t room = rows->room ? rows->room * 2 : 64;
	uint32_t *slots = calloc(room, sizeof(*slots));

	if (!slots)
		return false;
	for (uint32_t i = 0; i < rows->num; i++)
		*find_row_slot(rows, slots, room, &rows->list[i]) = i + 1;
	free(rows->slots);
	rows->slots = slots;
	rows->room = room;
	return true;
}

bool rows_find_or_add(struct rows *rows, const struct row *row, uint32_t *number, bool *is_new)
{
	struct row *last;
	uint32_t *slot;

	if (rows->num >= rows->room / 2 && !grow_row_slots(rows))
		return false;
	slot = find_row_slot(rows, rows->slots, rows->room, row);
	*is_new = !*slot;
	if (*is_new) {
		last = array_add(&rows->list, rows->num, sizeof(*last));
		if (!last)
			return false;
		*last = *row;
		*slot = ++rows->num;
	}
	*number = *slot;
	return true;
}

void rows_release(struct rows *rows)
{
	free(rows->list);
	free(rows->slots);
}
