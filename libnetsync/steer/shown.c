// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The time x may have been shown at the raw time r if |map(x) - r| <= error(x), and the error
 * is constant within each doubt and outside of all. As the map increases, the largest x is
 * that of the last doubt that is reached, or that of the error outside.
 */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "steer/shown.h"
#include "util/array.h"
#include "util/search.h"

/*
 * Lines whose slope differs from 1 by more make breaks: those across settings. Bounds are
 * widened by as much, which is enough for others. Chosen.
 */
#define STEEP (1.0 / 1024)

static int64_t add(int64_t a, int64_t b)
{
	return clamp_to_int64((__int128)a + b);
}

static int add_break(struct breaks *b, int64_t at)
{
	if (array_grow(&b->at, &b->room, b->num, sizeof(*b->at)))
		return -ENOMEM;
	b->at[b->num++].ns = at;
	return 0;
}

/* Both ends change where the map, or a doubt, is as far away as the error. */
static int add_breaks(struct shown *s, int64_t raw, int64_t error)
{
	int ret = add_break(&s->hi, add(raw, -error));

	return ret ? ret : add_break(&s->lo, add(raw, error + 1));
}

static int add_doubts(struct shown *s)
{
	const struct steering *c = s->clock;
	size_t n = c->num_doubts;
	int ret = 0;

	s->doubtful = calloc(n + 1, sizeof(*s->doubtful));
	if (!s->doubtful)
		return -ENOMEM;
	for (size_t i = 0; !ret && i < n; i++) {
		const struct raw_doubt *d = &c->doubt[i];
		int64_t from = polyline_at(&c->map, d->at.lo);
		int64_t until = polyline_at(&c->map, d->at.hi);

		/*
		 * Other raw times show other times, outside of doubts: the error within
		 * does not reach beyond the doubt's own.
		 */
		s->doubtful[i].from = steering_goes_on_before(c, d) ? INT64_MIN :
								      add(from, -c->error);
		s->doubtful[i].until = steering_goes_on_after(c, d) ? INT64_MAX :
								      add(until, c->error);
		ret = add_breaks(s, from, c->error);
		if (!ret)
			ret = add_breaks(s, until, c->error);
		if (!ret)
			ret = add_breaks(s, from, doubt_error(d));
		if (!ret)
			ret = add_breaks(s, until, doubt_error(d));
	}
	for (size_t i = 1; i < n; i++)
		s->doubtful[i].until = max64(s->doubtful[i].until, s->doubtful[i - 1].until);
	for (size_t i = n; i-- > 1;)
		s->doubtful[i - 1].from = min64(s->doubtful[i].from, s->doubtful[i - 1].from);
	return ret;
}

static int add_corner(struct shown *s, const struct corner *c)
{
	const struct raw_doubt *d = steering_doubt(s->clock, c->x);

	return add_breaks(s, c->y, max64(s->clock->error, d ? doubt_error(d) : 0));
}

static int add_steep_lines(struct shown *s)
{
	const struct polyline *map = &s->clock->map;
	int ret = 0;

	for (size_t i = 0; !ret && i + 1 < map->num; i++) {
		const struct corner *c = &map->corner[i];
		double dx = (double)((__int128)c[1].x - c->x);
		double dy = (double)((__int128)c[1].y - c->y);

		if (fabs(dy - dx) <= STEEP * dx)
			continue;
		ret = add_corner(s, c);
		if (!ret)
			ret = add_corner(s, c + 1);
	}
	return ret;
}

static int compare_raw(const void *a, const void *b)
{
	const struct raw_time *p = a, *q = b;

	return (p->ns > q->ns) - (p->ns < q->ns);
}

static void sort_breaks(struct breaks *b)
{
	if (b->num)
		qsort(b->at, b->num, sizeof(*b->at), compare_raw);
}

int shown_prepare(struct shown *s, const struct steering *clock)
{
	int ret;

	*s = (struct shown){ .clock = clock };
	ret = add_doubts(s);
	if (!ret)
		ret = add_steep_lines(s);
	sort_breaks(&s->lo);
	sort_breaks(&s->hi);
	return ret;
}

void shown_release(struct shown *s)
{
	free(s->doubtful);
	free(s->lo.at);
	free(s->hi.at);
	memset(s, 0, sizeof(*s));
}

static int64_t last_shown(const struct shown *s, int64_t raw)
{
	const struct steering *c = s->clock;
	int64_t x = polyline_inverse(&c->map, add(raw, c->error));
	size_t reached = SEARCH(s->doubtful, c->num_doubts, from, raw, true);

	if (reached) {
		const struct raw_doubt *d = &c->doubt[reached - 1];
		int64_t most = steering_goes_on_after(c, d) ? INT64_MAX : d->at.hi;

		x = max64(x, min64(most, polyline_inverse(&c->map, add(raw, doubt_error(d)))));
	}
	return x;
}

static int64_t first_shown(const struct shown *s, int64_t raw)
{
	const struct steering *c = s->clock;
	int64_t x = polyline_inverse(&c->map, add(raw, -c->error));
	size_t passed = NUM_BEFORE(s->doubtful, c->num_doubts, until, raw);

	if (passed < c->num_doubts) {
		const struct raw_doubt *d = &c->doubt[passed];
		int64_t least = steering_goes_on_before(c, d) ? INT64_MIN : d->at.lo;

		x = min64(x, max64(least, polyline_inverse(&c->map, add(raw, -doubt_error(d)))));
	}
	return x;
}

struct range shown_range(const struct shown *s, struct range raw)
{
	if (raw.lo > INT64_MIN)
		raw.lo = first_shown(s, raw.lo);
	if (raw.hi < INT64_MAX)
		raw.hi = last_shown(s, raw.hi);
	return raw;
}
