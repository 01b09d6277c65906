// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Which messages are wrong is judged by the courses, which follow the many: a
 * message that arrives before it is sent cannot be right. Leaving one out that
 * was right makes bounds wider, never false.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "pair/estimate.h"
#include "bound/pair-bound.h"

/* Beyond one in so many it is not the messages that are wrong. */
#define FEW 32
/* Instants at which the width is looked at. */
#define INSTANTS 17
/* Breaks are not taken to be known better than that, ns. */
#define WITHIN 50e6

/* ---- steps ------------------------------------------------------------- */

struct step course_step(const struct course *c, size_t index)
{
	const struct brk *b = &c->breaks[index];

	return (struct step){
		.t = c->from + (int64_t)b->t,
		.within = (int64_t)ceil(fmax(b->within, WITHIN)),
		.offset = b->jump ? b->offset : 0,
		.skew = b->skew,
	};
}

struct jolt step_window(const struct step *s)
{
	int64_t by = s->within + (int64_t)ceil(fabs(s->offset));

	return (struct jolt){ s->t - by, s->t + by, s->offset != 0 };
}

static int by_beginning(const void *a, const void *b)
{
	const struct jolt *p = a, *q = b;

	return p->from < q->from ? -1 : p->from > q->from;
}

static int find_jolts(const struct course *course[2], struct jolt **jolts,
		      size_t *num)
{
	size_t room = 0;

	for (int h = 0; h < 2; h++) {
		for (size_t i = 0; i < course[h]->num_breaks; i++) {
			struct step s = course_step(course[h], i);
			struct jolt w;

			if (array_grow(jolts, &room, *num, sizeof(**jolts)))
				return -ENOMEM;
			if (h) {
				/* On either side of a jump it is elsewhere. */
				course_between(course[1], s.t, course[0],
					       &s.t);
				s.offset *= 2;
			}
			w = step_window(&s);
			(*jolts)[(*num)++] = w;
		}
	}
	if (*num)
		qsort(*jolts, *num, sizeof(**jolts), by_beginning);
	return 0;
}

/* ---- messages ---------------------------------------------------------- */

/* Does a time that cannot be belong to it? */
static bool is_false(const struct course *course[2], int way,
		     const struct point *p)
{
	int64_t y = way ? -p->y : p->y;

	return !course_covers(course[0], p->x) ||
	       !course_covers(course[1], p->x + y);
}

/* Was it received before it was sent, by the courses? */
static bool inverted(const struct course *course[2], int way,
		     const struct point *p)
{
	int64_t y = way ? -p->y : p->y, ref[2];
	double rest = -course_at(course[0], p->x, &ref[0]), d;

	rest += course_at(course[1], p->x + y, &ref[1]);
	d = (double)((__int128)ref[1] - ref[0]) + rest;
	/* Times are whole ns. */
	return way ? d > 1 : d < -1;
}

size_t reach_inverted(const struct pair *pair, const struct course *course[2])
{
	size_t num = 0;

	for (int way = 0; way < 2; way++) {
		const struct envelope *e = &pair->cloud[way].envelope;

		for (size_t i = 0; i < e->num; i++) {
			const struct bin *b = &e->bin[i];

			for (uint32_t k = 0; k < b->corners; k++)
				num += !is_false(course, way, &b->corner[k]) &&
				       inverted(course, way, &b->corner[k]);
		}
	}
	return num;
}

/* The limits of one direction, without what is wrong. */
struct kept {
	struct point *point;
	size_t num;
	size_t left_out;
};

static int gather(struct kept *to, const struct cloud *c, int way,
		  const struct course *course[2])
{
	const struct envelope *e = &c->envelope;

	to->point = malloc((e->corners + 1) * sizeof(*to->point));
	if (!to->point)
		return -ENOMEM;
	for (size_t i = 0; i < e->num; i++) {
		for (uint32_t k = 0; k < e->bin[i].corners; k++) {
			const struct point *p = &e->bin[i].corner[k];

			if (course && (is_false(course, way, p) ||
				       inverted(course, way, p)))
				to->left_out++;
			else
				to->point[to->num++] = *p;
		}
	}
	return 0;
}

/* ---- the pair ---------------------------------------------------------- */

static void judge(struct reach *r, const struct pair *pair,
		  const struct kept p[2])
{
	size_t left_out = p[0].left_out + p[1].left_out;
	size_t all = p[0].num + p[1].num + left_out;

	r->usable = !r->bound.clashes && left_out * FEW <= all;
	r->quality = !pair->cloud[0].num || !pair->cloud[1].num ?
			     NETSYNC_INCOMPLETE :
		     left_out || !r->usable ? NETSYNC_APPROXIMATE :
					      NETSYNC_ACCURATE;
}

int reach_make(struct reach *r, const struct pair *pair,
	       const struct course *course[2], const struct limits *limits)
{
	struct kept p[2] = { { 0 }, { 0 } };
	struct jolt *jolts = NULL;
	size_t num_jolts = 0;
	int ret = 0;

	*r = (struct reach){ 0 };
	if (course)
		ret = find_jolts(course, &jolts, &num_jolts);
	for (int way = 0; way < 2 && !ret; way++)
		ret = gather(&p[way], &pair->cloud[way], way, course);
	if (!ret)
		ret = bound_make(&r->bound, limits, p[0].point, p[0].num,
				 p[1].point, p[1].num, jolts, num_jolts);
	if (!ret)
		judge(r, pair, p);
	free(jolts);
	free(p[0].point);
	free(p[1].point);
	return ret;
}

void reach_release(struct reach *r)
{
	bound_release(&r->bound);
}

double reach_width(const struct reach *r, int64_t first, int64_t last)
{
	double sum = 0;

	for (int i = 0; i < INSTANTS; i++) {
		struct range y = bound_at(&r->bound, first + (int64_t)
			((__int128)(last - first) * i / (INSTANTS - 1)));

		if (y.lo == INT64_MIN || y.hi == INT64_MAX)
			return HUGE_VAL;
		sum += fmax((double)(y.hi - y.lo), 0) / 2;
	}
	return sum / INSTANTS;
}
