// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A clock may have shown the time x at the raw time r if |map(x) - r| <= error(x). The error is
 * constant within each untrusted interval, and outside of all of them. Because the map increases,
 * the largest possible x is in the last untrusted interval that r can reach, or results from the
 * error outside.
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
 * Lines whose slope differs from 1 by more than STEEP need breaks. Lines with such a slope lead
 * across steps. For all other lines, it is enough that bounds are widened by this fraction. Chosen.
 */
#define STEEP (1.0 / 1024)

static int64_t add_times_clamped(int64_t a, int64_t b)
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

/*
 * Add the raw times at which the two ends of the shown range may bend: at the distance @error from
 * @raw, where the map has a corner, or an untrusted interval has an end.
 */
static int add_breaks_around(struct shown *s, int64_t raw, int64_t error)
{
	int ret = add_break(&s->hi, add_times_clamped(raw, -error));

	return ret ? ret : add_break(&s->lo, add_times_clamped(raw, error + 1));
}

static int add_breaks_of_doubts(struct shown *s)
{
	const struct steering *c = s->clock;
	size_t n = c->num_doubts;
	int ret = 0;

	s->doubtful = calloc(n + 1, sizeof(*s->doubtful));
	if (!s->doubtful)
		return -ENOMEM;
	for (size_t i = 0; !ret && i < n; i++) {
		const struct raw_doubt *d = &c->doubt[i];
		int64_t from = polyline_evaluate(&c->map, d->at.lo);
		int64_t until = polyline_evaluate(&c->map, d->at.hi);

		/*
		 * All other raw times show times outside of this interval, because its larger error
		 * does not extend beyond its own times.
		 */
		s->doubtful[i].from = steering_is_doubt_open_before(c, d) ?
					      INT64_MIN :
					      add_times_clamped(from, -c->error);
		s->doubtful[i].until = steering_is_doubt_open_after(c, d) ?
					       INT64_MAX :
					       add_times_clamped(until, c->error);
		ret = add_breaks_around(s, from, c->error);
		if (!ret)
			ret = add_breaks_around(s, until, c->error);
		if (!ret)
			ret = add_breaks_around(s, from, raw_doubt_get_error(d));
		if (!ret)
			ret = add_breaks_around(s, until, raw_doubt_get_error(d));
	}
	for (size_t i = 1; i < n; i++)
		s->doubtful[i].until = max64(s->doubtful[i].until, s->doubtful[i - 1].until);
	for (size_t i = n; i-- > 1;)
		s->doubtful[i - 1].from = min64(s->doubtful[i].from, s->doubtful[i - 1].from);
	return ret;
}

static int add_breaks_of_corner(struct shown *s, const struct corner *c)
{
	const struct raw_doubt *d = steering_find_doubt(s->clock, c->x);

	return add_breaks_around(s, c->y, max64(s->clock->error, d ? raw_doubt_get_error(d) : 0));
}

static int add_breaks_of_steep_lines(struct shown *s)
{
	const struct polyline *map = &s->clock->map;
	int ret = 0;

	for (size_t i = 0; !ret && i + 1 < map->num; i++) {
		const struct corner *c = &map->corner[i];
		double dx = (double)((__int128)c[1].x - c->x);
		double dy = (double)((__int128)c[1].y - c->y);

		if (fabs(dy - dx) <= STEEP * dx)
			continue;
		ret = add_breaks_of_corner(s, c);
		if (!ret)
			ret = add_breaks_of_corner(s, c + 1);
	}
	return ret;
}

static int compare_breaks(const void *a, const void *b)
{
	const struct raw_time *p = a, *q = b;

	return (p->ns > q->ns) - (p->ns < q->ns);
}

static void sort_breaks(struct breaks *b)
{
	if (b->num)
		qsort(b->at, b->num, sizeof(*b->at), compare_breaks);
}

int shown_prepare(struct shown *s, const struct steering *clock)
{
	int ret;

	*s = (struct shown){ .clock = clock };
	ret = add_breaks_of_doubts(s);
	if (!ret)
		ret = add_breaks_of_steep_lines(s);
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

static int64_t find_last_shown(const struct shown *s, int64_t raw)
{
	const struct steering *c = s->clock;
	int64_t x = polyline_invert(&c->map, add_times_clamped(raw, c->error));
	size_t reached = SEARCH(s->doubtful, c->num_doubts, from, raw, true);

	if (reached) {
		const struct raw_doubt *d = &c->doubt[reached - 1];
		int64_t most = steering_is_doubt_open_after(c, d) ? INT64_MAX : d->at.hi;

		x = max64(x,
			  min64(most,
				polyline_invert(&c->map,
						add_times_clamped(raw, raw_doubt_get_error(d)))));
	}
	return x;
}

static int64_t find_first_shown(const struct shown *s, int64_t raw)
{
	const struct steering *c = s->clock;
	int64_t x = polyline_invert(&c->map, add_times_clamped(raw, -c->error));
	size_t passed = NUM_BEFORE(s->doubtful, c->num_doubts, until, raw);

	if (passed < c->num_doubts) {
		const struct raw_doubt *d = &c->doubt[passed];
		int64_t least = steering_is_doubt_open_before(c, d) ? INT64_MIN : d->at.lo;

		x = min64(x,
			  max64(least,
				polyline_invert(&c->map,
						add_times_clamped(raw, -raw_doubt_get_error(d)))));
	}
	return x;
}

struct range shown_find_range(const struct shown *s, struct range raw)
{
	if (raw.lo > INT64_MIN)
		raw.lo = find_first_shown(s, raw.lo);
	if (raw.hi < INT64_MAX)
		raw.hi = find_last_shown(s, raw.hi);
	return raw;
}
