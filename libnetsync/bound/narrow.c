// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Between two vertices the second derivative of a limit is -k, and that of a curve is
 * -k at least: the curve comes nearest to the limit at a vertex, and only these are
 * checked. Without a curve, half of the bound's width is what it leaves to any clock.
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

int narrow_margin(const struct limits_of_way l[2], const struct pair *pair, double *margin)
{
	size_t most = pair->direction[0].envelope.num + pair->direction[1].envelope.num + 1, n = 0;
	struct bin_group *group[2] = { malloc(most * sizeof(**group)),
				       malloc(most * sizeof(**group)) };
	double *all = malloc(most * sizeof(*all));
	int ret = group[0] && group[1] && all ? 0 : -ENOMEM;

	*margin = 0;
	for (size_t k = 0; !ret && !n && k < SIZES; k++) {
		size_t num[2];

		for (int way = 0; way < 2; way++)
			num[way] = left_out_group(&l[way], &pair->direction[way].envelope,
						  group_of[k], group[way]);
		n = bin_group_margins(group[0], num[0], group[1], num[1], all);
	}
	if (n)
		*margin = fmax(compute_order_statistic(all, n, n / PART), 0);
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
	double rest = correction_between(correction[0], v->x, correction[1], &at);
	double f = (double)(at - v->x) + rest;

	return (double)v->y + (side ? f : -f);
}

/* What the bound leaves at a vertex: to the curve, or without one to a clock in its middle, ns. */
static double room_in_bound(const struct rate_bound *bound, const struct bound_vertex *v, int side,
			    const struct correction *correction[2])
{
	struct range y;

	if (correction)
		return room_at(v, side, correction);
	y = rate_bound_at(bound, v->x);
	return y.lo == INT64_MIN || y.hi == INT64_MAX ? HUGE_VAL :
							((double)y.hi - (double)y.lo) / 2;
}

/*
 * What a vertex @u of the side other than @v's leaves: to the curve, or without one both leave to
 * a clock between them, ns.
 */
static double room_opposite(const struct bound_vertex *v, const struct bound_vertex *u, int side,
			    const struct correction *correction[2])
{
	return correction ? room_at(u, !side, correction) : (double)(v->y + u->y) / 2;
}

/*
 * Does one of the other side leave as little, so near that no daemon slews the clock in between?
 * Then messages were quicker there, in both directions, and the curve is in the middle.
 */
static bool is_balanced(const struct rate_bound *bound, const struct bound_segment *z, int side,
			size_t i, const struct correction *correction[2])
{
	const struct bound_vertex *at = &z->vertex[side][i], *v = z->vertex[!side];
	size_t n = z->num_vertices[!side], next = NUM_BEFORE(v, n, x, at->x);
	double room = room_in_bound(bound, at, side, correction);

	for (size_t k = next ? next - 1 : 0; k < n && k <= next; k++) {
		double other = room_opposite(at, &v[k], side, correction);
		double slewed = bound->limits.slope * fabs((double)(v[k].x - at->x));

		if (room >= BALANCED * other && slewed <= (1 - BALANCED) * other)
			return true;
	}
	return false;
}

/* About vertex @i, from the one before to the one after. */
static int add_window(struct windows *add, const struct bound_segment *z, int side, size_t i)
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

/* Is vertex @i closer than @least, and than those of the other side beside it? */
static bool is_narrow(const struct rate_bound *bound, const struct bound_segment *z, int side,
		      size_t i, const struct correction *correction[2], double least)
{
	return room_in_bound(bound, &z->vertex[side][i], side, correction) < least &&
	       !is_balanced(bound, z, side, i, correction);
}

/* Windows about vertices of one side of a segment: their number, or -ENOMEM. */
static int add_narrow_windows(struct windows *add, const struct rate_bound *bound,
			      const struct bound_segment *z, int side,
			      const struct correction *correction[2], double least)
{
	int found = 0;

	for (size_t i = 0; i < z->num_vertices[side]; i++) {
		if (!is_narrow(bound, z, side, i, correction, least))
			continue;
		if (add_window(add, z, side, i))
			return -ENOMEM;
		found++;
	}
	return found;
}

int narrow_windows(struct windows *add, const struct rate_bound *bound,
		   const struct correction *correction[2], double least)
{
	int found = 0;

	for (size_t p = 0; p < bound->parts; p++) {
		const struct bound_part *part = &bound->part[p];

		for (size_t j = 0; j < part->num_segments; j++) {
			const struct bound_segment *z = &part->segment[j];

			for (int side = 0; side < 2 && !isinf(z->bend); side++) {
				int n = add_narrow_windows(add, bound, z, side, correction, least);

				if (n < 0)
					return n;
				found += n;
			}
		}
	}
	return found;
}
