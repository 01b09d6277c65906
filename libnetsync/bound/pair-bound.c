// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Which messages are wrong is judged by the corrections, which follow the many:
 * a message that is received before it was sent cannot be right. To leave a
 * right one out makes bounds wider, never false.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/number.h"
#include "bound/pair-bound.h"

/* Where more than one message in so many is left out, no bound is claimed. Chosen. */
#define MAX_LEFT_OUT_SHARE 32
/* Instants that the mean width is of. Chosen. */
#define INSTANTS 17
/* Least uncertainty of the time of a change point, ns. Chosen. */
#define MIN_UNCERTAINTY 50e6

/* ---- change points ----------------------------------------------------- */

struct clock_step correction_step(const struct correction *c, size_t index)
{
	const struct change_point *b = &c->change[index];

	return (struct clock_step){
		.t = c->from + (int64_t)b->t,
		.uncertainty = (int64_t)ceil(
			fmax(b->uncertainty, MIN_UNCERTAINTY)),
		.offset = b->phase_step ? b->offset : 0,
		.skew = b->skew,
	};
}

struct change_window step_window(const struct clock_step *s)
{
	int64_t by = s->uncertainty + (int64_t)ceil(fabs(s->offset));

	return (struct change_window){ s->t - by, s->t + by, s->offset != 0 };
}

static int by_beginning(const void *a, const void *b)
{
	const struct change_window *p = a, *q = b;

	return p->from < q->from ? -1 : p->from > q->from;
}

static int find_windows(const struct correction *correction[2],
			struct change_window **windows, size_t *num)
{
	size_t room = 0;

	for (int h = 0; h < 2; h++) {
		for (size_t i = 0; i < correction[h]->num_changes; i++) {
			struct clock_step s = correction_step(correction[h], i);
			struct change_window w;

			if (array_grow(windows, &room, *num, sizeof(**windows)))
				return -ENOMEM;
			if (h) {
				/* On either side of a phase step it is elsewhere. */
				correction_between(correction[1], s.t,
						   correction[0], &s.t);
				s.offset *= 2;
			}
			w = step_window(&s);
			(*windows)[(*num)++] = w;
		}
	}
	if (*num)
		qsort(*windows, *num, sizeof(**windows), by_beginning);
	return 0;
}

/* ---- messages ---------------------------------------------------------- */

/* The limits of one direction, without what is wrong. */
struct kept {
	struct point *point;
	size_t num;
	size_t left_out;
};

static int gather(struct kept *to, const struct direction *c, int way,
		  const struct correction *correction[2])
{
	const struct envelope *e = &c->envelope;

	to->point = malloc((e->corners + 1) * sizeof(*to->point));
	if (!to->point)
		return -ENOMEM;
	for (size_t i = 0; i < e->num; i++) {
		for (uint32_t k = 0; k < e->bin[i].corners; k++) {
			const struct point *p = &e->bin[i].corner[k];

			if (correction &&
			    (correction_excludes(correction, way, p) ||
			     correction_inverts(correction, way, p)))
				to->left_out++;
			else
				to->point[to->num++] = *p;
		}
	}
	return 0;
}

/* ---- the pair ---------------------------------------------------------- */

static void judge(struct pair_bound *r, const struct pair *pair,
		  const struct kept p[2])
{
	size_t left_out = p[0].left_out + p[1].left_out;
	size_t all = p[0].num + p[1].num + left_out;

	r->usable = !r->bound.infeasible &&
		    left_out * MAX_LEFT_OUT_SHARE <= all;
	r->quality = !pair->direction[0].num || !pair->direction[1].num
			     ? NETSYNC_INCOMPLETE
		     : left_out || !r->usable ? NETSYNC_APPROXIMATE
					      : NETSYNC_ACCURATE;
}

int pair_bound_make(struct pair_bound *r, const struct pair *pair,
		    const struct correction *correction[2],
		    const struct limits *limits)
{
	struct kept p[2] = { { 0 }, { 0 } };
	struct change_window *windows = NULL;
	size_t num_windows = 0;
	int ret = 0;

	*r = (struct pair_bound){ 0 };
	if (correction)
		ret = find_windows(correction, &windows, &num_windows);
	for (int way = 0; way < 2 && !ret; way++)
		ret = gather(&p[way], &pair->direction[way], way, correction);
	if (!ret)
		ret = rate_bound_make(&r->bound, limits, p[0].point, p[0].num,
				      p[1].point, p[1].num, windows,
				      num_windows);
	if (!ret)
		judge(r, pair, p);
	free(windows);
	free(p[0].point);
	free(p[1].point);
	return ret;
}

void pair_bound_release(struct pair_bound *r)
{
	rate_bound_release(&r->bound);
}

double pair_bound_width(const struct pair_bound *r, int64_t first, int64_t last)
{
	double sum = 0;

	for (int i = 0; i < INSTANTS; i++) {
		struct range y = rate_bound_at(
			&r->bound, first + (int64_t)((__int128)(last - first) *
						     i / (INSTANTS - 1)));

		if (y.lo == INT64_MIN || y.hi == INT64_MAX)
			return HUGE_VAL;
		sum += fmax((double)(y.hi - y.lo), 0) / 2;
	}
	return sum / INSTANTS;
}
