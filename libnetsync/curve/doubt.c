// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A bound assumes that the clock drifts no faster than oscillators do. The bound is valid if there
 * is a curve that satisfies this assumption, and leaves all messages a margin larger than its own
 * error: the margin then contains the truth. If either condition fails, a rate step was missed:
 *
 * - many of a few neighbouring messages are quicker than the margin by a large part of it, but
 *   not in both directions: the error of the curve is that large;
 * - the curve itself bends more than the largest drift, by a large part of the margin;
 * - the curve does not, but the clock may have turned abruptly in a silence.
 *
 * If rate steps are found so often that others are missed, the whole curve is untrusted. No bound
 * is claimed if there is no margin at all, or if rate steps are so large that the largest skew may
 * be exceeded.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "curve/delays.h"
#include "curve/doubt.h"
#include "curve/silences.h"
#include "util/array.h"
#include "util/search.h"
#include "util/statistics.h"

/*
 * A message is too quick if it is quicker than the margin by this part of it, and by this many
 * expected errors of the curve. Chosen.
 */
#define PART 0.25
#define DEVIATIONS 4
/*
 * Number of neighbouring messages in a run, and number of too quick ones that show an error. If the
 * error of a curve is twice the limit, and delays are 100 us beyond a margin of 30 us, 7 in 100
 * messages are too quick, and more of the kept ones. If 1 message in 100 is wrong, 3 of 32 are
 * rarely too quick.
 */
#define TOO_QUICK 3
#define RUN 32
/*
 * If both directions are faster than usual at once, delays were shorter, and the curve is right.
 * Number of messages of the other direction examined before and after a message. Chosen.
 */
#define NEXT 8
/* Largest relative rate of two clocks that adjtime(3) slews in opposite directions, ns per ns. */
#define SLEW 1e-3
/* Least residual that is significant, in expected errors of the curve. Chosen. */
#define ERRORS 2
/* Number of messages in a group, whose lowest message determines the margin. Chosen. */
#define MESSAGES 64

/*
 * If a clock's rate steps once in this time (ns), and this number of times, a daemon steers it, and
 * not all of its steps were found: chronyd and ntpd poll every 16 to 64 s.
 */
#define OFTEN 64e9
#define MANY 8

/*
 * With rate steps larger than this, the clock may exceed the largest skew: adjtime(3) slews by 500
 * ppm in addition to the clock's own rate. Chosen.
 */
#define FAST 400e-6

/* With fewer links than this, half may be with a host whose clock is false. Chosen. */
#define FEW 4

/* Least number of messages in each direction with which a curve is known well. Chosen. */
#define DENSE 128

/* If messages are quicker than this skew explains, the clock was stepped. */
#define MAX_SKEW 500e-6

/* An observation; time since the beginning, ns. */
struct seen_observation {
	double t;
	double distance; /* distance from the curve, ns */
	double quicker;	 /* excess over the limit for being too quick, ns; or 0 */
};

/* Observations of one direction of all links; the last ones are those of the current link. */
struct seen_way {
	struct seen_observation *seen;
	size_t begin; /* first of the current link */
	size_t num;
};

static int compare_observations_by_time(const void *a, const void *b)
{
	const struct seen_observation *p = a, *q = b;

	return (p->t > q->t) - (p->t < q->t);
}

static int compare_intervals_by_beginning(const void *a, const void *b)
{
	const struct doubt *p = a, *q = b;

	return (p->from > q->from) - (p->from < q->from);
}

static void join_intervals(struct doubt *to, const struct doubt *d)
{
	to->to = fmax(to->to, d->to);
	to->phase_step |= d->phase_step;
}

/* Sort intervals by time, and merge overlapping ones. Return the number left. */
static size_t merge_intervals(struct doubt *d, size_t num)
{
	size_t n = 0;

	if (num)
		qsort(d, num, sizeof(*d), compare_intervals_by_beginning);
	for (size_t i = 0; i < num; i++) {
		if (n && d[i].from <= d[n - 1].to)
			join_intervals(&d[n - 1], &d[i]);
		else
			d[n++] = d[i];
	}
	return n;
}

static int add_interval(struct correction *c, size_t *room, const struct doubt *d)
{
	struct doubt *last = c->num_doubts ? &c->doubt[c->num_doubts - 1] : NULL;

	if (last && d->from <= last->to && d->from >= last->from) {
		join_intervals(last, d);
		return 0;
	}
	if (array_grow(&c->doubt, room, c->num_doubts, sizeof(*c->doubt)))
		return -ENOMEM;
	c->doubt[c->num_doubts++] = *d;
	return 0;
}

/* Was the clock stepped in a run of @n? If so, TOO_QUICK of them have no other explanation. */
static bool was_stepped_in_run(const struct seen_observation *s, size_t n)
{
	double most = MAX_SKEW * (s[n - 1].t - s[0].t);
	size_t set = 0;

	for (size_t i = 0; i < n; i++)
		set += s[i].quicker > most;
	return set >= TOO_QUICK;
}

/* Add intervals for runs of @n observations, in order of time. */
static int add_intervals_of_runs(struct correction *c, size_t *room,
				 const struct seen_observation *s, size_t n)
{
	size_t quick = 0;
	int ret = 0;

	for (size_t i = 0; !ret && i < n; i++) {
		size_t first = i < RUN ? 0 : i - RUN + 1;

		quick += s[i].quicker > 0;
		if (i >= RUN)
			quick -= s[i - RUN].quicker > 0;
		if (quick >= TOO_QUICK)
			ret = add_interval(c, room,
					   &(struct doubt){
						   s[first].t, s[i].t,
						   was_stepped_in_run(&s[first], i - first + 1) });
	}
	return ret;
}

/* Return the median of groups, ns. */
static double median_of_groups(const struct bin_group *group, size_t num, double *buffer)
{
	for (size_t i = 0; i < num; i++)
		buffer[i] = group[i].y;
	return statistics_median(buffer, num);
}

/*
 * Return the usual margin of a link, ns: half of the gap between the lowest of both directions,
 * less their excess over the minimum. If a phase step was missed, the curve passes between the
 * messages before and after it, and is fitted with the least margin of all.
 *
 * *offset: by how much the curve is usually nearer to the lower limits than to the upper ones, ns.
 * The curve of a host with several links is not in the middle of each, as delays of both directions
 * differ. With the offset taken away, it drifts no faster.
 */
static double link_margin(const struct observations *p, size_t link, struct bin_group *group[2],
			  double *buffer, double *offset)
{
	const struct obs_direction *dir = &p->direction[2 * link];
	size_t num[2], n;
	double excess = 0;

	for (int side = ABOVE; side <= BELOW; side++) {
		num[side] = observations_group(p, &dir[side], side, MESSAGES, group[side]);
		excess += dir[side].mean / MESSAGES / 2;
	}
	n = bin_group_margins(group[ABOVE], num[ABOVE], group[BELOW], num[BELOW], buffer);
	if (!n)
		return 0;
	excess = statistics_median(buffer, n) - excess;
	*offset = (median_of_groups(group[ABOVE], num[ABOVE], buffer) -
		   median_of_groups(group[BELOW], num[BELOW], buffer)) /
		  2;
	return excess;
}

/* Set the margins of all links to the usual ones, with offsets. 0 or -ENOMEM. */
static int set_usual_margins(struct host_fit *k, double *offset)
{
	size_t most = observations_most_bins(&k->obs) + 1;
	struct bin_group *group[2] = { malloc(most * sizeof(**group)),
				       malloc(most * sizeof(**group)) };
	double *buffer = malloc(most * sizeof(*buffer));
	int ret = group[0] && group[1] && buffer ? delays_set_means(&k->obs) : -ENOMEM;

	for (size_t i = 0; !ret && i < k->obs.links; i++)
		k->margin[i] = fmax(k->margin[i],
				    link_margin(&k->obs, i, group, buffer, &offset[i]));
	free(group[0]);
	free(group[1]);
	free(buffer);
	return ret;
}

/*
 * Return half of the gap that all messages of a link leave on both sides of the curve, if it
 * inverts none. The link has at least this margin to a slightly shifted curve. The fit, which
 * follows most messages, may leave no margin if a few of them were much quicker than others.
 * @error: the expected error of the curve, ns, up to which a gap is not significant.
 */
static double gap_of_link(const struct observations *p, size_t link, double error)
{
	double room = 0, t;

	for (int side = ABOVE; side <= BELOW; side++) {
		const struct obs_direction *dir = &p->direction[2 * link + side];
		double least = HUGE_VAL;

		for (size_t j = 0; j < dir->bins; j++)
			least = fmin(least, observations_innermost(p, &dir->bin[j], side, &t));
		if (least <= 0)
			return 0;
		room += least;
	}
	room = room / 2 - p->resolution;
	return isfinite(room) && room > ERRORS * error ? room : 0;
}

/*
 * Find the margin of more than half of the links, ns; 0: none. With many hosts, one may have a
 * false clock, whose links have no margin. With fewer than four links, half of them may be with it.
 */
static int find_middle_margin(const struct host_fit *k, double *margin)
{
	double *all = malloc(k->obs.links * sizeof(*all));
	size_t n;

	if (!all)
		return -ENOMEM;
	memcpy(all, k->margin, k->obs.links * sizeof(*all));
	n = k->obs.links;
	*margin = fmax(compute_order_statistic(all, n, n < FEW ? n / 2 : (n - 1) / 2), 0);
	free(all);
	return 0;
}

/* ---- windows of change points ------------------------------------------- */

/* The times near a change point in which a bound does not use curves. */
struct curve_gap {
	double from;
	double to;
	double gap; /* gap between the curves, ns */
};

/* Gaps of both hosts of a link, in order of time, disjoint. */
struct unknown {
	struct curve_gap *window;
	size_t num;
	size_t room;
};

static int compare_gaps_by_from(const void *a, const void *b)
{
	const struct curve_gap *p = a, *q = b;

	return (p->from > q->from) - (p->from < q->from);
}

static int add_curve_gap(struct unknown *u, const struct correction *of,
			 const struct correction *on)
{
	for (size_t i = 0; i < of->num_changes; i++) {
		const struct change_point *b = &of->change[i];
		struct curve_gap w = { .from = b->t - b->uncertainty,
				       .to = b->t + b->uncertainty,
				       .gap = change_point_gap(b) };

		if (of != on) {
			int64_t from, to;

			correction_between(of, of->from + (int64_t)w.from, on, &from);
			correction_between(of, of->from + (int64_t)w.to, on, &to);
			w.from = (double)(from - on->from);
			w.to = (double)(to - on->from);
		}
		if (array_grow(&u->window, &u->room, u->num, sizeof(*u->window)))
			return -ENOMEM;
		u->window[u->num++] = w;
	}
	return 0;
}

/* Merge overlapping gaps. */
static void join_gaps(struct unknown *u)
{
	size_t n = 0;

	if (u->num)
		qsort(u->window, u->num, sizeof(*u->window), compare_gaps_by_from);
	for (size_t i = 0; i < u->num; i++) {
		struct curve_gap *last = n ? &u->window[n - 1] : NULL;

		if (!last || u->window[i].from > last->to) {
			u->window[n++] = u->window[i];
			continue;
		}
		last->to = fmax(last->to, u->window[i].to);
		last->gap += u->window[i].gap;
	}
	u->num = n;
}

/* Find the gaps of both hosts of link @link of the observations. */
static int find_gaps_of_hosts(struct unknown *u, struct host_fit *k, const struct link *links,
			      size_t num_links, size_t link)
{
	struct correction *c = k->correction;
	int ret;

	u->num = 0;
	c->curve = k->best;
	ret = add_curve_gap(u, c, c);
	for (size_t i = link; !ret && i < num_links && observations_link(&k->obs, links, i) == link;
	     i++)
		ret = add_curve_gap(u, links[i].other, c);
	c->curve = (struct spline){ 0 };
	join_gaps(u);
	return ret;
}

/* Return by how much messages may seem to be quicker at a time, ns. */
static double curve_gap_at(const struct unknown *u, double t)
{
	size_t i = NUM_BEFORE(u->window, u->num, from, t);

	return i && t <= u->window[i - 1].to ? u->window[i - 1].gap : 0;
}

/* ---- what contradicts a curve ------------------------------------------- */

/*
 * Extend phase steps by the observations of one direction of a link, in order of time. If a message
 * beside a phase step is too quick for the curve there, it was probably sent on the other side of
 * the step, which may be anywhere up to the next message that is not too quick.
 */
static int extend_phase_steps(struct host_fit *k, size_t *room, const struct seen_observation *s,
			      size_t n)
{
	struct correction *c = k->correction;
	int ret = 0;

	for (size_t i = 0; !ret && i < c->num_changes; i++) {
		const struct change_point *b = &c->change[i];
		size_t from = NUM_BEFORE(s, n, t, b->t - b->uncertainty);
		size_t to = NUM_BEFORE(s, n, t, b->t + b->uncertainty);
		size_t first = from, last = to;

		if (!b->phase_step)
			continue;
		while (first && s[first - 1].quicker > 0)
			first--;
		while (last < n && s[last].quicker > 0)
			last++;
		if (first < from || last > to)
			ret = add_interval(c, room,
					   &(struct doubt){ first ? s[first - 1].t : 0,
							    last < n ? s[last].t : k->obs.span,
							    true });
	}
	return ret;
}

/* Add the observations of the next link, in order of time. */
static void add_observations_of_link(struct seen_way *way, const struct observations *p,
				     size_t link, int side)
{
	const struct obs_direction *dir = &p->direction[2 * link + side];

	way->begin = way->num;
	for (size_t j = 0; j < dir->bins; j++) {
		const struct obs_bin *h = &dir->bin[j];

		for (uint32_t m = 0; m < h->num; m++) {
			const struct observation *o = &p->obs[h->from + m];

			way->seen[way->num++] = (struct seen_observation){
				.t = o->t,
				.distance = observation_outward(o, side),
			};
		}
	}
	qsort(way->seen + way->begin, way->num - way->begin, sizeof(*way->seen),
	      compare_observations_by_time);
}

/*
 * Return the least distance of a link's observations that are so near to a time that the error of
 * the curve cannot be very different; HUGE_VAL: there are none.
 */
static double distance_near_time(const struct seen_way *way, double t)
{
	const struct seen_observation *s = way->seen + way->begin;
	size_t n = way->num - way->begin, next = NUM_BEFORE(s, n, t, t);
	size_t to = n - next < NEXT ? n : next + NEXT;
	double least = HUGE_VAL;

	for (size_t i = next < NEXT ? 0 : next - NEXT; i < to; i++)
		if (SLEW * fabs(s[i].t - t) <= PART * s[i].distance)
			least = fmin(least, s[i].distance);
	return least;
}

/*
 * Mark the observations of a link that are quicker than its margin permits, and than those of the
 * other direction. Return their number.
 */
static size_t mark_quick_observations(struct seen_way *way, const struct seen_way *other,
				      const struct unknown *u, double margin, double error)
{
	size_t quick = 0;

	for (size_t i = way->begin; i < way->num; i++) {
		struct seen_observation *s = &way->seen[i];
		double beyond = s->distance + error + curve_gap_at(u, s->t);
		double least = margin - PART * margin;

		if (beyond < least)
			least = fmin(least, (1 - PART) * distance_near_time(other, s->t));
		s->quicker = fmax(least - beyond, 0);
		quick += s->quicker > 0;
	}
	return quick;
}

/* Mark both directions, relative to a curve that is higher by @offset. */
static size_t mark_quick_with_offset(struct seen_way way[2], double offset, const struct unknown *u,
				     double margin, double error)
{
	for (int side = ABOVE; side <= BELOW; side++)
		for (size_t i = way[side].begin; i < way[side].num; i++)
			way[side].seen[i].distance -= side == ABOVE ? offset : -offset;
	return mark_quick_observations(&way[ABOVE], &way[BELOW], u, margin, error) +
	       mark_quick_observations(&way[BELOW], &way[ABOVE], u, margin, error);
}

static int find_quick_messages_of_link(struct host_fit *k, const struct link *links,
				       size_t num_links, size_t link, double offset,
				       struct seen_way way[2], struct unknown *u, size_t *room)
{
	const double error = DEVIATIONS * k->correction->expected_error + k->obs.resolution;
	const double margin = k->margin[link];
	size_t quick;
	int ret;

	if (margin <= 0)
		return 0;
	ret = find_gaps_of_hosts(u, k, links, num_links, link);
	for (int side = ABOVE; !ret && side <= BELOW; side++)
		add_observations_of_link(&way[side], &k->obs, link, side);
	/* Either curve drifts as much as the other: one that is consistent with more is enough. */
	quick = ret ? 0 : mark_quick_with_offset(way, 0, u, margin, error);
	if (quick && k->obs.links > 1 &&
	    mark_quick_with_offset(way, offset, u, margin, error) >= quick)
		mark_quick_with_offset(way, -offset, u, margin, error);
	for (int side = ABOVE; !ret && side <= BELOW; side++)
		ret = extend_phase_steps(k, room, way[side].seen + way[side].begin,
					 way[side].num - way[side].begin);
	return ret;
}

/* Find intervals with too quick messages, in each direction separately, over all links together. */
static int find_quick_messages(struct host_fit *k, const struct link *links, size_t num_links,
			       const double *offset, size_t *room)
{
	struct seen_way way[2] = { { 0 }, { 0 } };
	struct unknown u = { 0 };
	int ret = 0;

	for (int side = ABOVE; !ret && side <= BELOW; side++) {
		way[side].seen = malloc((k->obs.num + 1) * sizeof(*way[side].seen));
		ret = way[side].seen ? 0 : -ENOMEM;
	}
	for (size_t i = 0; !ret && i < k->obs.links; i++)
		ret = find_quick_messages_of_link(k, links, num_links, i, offset[i], way, &u, room);
	for (int side = ABOVE; side <= BELOW; side++) {
		if (!ret) {
			qsort(way[side].seen, way[side].num, sizeof(*way[side].seen),
			      compare_observations_by_time);
			ret = add_intervals_of_runs(k->correction, room, way[side].seen,
						    way[side].num);
		}
		free(way[side].seen);
	}
	free(u.window);
	return ret;
}

/* Successive knot intervals in which the curve bends in the same direction. */
struct bent {
	double from;
	double to;
	double turn; /* change of its slope less that of a drift */
};

/*
 * Find the next ones from interval *@i to before @end, less the effect of @drift in each. Return
 * false if there are none.
 */
static bool find_next_bent(const struct spline *s, double drift, size_t *i, size_t end,
			   struct bent *b)
{
	*b = (struct bent){ 0 };
	for (; *i < end; ++*i) {
		const struct cubic *p = &s->cubic[*i];
		double length, turn;

		if (!p->rate)
			continue;
		length = 1 / p->rate;
		turn = (2 * p->c[2] + 3 * p->c[3]) * p->rate;
		turn = copysign(fmax(fabs(turn) - drift * length, 0), turn);
		if (b->turn && turn * b->turn <= 0)
			return true;
		if (!turn)
			continue;
		if (!b->turn)
			b->from = p->from;
		b->to = p->from + length;
		b->turn += turn;
	}
	return b->turn;
}

/*
 * Add an interval if the curve bends more than with the largest drift k. With turn as the change of
 * slope in excess of k, the error of a limit that assumes k is an eighth of the turn times the
 * length, and times the length in which drift would turn as much: (turn + k length)^2 / 8 k, less
 * (turn + k length) length / 8.
 */
static int add_intervals_of_bends(struct host_fit *k, size_t *room, const struct silences *silent,
				  double most)
{
	const struct spline *s = &k->best;
	struct bent b;
	size_t i = 0;
	int ret = 0;

	while (!ret && find_next_bent(s, k->drift, &i, s->coefs - 3, &b)) {
		double length = b.to - b.from;
		struct doubt d = { b.from - length / 2, b.to + length / 2, fabs(b.turn) > FAST };

		if (fabs(b.turn) * (length + fabs(b.turn) / k->drift) / 8 <= most)
			continue;
		/* The time within a silence at which a clock changed is unknown. */
		silences_reach(silent, &d.from, &d.to);
		ret = add_interval(k->correction, room, &d);
	}
	return ret;
}

/*
 * May a silence hide too large an error? In a silence, messages show by how much a clock turned,
 * but not when. Over a silence of length L, a limit that assumes the largest drift k leaves k L^2 /
 * 8 in the middle. A clock that turned at once there, as daemons make it, is off by turn L / 4.
 */
static bool may_hide_turn(double turn, double drift, double length, double most)
{
	return (2 * fabs(turn) - drift * length) * length / 8 > most;
}

/*
 * Return by how much a curve turns in one direction in the intervals from @i to before @end, at
 * most.
 */
static double max_turn(const struct spline *s, size_t i, size_t end)
{
	struct bent b;
	double most = 0;

	while (find_next_bent(s, 0, &i, end, &b))
		most = fmax(most, fabs(b.turn));
	return most;
}

/*
 * Return by how much a curve turns around a silence: for half as long before and after, plus one
 * knot interval, over which a curve spreads an abrupt change of the clock.
 */
static double turn_near_silence(const struct spline *s, double from, double to)
{
	double half = (to - from) / 2;
	size_t i = spline_interval(s, from - half);
	size_t end = spline_interval(s, to + half) + 2;

	return max_turn(s, i - !!i, end < s->coefs - 3 ? end : s->coefs - 3);
}

/* Add intervals for silences. @turn: the largest turn of the whole curve. */
static int add_intervals_of_silences(struct host_fit *k, size_t *room, const struct silences *s,
				     double turn, double most)
{
	int ret = 0;

	for (int side = ABOVE; side <= BELOW; side++) {
		for (size_t i = 1; !ret && i < s->num[side]; i++) {
			struct doubt d = { s->t[side][i - 1], s->t[side][i], false };
			double length = d.to - d.from, about;

			if (!may_hide_turn(turn, k->drift, length, most))
				continue;
			about = turn_near_silence(&k->best, d.from, d.to);
			if (!may_hide_turn(about, k->drift, length, most))
				continue;
			/* The clock was probably stepped if it turned that fast. */
			d.phase_step = about > FAST;
			ret = add_interval(k->correction, room, &d);
		}
	}
	return ret;
}

static int find_bent_intervals(struct host_fit *k, size_t *room, double most)
{
	double turn = max_turn(&k->best, 0, k->best.coefs - 3);
	struct silences s;
	int ret;

	/* If so, no silence matters, not even one of length turn / k. */
	if (turn * turn <= 8 * k->drift * most)
		return 0;
	ret = silences_find(&s, &k->obs);
	if (!ret)
		ret = add_intervals_of_bends(k, room, &s, most);
	if (!ret)
		ret = add_intervals_of_silences(k, room, &s, turn, most);
	silences_release(&s);
	return ret;
}

/*
 * Widen the untrusted intervals from @first on: a smooth curve leaves the truth before the change
 * that it misses, by a smaller distance.
 */
static void widen_intervals(struct correction *c, size_t first)
{
	for (size_t i = first; i < c->num_doubts; i++) {
		struct doubt *d = &c->doubt[i];
		double length = d->to - d->from;

		d->from -= length / 2;
		d->to += length / 2;
	}
}

/* Is a rate step one of two that may be a phase step? */
static bool may_be_phase_step(const struct correction *c, size_t i)
{
	return c->change[i].may_jump || (i && c->change[i - 1].may_jump);
}

/*
 * Does a daemon seem to steer the clock? *fast: it exceeds the assumptions, if only once. After a
 * step, a clock runs as before; otherwise it was slewed.
 */
static bool seems_steered(const struct correction *c, double span, bool *fast)
{
	size_t steps = 0;
	bool once = false, often;

	*fast = false;
	for (size_t i = 0; i < c->num_changes; i++) {
		bool steep = fabs(c->change[i].skew) > FAST;

		once |= steep && !may_be_phase_step(c, i);
		*fast |= steep && !c->change[i].phase_step;
		steps += !c->change[i].phase_step;
	}
	often = steps >= MANY && span < OFTEN * (double)steps;
	*fast = once || (often && *fast);
	return often || once;
}

/*
 * Are there so many messages that the curve of a clock that drifts as assumed would have a margin?
 * If not, consistent messages of each pair mean nothing.
 */
static bool has_dense_messages(const struct observations *p)
{
	return p->messages[ABOVE] >= DENSE && p->messages[BELOW] >= DENSE;
}

int doubts_find(struct host_fit *k, const struct link *links, size_t num_links)
{
	struct correction *c = k->correction;
	size_t first = c->num_doubts, room = first;
	double *offset, margin = 0;
	bool fast, steered;
	int ret;

	/* Include the rejected observations, because the curve may be wrong. */
	observations_release(&k->obs);
	ret = observations_gather(&k->obs, c, links, num_links);
	offset = calloc(num_links + 1, sizeof(*offset));
	if (!offset)
		ret = -ENOMEM;
	if (!ret) {
		host_fit_set_residuals(k, &k->best);
		for (size_t i = 0; i < k->obs.links; i++)
			k->margin[i] = fmax(k->margin[i],
					    gap_of_link(&k->obs, i, c->expected_error));
		ret = find_middle_margin(k, &margin);
	}
	if (!ret) {
		c->no_margin |= !margin;
		ret = set_usual_margins(k, offset);
	}
	if (!ret)
		ret = find_middle_margin(k, &margin);
	if (!ret) {
		ret = find_quick_messages(k, links, num_links, offset, &room);
		if (c->num_doubts > first)
			c->num_doubts = first +
					merge_intervals(c->doubt + first, c->num_doubts - first);
		widen_intervals(c, first);
	}
	free(offset);
	if (!ret)
		ret = find_bent_intervals(k, &room, PART * margin);
	steered = seems_steered(c, k->obs.span, &fast);
	c->no_margin |= fast;
	if (!ret && (steered || (c->no_margin && has_dense_messages(&k->obs))))
		ret = add_interval(c, &room, &(struct doubt){ 0, k->obs.span, false });
	c->num_doubts = merge_intervals(c->doubt, c->num_doubts);
	return ret;
}

void doubts_keep_set(struct correction *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->num_doubts; i++)
		if (c->doubt[i].phase_step)
			c->doubt[n++] = c->doubt[i];
	c->num_doubts = n;
}
