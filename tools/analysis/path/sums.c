// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "../../../libnetsync/util/number.h"
#include "sums.h"

static int compare_actors(struct actor a, struct actor b)
{
	const int order = COMPARE(a.host, b.host);

	return order ? order : COMPARE(a.thread, b.thread);
}

static int compare_pieces(const struct path_piece *a, const struct path_piece *b)
{
	int order = compare_actors(a->who, b->who);

	if (!order)
		order = COMPARE(a->kind, b->kind);
	if (!order)
		order = COMPARE(a->reason, b->reason);
	if (!order)
		order = COMPARE(a->has_other, b->has_other);
	if (!order && a->has_other)
		order = compare_actors(a->other, b->other);
	return order ? order : COMPARE(a->detail, b->detail);
}

static int compare_sums_by_piece(const void *a, const void *b)
{
	const struct sum *one = a, *other = b;

	return compare_pieces(one->piece, other->piece);
}

static int compare_totals(const void *a, const void *b)
{
	const struct sum *one = a, *other = b;
	const int order = COMPARE(other->total_ns, one->total_ns);

	return order ? order : compare_sums_by_piece(a, b);
}

bool sums_compute(struct sums *sums, const struct critical_path *path)
{
	size_t num = 0;

	sums->num = 0;
	sums->list = calloc(path->num_pieces + 1, sizeof(*sums->list));
	if (!sums->list)
		return false;
	for (size_t i = 0; i < path->num_pieces; i++) {
		const struct path_piece *piece = &path->pieces[i];
		const uint64_t ns = piece->end_ns - piece->begin_ns;

		sums->list[i] = (struct sum){ piece, 1, ns, ns };
	}
	qsort(sums->list, path->num_pieces, sizeof(*sums->list), compare_sums_by_piece);
	for (size_t i = 0; i < path->num_pieces; i++) {
		const struct sum sum = sums->list[i];
		struct sum *last = num ? &sums->list[num - 1] : NULL;

		if (!last || compare_sums_by_piece(last, &sum)) {
			sums->list[num++] = sum;
			continue;
		}
		last->times++;
		last->total_ns += sum.total_ns;
		if (last->longest_ns < sum.longest_ns)
			last->longest_ns = sum.longest_ns;
	}
	sums->num = num;
	qsort(sums->list, num, sizeof(*sums->list), compare_totals);
	return true;
}

void sums_release(struct sums *sums)
{
	free(sums->list);
}

/* ---- charges --------------------------------------------------------------- */

uint32_t charge_get_next(const struct critical_path *path, uint32_t charge)
{
	const struct charge *charges = path->charges;

	if (charges[charge].child != NO_CHARGE)
		return charges[charge].child;
	while (charge != NO_CHARGE && charges[charge].next == NO_CHARGE)
		charge = charges[charge].parent;
	return charge == NO_CHARGE ? NO_CHARGE : charges[charge].next;
}

uint64_t charge_compute_total(const struct critical_path *path, uint32_t charge)
{
	const struct charge *charges = path->charges;
	uint64_t total_ns = charges[charge].ns[PIECE_RUNNING];
	uint32_t below = charge_get_next(path, charge);

	while (below != NO_CHARGE && charges[below].depth > charges[charge].depth) {
		total_ns += charges[below].ns[PIECE_RUNNING];
		below = charge_get_next(path, below);
	}
	return total_ns;
}
