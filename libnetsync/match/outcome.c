// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdlib.h>
#include <string.h>

#include "match/outcome.h"
#include "util/array.h"

/* Maximum capacity that a list keeps when it is cleared. Chosen. */
#define KEPT_ROOM 1024

/*
 * Return the part to which an outcome belongs. If the outcome is about a single host, the host's
 * number determines the part.
 */
static uint32_t find_outcome_part(const struct match_outcome *o)
{
	return o->kind == OUTCOME_PASSED ? o->from % PAIR_PARTS : get_pair_part(o->from, o->to);
}

int outcome_add(struct outcomes *parts, const struct match_outcome *o)
{
	struct outcomes *list = &parts[find_outcome_part(o)];

	if (array_grow(&list->list, &list->room, list->num, sizeof(*o)))
		return -ENOMEM;
	list->list[list->num++] = *o;
	return 0;
}

void outcomes_clear(struct outcomes *parts)
{
	for (size_t i = 0; i < PAIR_PARTS; i++) {
		struct outcomes *list = &parts[i];

		list->num = 0;
		if (list->room <= KEPT_ROOM)
			continue;
		free(list->list);
		*list = (struct outcomes){ 0 };
	}
}

void outcomes_release(struct outcomes *parts)
{
	for (size_t i = 0; i < PAIR_PARTS; i++)
		free(parts[i].list);
	memset(parts, 0, PAIR_PARTS * sizeof(*parts));
}
