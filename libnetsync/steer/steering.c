// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Compute the map from the host's time to raw time by straight lines from one clock reading to the
 * next. The error of a line is bounded by the rates that readings report, or by the rates of
 * neighbouring lines. Wrong and missing readings affect only the time around them.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "steer/steering.h"
#include "util/array.h"
#include "util/search.h"

/* The kernel's limit for steering, which is 10 % (adjtimex(2), ADJ_TICK). */
#define MAX_STEERING 0.1
/* The limit for steering by NTP's discipline (RFC 5905, and MAXFREQ in Linux). */
#define USUAL_STEERING 500e-6
/*
 * Maximum deviation of a clock from the line of its reported rate: a constant, ns, and a part per
 * ns. The kernel alternates between two multipliers, which are up to 0.25 ppm apart (TSC of 2 to 5
 * GHz). The kernel module adds a reading when the deviation reaches 50 ns (netsync-events(5)).
 */
#define DITHER 100.0
#define DITHER_RATE 0.25e-6
/*
 * Error of a line, ns, above which the line is an untrusted interval, because its messages would
 * mislead. Values from 50 to 1000 work equally well.
 */
#define MAX_ERROR 200.0
/*
 * The rate of a line between readings is compared with rates over at least this part of its
 * length. Chosen: readings at regular times are about as far apart as the line is long.
 */
#define LEAST_NEIGHBOUR 0.5
/*
 * In gaps between readings that are longer than LONG_GAP, ns, messages are used as if the clock had
 * no readings. In two cases, however, readings were lost, and messages are rejected: in a gap of at
 * most MOST_LOST if readings are close to each other before and after the gap; and before the first
 * reading or after the last one, in a gap of at most MOST_LOST that is not longer than the time
 * from the first reading to the last one. Chosen.
 */
#define LONG_GAP 10e9
#define MOST_LOST 30e9
/*
 * Maximum rate of steering, together with the daemon's frequency correction, in long gaps. A larger
 * change is a step.
 */
#define GAP_STEERING (2 * USUAL_STEERING)
/*
 * A reading with a rate is followed by another one after a second, or earlier if the rate changes
 * or the clock is stepped (netsync-events(5)). If no reading follows within SOON, ns, readings may
 * have been lost. Chosen.
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

static int compare_readings_by_raw_time(const void *a, const void *b)
{
	const struct clock_point *p = a, *q = b;

	if (p->raw != q->raw)
		return p->raw < q->raw ? -1 : 1;
	if (p->t != q->t)
		return p->t < q->t ? -1 : 1;
	/*
	 * The first duplicate is kept. It is the one that reports most, regardless of the order of
	 * arrival.
	 */
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
		qsort(known, before, sizeof(*known), compare_readings_by_raw_time);
	for (size_t i = 0; i < num && !ret; i++)
		if (!bsearch(&p[i], known, before, sizeof(*known), compare_readings_by_raw_time))
			ret = steering_add(s, &p[i]);
	free(known);
	return ret;
}

bool steering_is_late(const struct steering *s, int64_t t, int64_t raw, int64_t used)
{
	/*
	 * A clock that is stepped back shows smaller times later. Therefore compare raw times,
	 * unless this is the first reading.
	 */
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

/* Return how far the host's clock at @b is ahead of the line from @a with @rate, ns. */
static double compute_lead_ns(const struct clock_point *a, const struct clock_point *b, double rate)
{
	double dr = (double)((__int128)b->raw - a->raw);
	double gain = (double)(((__int128)b->t - b->raw) - ((__int128)a->t - a->raw));

	return gain - dr * (rate - 1);
}

static double subtract_raw_times(const struct clock_point *a, const struct clock_point *b)
{
	return (double)((__int128)b->raw - a->raw);
}

/* Return the mean rate of the host's clock between two readings, minus 1. */
static double compute_skew_between(const struct clock_point *a, const struct clock_point *b)
{
	return compute_lead_ns(a, b, 1) / subtract_raw_times(a, b);
}

static double add_reading_errors(const struct clock_point *a, const struct clock_point *b)
{
	return (double)a->within + (double)b->within + 2;
}

/* Can steering lead from @a to @b? If not, the clock was stepped, or a reading is wrong. */
static bool can_steering_explain(const struct clock_point *a, const struct clock_point *b)
{
	double length = subtract_raw_times(a, b);
	double most = length > LONG_GAP ? GAP_STEERING : MAX_STEERING;

	return fabs(compute_lead_ns(a, b, 1)) <= most * length + add_reading_errors(a, b);
}

/* Was the clock stepped between a reading and the next one? */
static bool was_clock_stepped_after(const struct clock_point *p)
{
	return p[1].set || !can_steering_explain(p, p + 1);
}

/* Does the rate that @a reports lead to @b? */
static bool does_rate_lead_to(const struct clock_point *a, const struct clock_point *b)
{
	return a->rate > 0 &&
	       fabs(compute_lead_ns(a, b, a->rate)) <=
		       DITHER + add_reading_errors(a, b) + DITHER_RATE * subtract_raw_times(a, b);
}

/*
 * Is a reading wrong? If so, its neighbours are consistent with each other, but not with the
 * reading. @before are the readings that were kept, and @after are the readings that follow.
 */
static bool is_reading_wrong(const struct clock_point *p, const struct clock_point *before,
			     size_t num_before, const struct clock_point *after, size_t num_after)
{
	const struct clock_point *a = num_before ? before + num_before - 1 : NULL;

	if (p->set)
		return false;
	if (num_before && num_after)
		return (can_steering_explain(a, after) && !can_steering_explain(a, p) &&
			!can_steering_explain(p, after)) ||
		       (does_rate_lead_to(a, after) && !does_rate_lead_to(a, p) &&
			!does_rate_lead_to(p, after));
	/*
	 * The first reading is wrong if the next two are consistent, and the last one if the
	 * previous two are.
	 */
	if (num_after)
		return num_after > 1 && !can_steering_explain(p, after) &&
		       can_steering_explain(after, after + 1);
	return num_before > 1 && !can_steering_explain(a, p) && can_steering_explain(a - 1, a);
}

/*
 * Sort readings, and drop duplicates and wrong readings. Return the number of readings that are
 * left.
 */
static size_t drop_wrong_readings(struct clock_point *p, size_t num)
{
	size_t n = 0, kept = 0;

	qsort(p, num, sizeof(*p), compare_readings_by_raw_time);
	for (size_t i = 0; i < num; i++)
		if (!n || p[n - 1].raw != p[i].raw)
			p[n++] = p[i];
	for (size_t i = 0; i < n; i++)
		if (!is_reading_wrong(&p[i], p, kept, &p[i + 1], n - 1 - i))
			p[kept++] = p[i];
	return kept;
}

static int add_raw_doubt(struct steering *s, int64_t from, int64_t to, double error)
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
 * @length ns of raw time: over a shorter time, reading errors look like a change of rate. There are
 * @num readings on that side. *@error is the maximum error of the skew. Return false if there are
 * too few readings, or if the clock was stepped between them.
 */
static bool find_neighbouring_skew(const struct clock_point *p, size_t num, int by, double length,
				   double *found, double *error)
{
	const struct clock_point *from = p, *to = p;

	while (subtract_raw_times(from, to) < length) {
		if (!num-- || was_clock_stepped_after(by < 0 ? from - 1 : to))
			return false;
		if (by < 0)
			from--;
		else
			to++;
	}
	*found = compute_skew_between(from, to);
	*error = add_reading_errors(from, to) / subtract_raw_times(from, to);
	return true;
}

/*
 * Return the maximum error of the straight line from a reading to the next one, ns. *@explained is
 * the part of it that reading errors alone can cause.
 */
static double compute_line_error(const struct clock_point *p, size_t before, size_t after,
				 double *explained)
{
	const struct clock_point *next = p + 1;
	double base = add_reading_errors(p, next), length = subtract_raw_times(p, next);
	double own = compute_skew_between(p, next), differs = 0, found, error, most = 0;
	bool is_compared = false;

	*explained = 2 * base;
	if (does_rate_lead_to(p, next))
		return base + fabs(compute_lead_ns(p, next, p->rate));
	/*
	 * If the rate changed in between, or if the clock was stepped at either end of the line,
	 * the rates before and after the line differ from the line's rate.
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
	/* In the worst case, a step of the clock compensates for the maximum steering. */
	return base + (USUAL_STEERING + fabs(own)) * length;
}

/* Return the raw time whose zero is determined by the anchor. */
static int64_t convert_to_anchored_raw(const struct steering *s, int64_t raw)
{
	return raw - s->anchor.raw + s->anchor.t;
}

static int add_unreported_interval(struct steering *s, int64_t from, int64_t to)
{
	if (array_grow(&s->unreported, &s->unreported_room, s->num_unreported,
		       sizeof(*s->unreported)))
		return -ENOMEM;
	s->unreported[s->num_unreported++] = (struct range){ from, to };
	return 0;
}

static bool were_readings_lost(const struct clock_point *p, size_t before, size_t after)
{
	const struct clock_point *next = p + 1;

	return subtract_raw_times(p, next) <= MOST_LOST && before && after > 1 &&
	       subtract_raw_times(p - 1, p) <= SOON && subtract_raw_times(next, next + 1) <= SOON;
}

/* Add a line from the map's last corner to the next reading, and note its error. */
static int add_map_line(struct steering *s, const struct clock_point *p, size_t before,
			size_t after)
{
	double explained, error = compute_line_error(p, before, after, &explained);
	const struct clock_point *next = p + 1;

	if (error <= MAX_ERROR + explained) {
		s->error = max64(s->error, (int64_t)ceil(error));
		return 0;
	}
	/*
	 * Usual steering does not explain the error: the clock may have been stepped, by an amount
	 * that steering could reach in the same time. If it was stepped back, it showed times
	 * before the first reading, or after the second one, twice.
	 */
	if (subtract_raw_times(p, next) <= LONG_GAP || were_readings_lost(p, before, after))
		return add_raw_doubt(s, p->t - (int64_t)ceil(error), next->t + (int64_t)ceil(error),
				     error);
	return add_unreported_interval(s, convert_to_anchored_raw(s, p->raw),
				       convert_to_anchored_raw(s, next->raw));
}

static int add_reported_step(struct steering *s, int64_t t, int64_t by, int64_t within)
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

/* Remove the corners at @t and later. */
static void remove_corners_from(struct polyline *l, int64_t t)
{
	while (l->num && l->corner[l->num - 1].x >= t)
		l->num--;
}

/* Return the maximum difference from 1 of the clock's rate between a reading and the next one. */
static double compute_rate_deviation(const struct clock_point *p)
{
	double reported = p->rate > 0 ? fabs(p->rate - 1) : 0;

	return fmax(reported,
		    can_steering_explain(p, p + 1) ? fabs(compute_skew_between(p, p + 1)) : 0);
}

/*
 * Return the raw time for which the clock, which was stepped back between two readings, shows times
 * up to @until that it had shown before. During this time, the clock was steered as readings
 * report, and may have been steered further.
 */
static double compute_repeated_raw_time(const struct steering *s, const struct clock_point *p,
					int64_t until)
{
	const struct clock_point *next = p + 1, *q;
	const struct clock_point *last = s->used + s->num_used - 1;
	double by = (double)((__int128)until - next->t);
	double most = p->rate > 0 ? fabs(p->rate - 1) : 0;

	for (q = p; q > s->used && q->t > next->t && !q->set && can_steering_explain(q - 1, q); q--)
		most = fmax(most, compute_rate_deviation(q - 1));
	for (q = next; q < last && q->t < until && !q[1].set && can_steering_explain(q, q + 1); q++)
		most = fmax(most, compute_rate_deviation(q));
	if (last->rate > 0 && last->t <= until)
		most = fmax(most, fabs(last->rate - 1));
	return by / (1 - fmin(most + USUAL_STEERING, 0.5));
}

/*
 * Was the clock, which was stepped between two readings, stepped at the second one? If the reading
 * of the step was lost, the next regular reading, a second after the first one, looks the same.
 */
static bool was_clock_stepped_at_next(const struct clock_point *p)
{
	const struct clock_point *next = p + 1;
	bool is_reported = p->number && next->number ? next->number == p->number + 1 : next->set;

	return is_reported && p->rate > 0 && subtract_raw_times(p, next) <= SOON;
}

/*
 * Add a step between two readings. The clock was stepped at the second one, or at any instant
 * between both.
 *
 *	forward:  times were skipped: they have no raw time
 *	back:     times were shown twice: the map is half-way between both raw times
 */
static int add_clock_step(struct steering *s, const struct clock_point *p)
{
	const struct clock_point *next = p + 1;
	double length = subtract_raw_times(p, next);
	bool at_next = was_clock_stepped_at_next(p);
	int64_t until = p->t + llround(length * (p->rate > 0 ? p->rate : 1));
	int64_t raw = convert_to_anchored_raw(s, next->raw), by = next->t - until, from;
	int ret = add_reported_step(s, until, by, at_next ? 0 : (int64_t)length);

	if (ret || !by)
		return ret;
	if (by > 0) {
		if (!at_next)
			ret = add_raw_doubt(s, p->t, next->t, length);
		return ret ? ret : polyline_add(&s->map, until, raw - 1);
	}
	s->map.slope_after = 1;
	from = polyline_evaluate(&s->map, next->t);
	remove_corners_from(&s->map, next->t);
	ret = polyline_add(&s->map, next->t, from);
	if (!ret)
		ret = add_raw_doubt(s, at_next ? next->t : min64(p->t + by, next->t), until,
				    compute_repeated_raw_time(s, p, until) +
					    (at_next ? 0 : length));
	return ret;
}

/*
 * Add a corner at the end of the times that were shown twice, if the line to the next reading
 * passes it.
 */
static int add_corner_after_doubt(struct steering *s, const struct clock_point *p)
{
	const struct clock_point *next = p + 1;
	int64_t until = s->doubt[s->num_doubts - 1].at.hi;
	double part;

	if (next->t <= until || p->t > until || !can_steering_explain(p, next))
		return 0;
	part = (double)(until - p->t) / (double)(next->t - p->t);
	return polyline_add(
		&s->map, until,
		convert_to_anchored_raw(s, p->raw + llround(part * subtract_raw_times(p, next))));
}

/* Do the same after the last reading, where the clock continues at the last reported rate. */
static int add_corner_after_last_doubt(struct steering *s, const struct clock_point *last)
{
	int64_t until = s->doubt[s->num_doubts - 1].at.hi;
	double rate = last->rate > 0 ? last->rate : 1;

	if (last->t > until)
		return 0;
	return polyline_add(&s->map, until,
			    convert_to_anchored_raw(s, last->raw) +
				    llround((double)(until - last->t) / rate));
}

/*
 * Return the maximum length of a gap before or after all readings in which messages are rejected.
 */
static double compute_max_rejected_gap(const struct steering *s)
{
	const struct clock_point *p = s->used;

	return fmin((double)((__int128)p[s->num_used - 1].t - p->t), MOST_LOST);
}

/*
 * Add an untrusted interval before the first reading or after the last one. If a log began slightly
 * after the messages, or ended slightly before them, an unreported slew would make these messages
 * inconsistent with the others. @near are the two outermost readings at this end.
 */
static int add_doubt_outside_readings(struct steering *s, const struct clock_point *near,
				      int64_t from, int64_t until, double length)
{
	double own = 0;

	if (s->num_used > 1 && can_steering_explain(near, near + 1))
		own = compute_skew_between(near, near + 1);
	return add_raw_doubt(s, from, until,
			     add_reading_errors(near, near) +
				     fmax(USUAL_STEERING, 2 * fabs(own)) * length);
}

static int add_doubt_before_readings(struct steering *s)
{
	const struct clock_point *p = s->used;
	double length = (double)((__int128)p->t - s->begin);

	if (length <= 0 || length > compute_max_rejected_gap(s))
		return 0;
	s->open_before = true;
	return add_doubt_outside_readings(s, p, s->begin, p->t - 1, length);
}

/*
 * While messages wait for further readings, steering after the promised time is not reported yet.
 * If the last reading has a rate, steering is known beyond the reading.
 */
static int add_doubt_after_readings(struct steering *s)
{
	const struct clock_point *p = &s->used[s->num_used - 1];
	double length = (double)((__int128)s->end - p->t);
	int64_t from = s->has_promise ? max64(p->t, s->promised) : p->t;

	if (p->rate > 0 || from >= s->end ||
	    (!s->has_promise && length > compute_max_rejected_gap(s)))
		return 0;
	s->open_after = true;
	return add_doubt_outside_readings(s, s->num_used > 1 ? p - 1 : p, from + 1, s->end, length);
}

/*
 * Return the raw time per time of the clock after the last reading. If the reading has no rate, use
 * the mean over at least a second, unless reading errors exceed the effect of usual steering in
 * that time.
 */
static double compute_slope_after_readings(const struct steering *s)
{
	const struct clock_point *last = &s->used[s->num_used - 1], *p = last;

	if (last->rate > 0)
		return 1 / last->rate;
	while (p > s->used && subtract_raw_times(p, last) < SECOND && !p->set &&
	       can_steering_explain(p - 1, p))
		p--;
	if (subtract_raw_times(p, last) < SECOND ||
	    add_reading_errors(p, last) > USUAL_STEERING * subtract_raw_times(p, last))
		return 1;
	return 1 / (1 + compute_skew_between(p, last));
}

static int make_raw_map(struct steering *s)
{
	const struct clock_point *p = s->used;
	size_t n = s->num_used;
	int ret;

	/* add_clock_step() extrapolates the map before it is complete. */
	s->map.slope_before = s->map.slope_after = 1;
	ret = polyline_add(&s->map, p->t, convert_to_anchored_raw(s, p->raw));
	if (!ret)
		ret = add_unreported_interval(s, INT64_MIN, convert_to_anchored_raw(s, p->raw));
	if (!ret)
		ret = add_doubt_before_readings(s);

	for (size_t i = 0; !ret && i + 1 < n; i++) {
		bool set = was_clock_stepped_after(&p[i]);

		if (s->num_doubts)
			ret = add_corner_after_doubt(s, &p[i]);
		if (!ret && set)
			ret = add_clock_step(s, &p[i]);
		else if (!ret)
			ret = add_map_line(s, &p[i], i, n - 1 - i);
		/* A time that was shown before the step already has a corner. */
		if (!ret && !(set && p[i + 1].t < p[i].t))
			ret = polyline_add(&s->map, p[i + 1].t,
					   convert_to_anchored_raw(s, p[i + 1].raw));
	}
	if (!ret && s->num_doubts)
		ret = add_corner_after_last_doubt(s, &p[n - 1]);
	if (!ret && p[n - 1].rate <= 0)
		ret = add_unreported_interval(s, convert_to_anchored_raw(s, p[n - 1].raw),
					      INT64_MAX);
	if (!ret)
		ret = add_doubt_after_readings(s);
	s->map.slope_after = compute_slope_after_readings(s);
	return ret;
}

/*
 * Return the maximum error of the raw times of messages that were used before any reading arrived,
 * ns.
 */
static int64_t compute_used_error(const struct steering *s)
{
	const struct polyline *map = &s->map;
	int64_t most;

	if (!s->has_used)
		return 0;
	most = llabs(polyline_evaluate(map, s->used_until) - s->used_until);
	for (size_t i = 0; i < map->num && map->corner[i].x <= s->used_until; i++)
		most = max64(most, llabs(map->corner[i].y - map->corner[i].x));
	for (size_t i = 0; i < s->num_doubts && s->doubt[i].at.lo <= s->used_until; i++)
		most = max64(most, s->doubt[i].error);
	return min64(most, NETSYNC_MAX_SPAN);
}

/* Choose from all readings again, because the newest ones may reveal which readings are wrong. */
static int choose_readings(struct steering *s)
{
	if (s->used_room < s->num) {
		struct clock_point *more = realloc(s->used, s->room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		s->used = more;
		s->used_room = s->room;
	}
	memcpy(s->used, s->point, s->num * sizeof(*s->used));
	s->num_used = drop_wrong_readings(s->used, s->num);
	return 0;
}

int steering_settle(struct steering *s)
{
	int ret;

	if (s->settled || !s->num)
		return 0;
	ret = choose_readings(s);
	if (ret)
		return ret;
	if (!s->anchored)
		s->anchor = s->used[0];
	s->anchored = true;
	s->map.num = s->num_doubts = s->num_steps = 0;
	s->num_unreported = 0;
	s->open_before = s->open_after = false;
	s->error = s->used[0].within + 2;
	ret = make_raw_map(s);
	if (!ret)
		s->error += compute_used_error(s);
	s->settled = !ret;
	return ret;
}

int64_t steering_known_until(const struct steering *s)
{
	/* Wrong readings are recognized by the readings that follow them. */
	return s->map.num > 3 ? s->map.corner[s->map.num - 4].x : INT64_MIN;
}

bool steering_is_final(const struct steering *s, int64_t t)
{
	return !steering_has_readings(s) || !s->has_promise || t <= s->promised ||
	       t <= s->used[s->num_used - 1].t;
}

void steering_promise(struct steering *s, int64_t t)
{
	/* A host may get more readings after INT64_MAX was promised for it. */
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
	/* With promises, the time that waits for readings may have become shorter. */
	s->settled = s->settled && s->end == t && !s->has_promise;
	s->end = t;
}

bool steering_is_doubt_open_before(const struct steering *s, const struct raw_doubt *d)
{
	return s->open_before && d == s->doubt;
}

bool steering_is_doubt_open_after(const struct steering *s, const struct raw_doubt *d)
{
	return s->open_after && d == &s->doubt[s->num_doubts - 1];
}

bool steering_is_doubt_open(const struct steering *s, const struct raw_doubt *d)
{
	return steering_is_doubt_open_before(s, d) || steering_is_doubt_open_after(s, d);
}

const struct raw_doubt *steering_find_doubt(const struct steering *s, int64_t t)
{
	size_t i = NUM_BEFORE(s->doubt, s->num_doubts, at.hi, t);

	return i < s->num_doubts && s->doubt[i].at.lo <= t ? &s->doubt[i] : NULL;
}

bool steering_has_unreported(const struct steering *s, struct range span)
{
	for (size_t i = 0; i < s->num_unreported; i++) {
		const struct range *u = &s->unreported[i];
		struct range own = span;
		const struct raw_doubt *d;

		if (u->lo > INT64_MIN)
			own.lo = max64(own.lo, polyline_invert(&s->map, u->lo));
		if (u->hi < INT64_MAX)
			own.hi = min64(own.hi, polyline_invert(&s->map, u->hi));
		if (own.lo >= own.hi)
			continue;
		d = steering_find_doubt(s, own.lo + 1);
		if (!d || d->at.hi < own.hi - 1)
			return true;
	}
	return false;
}

struct range steering_get_span(const struct steering *s)
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

static double compute_overlap_ns(const struct range *a, int64_t lo, int64_t hi)
{
	return fmax(0, (double)((__int128)min64(a->hi, hi) - max64(a->lo, lo)));
}

static void include_reported_skew(struct netsync_steering *reported, double rate_less_1)
{
	reported->min_ppm = fmin(reported->min_ppm, rate_less_1 * 1e6);
	reported->max_ppm = fmax(reported->max_ppm, rate_less_1 * 1e6);
}

/*
 * Return the mean skew up to reading @to from the last reading that is at least a second earlier,
 * because single readings have errors. *@from is that reading. Return NAN if the clock was stepped
 * since then.
 */
static double compute_long_skew(const struct clock_point *p, size_t *from, size_t to)
{
	if (was_clock_stepped_after(&p[to - 1]))
		*from = to;
	while (*from < to && subtract_raw_times(&p[*from + 1], &p[to]) >= SECOND)
		++*from;
	return subtract_raw_times(&p[*from], &p[to]) >= SECOND ?
		       compute_skew_between(&p[*from], &p[to]) :
		       (double)NAN;
}

static bool is_line_known(const struct steering *s, size_t i)
{
	const struct clock_point *p = &s->used[i];
	double explained, error;

	if (was_clock_stepped_after(p))
		return was_clock_stepped_at_next(p);
	error = compute_line_error(p, i, s->num_used - 1 - i, &explained);
	return error <= MAX_ERROR + explained;
}

void steering_describe(struct steering *s, struct range span)
{
	double unknown = (double)((__int128)span.hi - span.lo);
	const struct clock_point *p = s->used;
	size_t from = 0;

	s->reported = (struct netsync_steering){
		.points = s->num_used,
		.min_ppm = INFINITY,
		.max_ppm = -INFINITY,
	};
	for (size_t i = 0; i + 1 < s->num_used; i++) {
		double common = compute_overlap_ns(&span, p[i].t, p[i + 1].t);
		double mean = compute_long_skew(p, &from, i + 1);

		if (common > 0 && p[i].rate > 0)
			include_reported_skew(&s->reported, p[i].rate - 1);
		else if (common > 0 && isfinite(mean))
			include_reported_skew(&s->reported, mean);
		if (is_line_known(s, i))
			unknown -= common;
	}
	if (s->num && p[s->num_used - 1].rate > 0 && p[s->num_used - 1].t < span.hi)
		include_reported_skew(&s->reported, p[s->num_used - 1].rate - 1);
	if (s->reported.min_ppm > s->reported.max_ppm)
		s->reported.min_ppm = s->reported.max_ppm = (double)NAN;
	if (s->num)
		s->reported.until_ns = p[s->num_used - 1].rate > 0 ?
					       max64(p[s->num_used - 1].t, s->end) :
					       p[s->num_used - 1].t;
	if (s->num && unknown > 0)
		s->reported.unknown_ns = (int64_t)unknown;
}

void steering_release(struct steering *s)
{
	polyline_release(&s->map);
	free(s->point);
	free(s->used);
	free(s->doubt);
	free(s->unreported);
	free(s->step);
	memset(s, 0, sizeof(*s));
}
