// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Points (host's time, raw time) -> the map between both times, by straight lines from
 * point to point. The error of a line is bounded by rates that points tell, or by rates
 * of neighbouring lines; wrong and missing points spoil only the time around them.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "steer/steering.h"
#include "util/array.h"
#include "util/search.h"

/* The kernel's limit of steering is 10 % (adjtimex(2), ADJ_TICK). */
#define MAX_STEERING 0.1
/* The limit of NTP's discipline (RFC 5905, and Linux' MAXFREQ). */
#define USUAL_STEERING 500e-6
/*
 * How far a clock may be off the line of its rate, ns, and per ns: the kernel alternates
 * between two multipliers, up to 0.25 ppm apart (TSC of 2 to 5 GHz); its module reports
 * when that amounts to 50 ns (netsync-events(5)).
 */
#define DITHER 100.0
#define DITHER_RATE 0.25e-6
/*
 * Errors above this, ns, make a doubt, as messages would mislead. 50 to 1000 work as
 * well.
 */
#define MAX_ERROR 200.0
/*
 * The rate of a line between readings is compared with rates over at least this part of its
 * length. Chosen: readings at regular times are about as far apart as the line is long.
 */
#define LEAST_NEIGHBOUR 0.5
/*
 * In gaps longer than this, ns, messages are taken as if no points were known; but in a gap of up to
 * MOST_LOST between points that follow closely, some were lost; as in one of so much, and of no
 * more than points tell, before the first point or after the last one. Chosen.
 */
#define LONG_GAP 10e9
#define MOST_LOST 30e9
/* What steering and a daemon's frequency amount to in these; what is more was set. */
#define GAP_STEERING (2 * USUAL_STEERING)
/*
 * A point with a rate follows a second after another one, or where the rate changed or the clock
 * was set (netsync-events(5)). Where none did for longer, ns, some may be lost. Chosen.
 */
#define SOON 2.5e9

int steering_add(struct steering *s, const struct clock_point *p)
{
	if (array_grow(&s->point, &s->room, s->num, sizeof(*s->point)))
		return -ENOMEM;
	s->point[s->num++] = *p;
	s->settled = false;
	return 0;
}

static int by_raw(const void *a, const void *b)
{
	const struct clock_point *p = a, *q = b;

	if (p->raw != q->raw)
		return p->raw < q->raw ? -1 : 1;
	if (p->t != q->t)
		return p->t < q->t ? -1 : 1;
	/* Of duplicates, the first is kept: one that tells most, whatever the order was. */
	if (p->number != q->number)
		return p->number > q->number ? -1 : 1;
	if (p->set != q->set)
		return p->set ? -1 : 1;
	if (p->within != q->within)
		return p->within < q->within ? -1 : 1;
	return (p->rate < q->rate) - (p->rate > q->rate);
}

int steering_merge(struct steering *s, const struct clock_point *p, size_t num)
{
	const size_t before = s->num;
	struct clock_point *known = malloc((before + 1) * sizeof(*known));
	int ret = known ? 0 : -ENOMEM;

	if (known && before)
		memcpy(known, s->point, before * sizeof(*known));
	if (known)
		qsort(known, before, sizeof(*known), by_raw);
	for (size_t i = 0; i < num && !ret; i++)
		if (!bsearch(&p[i], known, before, sizeof(*known), by_raw))
			ret = steering_add(s, &p[i]);
	free(known);
	return ret;
}

bool steering_is_late(const struct steering *s, int64_t t, int64_t raw, int64_t used)
{
	/* A clock that is set back shows later times that are less: but for the first point, raw. */
	if (!s->num)
		return used > t + (int64_t)SECOND;
	return s->point[0].raw + (used - s->point[0].t) > raw + (int64_t)SECOND;
}

bool steering_is_long_before(const struct steering *s, int64_t t)
{
	for (size_t i = 0; i < s->num; i++)
		if ((double)((__int128)s->point[i].t - t) <= MOST_LOST)
			return false;
	return true;
}

/* How far the host's clock is ahead at b of the line from a by a rate, ns. */
static double miss(const struct clock_point *a, const struct clock_point *b, double rate)
{
	double dr = (double)((__int128)b->raw - a->raw);
	double gain = (double)(((__int128)b->t - b->raw) - ((__int128)a->t - a->raw));

	return gain - dr * (rate - 1);
}

static double raw_distance(const struct clock_point *a, const struct clock_point *b)
{
	return (double)((__int128)b->raw - a->raw);
}

/* The mean rate of the host's clock between two points, less 1. */
static double skew(const struct clock_point *a, const struct clock_point *b)
{
	return miss(a, b, 1) / raw_distance(a, b);
}

static double reading_error(const struct clock_point *a, const struct clock_point *b)
{
	return (double)a->within + (double)b->within + 2;
}

/* Can steering lead from a to b? Else the clock was set, or a point is wrong. */
static bool possible(const struct clock_point *a, const struct clock_point *b)
{
	double length = raw_distance(a, b);
	double most = length > LONG_GAP ? GAP_STEERING : MAX_STEERING;

	return fabs(miss(a, b, 1)) <= most * length + reading_error(a, b);
}

/* Was the clock set between a point and the next one? */
static bool sets(const struct clock_point *p)
{
	return p[1].set || !possible(p, p + 1);
}

/* Does the rate that a tells lead to b? */
static bool agrees(const struct clock_point *a, const struct clock_point *b)
{
	return a->rate > 0 && fabs(miss(a, b, a->rate)) <= DITHER + reading_error(a, b) +
								   DITHER_RATE * raw_distance(a, b);
}

/*
 * Is a point wrong? That is if its neighbours agree with each other, but not with the
 * point. @before: points that were kept; @after: points that follow.
 */
static bool is_wrong(const struct clock_point *p, const struct clock_point *before,
		     size_t num_before, const struct clock_point *after, size_t num_after)
{
	const struct clock_point *a = num_before ? before + num_before - 1 : NULL;

	if (p->set)
		return false;
	if (num_before && num_after)
		return (possible(a, after) && !possible(a, p) && !possible(p, after)) ||
		       (agrees(a, after) && !agrees(a, p) && !agrees(p, after));
	/* The first and the last point: wrong if their two neighbours agree. */
	if (num_after)
		return num_after > 1 && !possible(p, after) && possible(after, after + 1);
	return num_before > 1 && !possible(a, p) && possible(a - 1, a);
}

/* Sort points, and drop duplicates and wrong ones. Return: how many are left. */
static size_t sort_out(struct clock_point *p, size_t num)
{
	size_t n = 0, kept = 0;

	qsort(p, num, sizeof(*p), by_raw);
	for (size_t i = 0; i < num; i++)
		if (!n || p[n - 1].raw != p[i].raw)
			p[n++] = p[i];
	for (size_t i = 0; i < n; i++)
		if (!is_wrong(&p[i], p, kept, &p[i + 1], n - 1 - i))
			p[kept++] = p[i];
	return kept;
}

static int add_doubt(struct steering *s, int64_t from, int64_t to, double error)
{
	int64_t e = (int64_t)ceil(fmin(error, 0x1p61));

	for (; s->num_doubts; s->num_doubts--) {
		const struct raw_doubt *last = &s->doubt[s->num_doubts - 1];

		if (from > last->at.hi + 1)
			break;
		from = min64(from, last->at.lo);
		to = max64(to, last->at.hi);
		e = max64(e, last->error);
	}
	if (array_grow(&s->doubt, &s->doubt_room, s->num_doubts, sizeof(*s->doubt)))
		return -ENOMEM;
	s->doubt[s->num_doubts++] = (struct raw_doubt){ { from, to }, e, false };
	return 0;
}

/*
 * Set *@found to the mean skew of the clock before @p (@by is -1) or after it (1), over at least
 * @length ns of raw time: over a shorter time, reading errors look like a change of rate. There
 * are @num points on that side. *@error is the largest error of the skew. Return whether there
 * are enough points, and the clock was not set among them.
 */
static bool find_neighbouring_skew(const struct clock_point *p, size_t num, int by, double length,
				   double *found, double *error)
{
	const struct clock_point *from = p, *to = p;

	while (raw_distance(from, to) < length) {
		if (!num-- || sets(by < 0 ? from - 1 : to))
			return false;
		if (by < 0)
			from--;
		else
			to++;
	}
	*found = skew(from, to);
	*error = reading_error(from, to) / raw_distance(from, to);
	return true;
}

/*
 * The largest error of the straight line from a point to the next, ns. *explained: how much of it
 * reading errors alone may be.
 */
static double line_error(const struct clock_point *p, size_t before, size_t after,
			 double *explained)
{
	const struct clock_point *next = p + 1;
	double base = reading_error(p, next), length = raw_distance(p, next);
	double own = skew(p, next), differs = 0, found, error, most = 0;
	bool is_compared = false;

	*explained = 2 * base;
	if (agrees(p, next))
		return base + fabs(miss(p, next, p->rate));
	/*
	 * If the rate changed in between, or the clock was set at either end of the line, the rates
	 * before and after the line differ from the line's rate.
	 */
	for (int by = -1; by <= 1 && !p->rate && length <= LONG_GAP; by += 2) {
		if (!find_neighbouring_skew(by < 0 ? p : next, by < 0 ? before : after - 1, by,
					    LEAST_NEIGHBOUR * length, &found, &error))
			continue;
		is_compared = true;
		differs = fmax(differs, fabs(found - own));
		most = fmax(most, error);
	}
	*explained = base + fmax(base, most * length);
	if (is_compared)
		return base + differs * length;
	/* The worst case: it was set by what makes up for the limit of steering. */
	return base + (USUAL_STEERING + fabs(own)) * length;
}

/* Raw time, counted from the anchor on. */
static int64_t counted(const struct steering *s, int64_t raw)
{
	return raw - s->anchor.raw + s->anchor.t;
}

static int add_untold(struct steering *s, int64_t from, int64_t to)
{
	if (array_grow(&s->untold, &s->untold_room, s->num_untold, sizeof(*s->untold)))
		return -ENOMEM;
	s->untold[s->num_untold++] = (struct range){ from, to };
	return 0;
}

static bool some_were_lost(const struct clock_point *p, size_t before, size_t after)
{
	const struct clock_point *next = p + 1;

	return raw_distance(p, next) <= MOST_LOST && before && after > 1 &&
	       raw_distance(p - 1, p) <= SOON && raw_distance(next, next + 1) <= SOON;
}

/* Add a line from the map's last corner to the next point: note its error. */
static int add_line(struct steering *s, const struct clock_point *p, size_t before, size_t after)
{
	double explained, error = line_error(p, before, after, &explained);
	const struct clock_point *next = p + 1;

	if (error <= MAX_ERROR + explained) {
		s->error = max64(s->error, (int64_t)ceil(error));
		return 0;
	}
	/*
	 * What was no steering was a setting, which steering could have made in the same time. Set
	 * back, the clock shows times again: before the first point, or after the second one.
	 */
	if (raw_distance(p, next) <= LONG_GAP || some_were_lost(p, before, after))
		return add_doubt(s, p->t - (int64_t)ceil(error), next->t + (int64_t)ceil(error),
				 error);
	return add_untold(s, counted(s, p->raw), counted(s, next->raw));
}

static int add_step(struct steering *s, int64_t t, int64_t by, int64_t within)
{
	if (array_grow(&s->step, &s->step_room, s->num_steps, sizeof(*s->step)))
		return -ENOMEM;
	s->step[s->num_steps++] = (struct netsync_step){
		.size = sizeof(*s->step),
		.known = 1,
		.time_ns = t,
		.within_ns = within,
		.offset_ns = by,
	};
	return 0;
}

/* Remove corners from a time on. */
static void cut(struct polyline *l, int64_t t)
{
	while (l->num && l->corner[l->num - 1].x >= t)
		l->num--;
}

/* How far from 1 is the rate of the clock from a point to the next one? */
static double deviation(const struct clock_point *p)
{
	double told = p->rate > 0 ? fabs(p->rate - 1) : 0;

	return fmax(told, possible(p, p + 1) ? fabs(skew(p, p + 1)) : 0);
}

/*
 * The raw time in which the clock, set back between two points, shows the times again that it
 * had shown: it was steered in these, by rates of points, and by what no point tells.
 */
static double shown_again(const struct steering *s, const struct clock_point *p, int64_t until)
{
	const struct clock_point *next = p + 1, *q;
	const struct clock_point *last = s->used + s->num_used - 1;
	double by = (double)((__int128)until - next->t);
	double most = p->rate > 0 ? fabs(p->rate - 1) : 0;

	for (q = p; q > s->used && q->t > next->t && !q->set && possible(q - 1, q); q--)
		most = fmax(most, deviation(q - 1));
	for (q = next; q < last && q->t < until && !q[1].set && possible(q, q + 1); q++)
		most = fmax(most, deviation(q));
	if (last->rate > 0 && last->t <= until)
		most = fmax(most, fabs(last->rate - 1));
	return by / (1 - fmin(most + USUAL_STEERING, 0.5));
}

/*
 * The clock was set between two points: was it at the second one? A point that comes at its
 * time, a second after the first one, looks alike where that of the setting was lost.
 */
static bool is_set_at_next(const struct clock_point *p)
{
	const struct clock_point *next = p + 1;
	bool is_told = p->number && next->number ? next->number == p->number + 1 : next->set;

	return is_told && p->rate > 0 && raw_distance(p, next) <= SOON;
}

/*
 * The clock was set between two points: at the second one, or at any instant.
 *
 *	forward:  times were skipped, in no raw time
 *	back:     times were shown twice: the map is half-way between both
 */
static int add_setting(struct steering *s, const struct clock_point *p)
{
	const struct clock_point *next = p + 1;
	double length = raw_distance(p, next);
	bool at_next = is_set_at_next(p);
	int64_t until = p->t + llround(length * (p->rate > 0 ? p->rate : 1));
	int64_t raw = counted(s, next->raw), by = next->t - until, from;
	int ret = add_step(s, until, by, at_next ? 0 : (int64_t)length);

	if (ret || !by)
		return ret;
	if (by > 0) {
		if (!at_next)
			ret = add_doubt(s, p->t, next->t, length);
		return ret ? ret : polyline_add(&s->map, until, raw - 1);
	}
	s->map.slope_after = 1;
	from = polyline_at(&s->map, next->t);
	cut(&s->map, next->t);
	ret = polyline_add(&s->map, next->t, from);
	if (!ret)
		ret = add_doubt(s, at_next ? next->t : min64(p->t + by, next->t), until,
				shown_again(s, p, until) + (at_next ? 0 : length));
	return ret;
}

/* Add a corner at the end of times that were shown twice, if the line passes it. */
static int leave_doubt(struct steering *s, const struct clock_point *p)
{
	const struct clock_point *next = p + 1;
	int64_t until = s->doubt[s->num_doubts - 1].at.hi;
	double part;

	if (next->t <= until || p->t > until || !possible(p, next))
		return 0;
	part = (double)(until - p->t) / (double)(next->t - p->t);
	return polyline_add(&s->map, until,
			    counted(s, p->raw + llround(part * raw_distance(p, next))));
}

/* The same if no point follows: the clock goes on as the last one tells. */
static int leave_last_doubt(struct steering *s, const struct clock_point *last)
{
	int64_t until = s->doubt[s->num_doubts - 1].at.hi;
	double rate = last->rate > 0 ? last->rate : 1;

	if (last->t > until)
		return 0;
	return polyline_add(&s->map, until,
			    counted(s, last->raw) + llround((double)(until - last->t) / rate));
}

/* How long times without points may be, on either side, for messages in them to be left out. */
static double most_left_out(const struct steering *s)
{
	const struct clock_point *p = s->used;

	return fmin((double)((__int128)p[s->num_used - 1].t - p->t), MOST_LOST);
}

/*
 * Messages before the first point, or after the last one, would contradict the others, if a
 * slew goes on there that no point tells: a log began a little after the messages, or ended a
 * little before them. @near: the outermost points, the two at the end that is looked at.
 */
static int add_silence(struct steering *s, const struct clock_point *near, int64_t from,
		       int64_t until, double length)
{
	double own = 0;

	if (s->num_used > 1 && possible(near, near + 1))
		own = skew(near, near + 1);
	return add_doubt(s, from, until,
			 reading_error(near, near) + fmax(USUAL_STEERING, 2 * fabs(own)) * length);
}

static int add_begin(struct steering *s)
{
	const struct clock_point *p = s->used;
	double length = (double)((__int128)p->t - s->begin);

	if (length <= 0 || length > most_left_out(s))
		return 0;
	s->open_before = true;
	return add_silence(s, p, s->begin, p->t - 1, length);
}

/*
 * Where messages wait for points to come, these tell nothing yet of the time after the last one
 * promised; a point with a rate tells more.
 */
static int add_end(struct steering *s)
{
	const struct clock_point *p = &s->used[s->num_used - 1];
	double length = (double)((__int128)s->end - p->t);
	int64_t from = s->has_promise ? max64(p->t, s->promised) : p->t;

	if (p->rate > 0 || from >= s->end || (!s->has_promise && length > most_left_out(s)))
		return 0;
	s->open_after = true;
	return add_silence(s, s->num_used > 1 ? p - 1 : p, from + 1, s->end, length);
}

/*
 * Raw time per time of the clock beyond the last point: by its rate, or else the mean over a
 * second or more, unless readings err by more than steering may amount to in that time.
 */
static double slope_beyond(const struct steering *s)
{
	const struct clock_point *last = &s->used[s->num_used - 1], *p = last;

	if (last->rate > 0)
		return 1 / last->rate;
	while (p > s->used && raw_distance(p, last) < SECOND && !p->set && possible(p - 1, p))
		p--;
	if (raw_distance(p, last) < SECOND ||
	    reading_error(p, last) > USUAL_STEERING * raw_distance(p, last))
		return 1;
	return 1 / (1 + skew(p, last));
}

static int make_map(struct steering *s)
{
	const struct clock_point *p = s->used;
	size_t n = s->num_used;
	int ret;

	/* A setting looks beyond the corners before all are there. */
	s->map.slope_before = s->map.slope_after = 1;
	ret = polyline_add(&s->map, p->t, counted(s, p->raw));
	if (!ret)
		ret = add_untold(s, INT64_MIN, counted(s, p->raw));
	if (!ret)
		ret = add_begin(s);

	for (size_t i = 0; !ret && i + 1 < n; i++) {
		bool set = sets(&p[i]);

		if (s->num_doubts)
			ret = leave_doubt(s, &p[i]);
		if (!ret && set)
			ret = add_setting(s, &p[i]);
		else if (!ret)
			ret = add_line(s, &p[i], i, n - 1 - i);
		/* A time that was shown before already has a corner. */
		if (!ret && !(set && p[i + 1].t < p[i].t))
			ret = polyline_add(&s->map, p[i + 1].t, counted(s, p[i + 1].raw));
	}
	if (!ret && s->num_doubts)
		ret = leave_last_doubt(s, &p[n - 1]);
	if (!ret && p[n - 1].rate <= 0)
		ret = add_untold(s, counted(s, p[n - 1].raw), INT64_MAX);
	if (!ret)
		ret = add_end(s);
	s->map.slope_after = slope_beyond(s);
	return ret;
}

/* How wrong the raw times of messages were that were used before any point came, ns. */
static int64_t used_error(const struct steering *s)
{
	const struct polyline *map = &s->map;
	int64_t most;

	if (!s->has_used)
		return 0;
	most = llabs(polyline_at(map, s->used_until) - s->used_until);
	for (size_t i = 0; i < map->num && map->corner[i].x <= s->used_until; i++)
		most = max64(most, llabs(map->corner[i].y - map->corner[i].x));
	for (size_t i = 0; i < s->num_doubts && s->doubt[i].at.lo <= s->used_until; i++)
		most = max64(most, s->doubt[i].error);
	return min64(most, NETSYNC_MAX_SPAN);
}

/* Choose anew from all points: those that came last may show which ones are wrong. */
static int choose_points(struct steering *s)
{
	if (s->used_room < s->num) {
		struct clock_point *more = realloc(s->used, s->room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		s->used = more;
		s->used_room = s->room;
	}
	memcpy(s->used, s->point, s->num * sizeof(*s->used));
	s->num_used = sort_out(s->used, s->num);
	return 0;
}

int steering_settle(struct steering *s)
{
	int ret;

	if (s->settled || !s->num)
		return 0;
	ret = choose_points(s);
	if (ret)
		return ret;
	if (!s->anchored)
		s->anchor = s->used[0];
	s->anchored = true;
	s->map.num = s->num_doubts = s->num_steps = 0;
	s->num_untold = 0;
	s->open_before = s->open_after = false;
	s->error = s->used[0].within + 2;
	ret = make_map(s);
	if (!ret)
		s->error += used_error(s);
	s->settled = !ret;
	return ret;
}

int64_t steering_known_until(const struct steering *s)
{
	/* Points are recognized as wrong by the points that follow them. */
	return s->map.num > 3 ? s->map.corner[s->map.num - 4].x : INT64_MIN;
}

bool steering_is_final(const struct steering *s, int64_t t)
{
	return !steering_known(s) || !s->has_promise || t <= s->promised ||
	       t <= s->used[s->num_used - 1].t;
}

void steering_promise(struct steering *s, int64_t t)
{
	/* A host that was done may bring more. */
	if (!s->has_promise || t > s->promised || s->promised == INT64_MAX)
		s->promised = t;
	s->has_promise = true;
}

void steering_set_begin(struct steering *s, int64_t t)
{
	s->settled = s->settled && s->begin == t;
	s->begin = t;
}

void steering_set_used(struct steering *s, int64_t t)
{
	s->settled = s->settled && s->has_used && s->used_until == t;
	s->used_until = t;
	s->has_used = true;
}

void steering_set_end(struct steering *s, int64_t t)
{
	/* What waits may be less than the last time. */
	s->settled = s->settled && s->end == t && !s->has_promise;
	s->end = t;
}

bool steering_goes_on_before(const struct steering *s, const struct raw_doubt *d)
{
	return s->open_before && d == s->doubt;
}

bool steering_goes_on_after(const struct steering *s, const struct raw_doubt *d)
{
	return s->open_after && d == &s->doubt[s->num_doubts - 1];
}

bool steering_goes_on(const struct steering *s, const struct raw_doubt *d)
{
	return steering_goes_on_before(s, d) || steering_goes_on_after(s, d);
}

const struct raw_doubt *steering_doubt(const struct steering *s, int64_t t)
{
	size_t i = NUM_BEFORE(s->doubt, s->num_doubts, at.hi, t);

	return i < s->num_doubts && s->doubt[i].at.lo <= t ? &s->doubt[i] : NULL;
}

bool steering_has_untold(const struct steering *s, struct range span)
{
	for (size_t i = 0; i < s->num_untold; i++) {
		const struct range *u = &s->untold[i];
		struct range own = span;
		const struct raw_doubt *d;

		if (u->lo > INT64_MIN)
			own.lo = max64(own.lo, polyline_inverse(&s->map, u->lo));
		if (u->hi < INT64_MAX)
			own.hi = min64(own.hi, polyline_inverse(&s->map, u->hi));
		if (own.lo >= own.hi)
			continue;
		d = steering_doubt(s, own.lo + 1);
		if (!d || d->at.hi < own.hi - 1)
			return true;
	}
	return false;
}

struct range steering_span(const struct steering *s)
{
	const struct polyline *map = &s->map;
	struct range r = { INT64_MAX, INT64_MIN };

	if (map->num)
		r = (struct range){ map->corner[0].x, map->corner[map->num - 1].x };
	if (s->num_doubts) {
		r.lo = min64(r.lo, s->doubt[0].at.lo);
		r.hi = max64(r.hi, s->doubt[s->num_doubts - 1].at.hi);
	}
	return r;
}

/* ---- description -------------------------------------------------------- */

static double overlap(const struct range *a, int64_t lo, int64_t hi)
{
	return fmax(0, (double)((__int128)min64(a->hi, hi) - max64(a->lo, lo)));
}

static void include_skew(struct netsync_steering *told, double rate_less_1)
{
	told->min_ppm = fmin(told->min_ppm, rate_less_1 * 1e6);
	told->max_ppm = fmax(told->max_ppm, rate_less_1 * 1e6);
}

/*
 * The mean skew up to a point, from the last point that is a second or more before it, as
 * single readings err. *from is that point. NAN: the clock was set since.
 */
static double mean_skew(const struct clock_point *p, size_t *from, size_t to)
{
	if (sets(&p[to - 1]))
		*from = to;
	while (*from < to && raw_distance(&p[*from + 1], &p[to]) >= SECOND)
		++*from;
	return raw_distance(&p[*from], &p[to]) >= SECOND ? skew(&p[*from], &p[to]) : (double)NAN;
}

static bool line_is_known(const struct steering *s, size_t i)
{
	const struct clock_point *p = &s->used[i];
	double explained, error;

	if (sets(p))
		return is_set_at_next(p);
	error = line_error(p, i, s->num_used - 1 - i, &explained);
	return error <= MAX_ERROR + explained;
}

void steering_describe(struct steering *s, struct range span)
{
	double unknown = (double)((__int128)span.hi - span.lo);
	const struct clock_point *p = s->used;
	size_t from = 0;

	s->told = (struct netsync_steering){
		.points = s->num_used,
		.min_ppm = INFINITY,
		.max_ppm = -INFINITY,
	};
	for (size_t i = 0; i + 1 < s->num_used; i++) {
		double common = overlap(&span, p[i].t, p[i + 1].t);
		double mean = mean_skew(p, &from, i + 1);

		if (common > 0 && p[i].rate > 0)
			include_skew(&s->told, p[i].rate - 1);
		else if (common > 0 && isfinite(mean))
			include_skew(&s->told, mean);
		if (line_is_known(s, i))
			unknown -= common;
	}
	if (s->num && p[s->num_used - 1].rate > 0 && p[s->num_used - 1].t < span.hi)
		include_skew(&s->told, p[s->num_used - 1].rate - 1);
	if (s->told.min_ppm > s->told.max_ppm)
		s->told.min_ppm = s->told.max_ppm = (double)NAN;
	if (s->num)
		s->told.until_ns = p[s->num_used - 1].rate > 0 ?
					   max64(p[s->num_used - 1].t, s->end) :
					   p[s->num_used - 1].t;
	if (s->num && unknown > 0)
		s->told.unknown_ns = (int64_t)unknown;
}

void steering_release(struct steering *s)
{
	polyline_release(&s->map);
	free(s->point);
	free(s->used);
	free(s->doubt);
	free(s->untold);
	free(s->step);
	memset(s, 0, sizeof(*s));
}
