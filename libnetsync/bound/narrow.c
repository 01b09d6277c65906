// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Between two vertices the second derivative of a limit is -k, and that of a curve is
 * -k at least: the curve comes nearest to the limit at a vertex, and only these are
 * asked.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "bound/narrow.h"
#include "util/search.h"
#include "util/statistics.h"

/* Messages of a group whose lowest says what margin there is: of many, of few. Chosen. */
static const double group_of[] = { 64, 16 };
#define SIZES (sizeof(group_of) / sizeof(*group_of))
/*
 * One in so many groups leaves less. The lowest of n messages is beyond the minimum by
 * mean / n; of a quarter, by a third of that. Chosen.
 */
#define PART 4

/* What is left on one side at least, for each ns on the other one. Chosen. */
#define BALANCED 0.75

/* ---- the margin --------------------------------------------------------- */

int narrow_margin(const struct limits_of_way l[2], const struct pair *pair,
		  double *margin)
{
	size_t most = pair->direction[0].envelope.num +
		      pair->direction[1].envelope.num + 1,
	       n = 0;
	struct bin_group *group[2] = { malloc(most * sizeof(**group)),
				       malloc(most * sizeof(**group)) };
	double *all = malloc(most * sizeof(*all));
	int ret = group[0] && group[1] && all ? 0 : -ENOMEM;

	*margin = 0;
	for (size_t k = 0; !ret && !n && k < SIZES; k++) {
		size_t num[2];

		for (int way = 0; way < 2; way++)
			num[way] = left_out_group(
				&l[way], &pair->direction[way].envelope,
				group_of[k], group[way]);
		n = bin_group_margins(group[0], num[0], group[1], num[1], all);
	}
	if (n)
		*margin = fmax(order_statistic(all, n, n / PART), 0);
	free(group[0]);
	free(group[1]);
	free(all);
	return ret;
}

/* ---- vertices ----------------------------------------------------------- */

/* What the vertex of an upper limit of f (@side 0), or of -f, leaves to the curve, ns. */
static double room_at(const struct bound_vertex *v, int side,
		      const struct correction *correction[2])
{
	int64_t at;
	double rest = correction_between(correction[0], v->x, correction[1],
					 &at);
	double f = (double)(at - v->x) + rest;

	return (double)v->y + (side ? f : -f);
}

/*
 * Does one of the other side leave as little, so near that no daemon slews the clock in between?
 * Then messages were quicker there, in both directions, and the curve is in the middle.
 */
static bool is_balanced(const struct bound_segment *z, int side, int64_t x,
			double room, const struct correction *correction[2],
			double slope)
{
	const struct bound_vertex *v = z->vertex[!side];
	size_t n = z->num_vertices[!side], next = NUM_BEFORE(v, n, x, x);

	for (size_t i = next ? next - 1 : 0; i < n && i <= next; i++) {
		double other = room_at(&v[i], !side, correction);
		double slewed = slope * fabs((double)(v[i].x - x));

		if (room >= BALANCED * other && slewed <= (1 - BALANCED) * other)
			return true;
	}
	return false;
}

/* About vertex @i, from the one before to the one after. */
static int add_window(struct windows *add, const struct bound_segment *z,
		      int side, size_t i)
{
	const struct bound_vertex *v = z->vertex[side];
	struct change_window w = {
		.from = i ? v[i - 1].x : z->from,
		.to = i + 1 < z->num_vertices[side] ? v[i + 1].x : z->to,
	};

	/* The first segment and the last one have no end. */
	if (w.from == INT64_MIN)
		w.from = v[i].x;
	if (w.to == INT64_MAX)
		w.to = v[i].x;
	if (w.from == w.to)
		w.to++;
	return windows_add_one(add, &w);
}

int narrow_windows(struct windows *add, const struct rate_bound *bound,
		   const struct correction *correction[2], double least)
{
	int found = 0;

	for (size_t p = 0; p < bound->parts; p++) {
		const struct bound_part *part = &bound->part[p];

		for (size_t j = 0; j < part->num_segments; j++) {
			const struct bound_segment *z = &part->segment[j];

			for (int side = 0; side < 2 && !isinf(z->bend);
			     side++) {
				for (size_t i = 0; i < z->num_vertices[side];
				     i++) {
					const struct bound_vertex *v =
						&z->vertex[side][i];
					double room = room_at(v, side, correction);

					if (room >= least ||
					    is_balanced(z, side, v->x, room,
							correction,
							bound->limits.slope))
						continue;
					if (add_window(add, z, side, i))
						return -ENOMEM;
					found++;
				}
			}
		}
	}
	return found;
}
