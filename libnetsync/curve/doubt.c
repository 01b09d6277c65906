// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A bound assumes that the clock drifts no faster than oscillators do. It holds if
 * there is a curve that keeps to that, and leaves a margin to all messages that is
 * larger than its own error: then it leaves room for the truth, too. Where either
 * fails, a rate step was missed:
 *
 * - many of a few neighbouring messages are quicker than the margin by a good part of
 *   it, and not so in both directions: the curve is off by as much;
 * - the curve itself bends more than the largest drift, by a good part of the margin;
 * - or it does not, but all at once in a silence the clock may have.
 *
 * So it is all the time where rate steps are found that often that others are missed.
 * Where there is no margin at all, the curve is nowhere to be relied on; nor where it
 * steps that fast that the largest skew is in doubt itself.
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
 * A message is too quick by this part of the margin; and by so many expected errors
 * of the curve. Chosen.
 */
#define PART 0.25
#define DEVIATIONS 4
/*
 * So many of a run of neighbours are. Where a curve is off by twice what is too
 * quick, and delays are 100 us beyond a margin of 30 us, 7 in 100 messages are,
 * and more of those that are kept. Of wrong ones, 1 in 100, 3 of 32 are rarely.
 */
#define TOO_QUICK 3
#define RUN 32
/*
 * Where messages of both directions are quicker at a time, that is how long they took, and no
 * error of the curve: how many of the other direction are looked at, before and after. Chosen.
 */
#define NEXT 8
/* So fast two clocks run apart at most that adjtime(3) slews against each other, ns a ns. */
#define SLEW 1e-3
/* What messages leave to a curve tells of it if it is so many expected errors. Chosen. */
#define ERRORS 2
/* Messages of a group whose lowest says what margin there is. Chosen. */
#define MESSAGES 64

/*
 * A clock whose rate steps so often (ns) and so many times is steered by a daemon,
 * and not all of its steps were found: chronyd and ntpd poll every 16 to 64 s.
 */
#define OFTEN 64e9
#define MANY 8

/*
 * With such steps of its rate it may differ by more than the largest skew: adjtime(3)
 * slews by 500 ppm, whatever the clock has besides. Chosen.
 */
#define FAST 400e-6

/* Links of a host, below which half may be with one whose clock is false. Chosen. */
#define FEW 4

/* Messages in either direction from which a curve is known well. Chosen. */
#define DENSE 128

/* Messages that are quicker than any skew explains say that the clock was set. */
#define MAX_SKEW 500e-6

/* An observation; time since the beginning, ns. */
struct seen_observation {
	double t;
	double distance; /* of the curve, ns */
	double quicker;	 /* than what is too quick, ns; or 0 */
};

/* Observations of one direction of all links; those of the link in question are the last. */
struct seen_way {
	struct seen_observation *seen;
	size_t begin; /* of the link in question */
	size_t num;
};

static int by_time(const void *a, const void *b)
{
	const struct seen_observation *p = a, *q = b;

	return (p->t > q->t) - (p->t < q->t);
}

static int by_beginning(const void *a, const void *b)
{
	const struct doubt *p = a, *q = b;

	return (p->from > q->from) - (p->from < q->from);
}

static void join(struct doubt *to, const struct doubt *d)
{
	to->to = fmax(to->to, d->to);
	to->phase_step |= d->phase_step;
}

/* Those that overlap become one: how many are left, in order of time. */
static size_t merge(struct doubt *d, size_t num)
{
	size_t n = 0;

	if (num)
		qsort(d, num, sizeof(*d), by_beginning);
	for (size_t i = 0; i < num; i++) {
		if (n && d[i].from <= d[n - 1].to)
			join(&d[n - 1], &d[i]);
		else
			d[n++] = d[i];
	}
	return n;
}

static int add(struct correction *c, size_t *room, const struct doubt *d)
{
	struct doubt *last = c->num_doubts ? &c->doubt[c->num_doubts - 1] : NULL;

	if (last && d->from <= last->to && d->from >= last->from) {
		join(last, d);
		return 0;
	}
	if (array_grow(&c->doubt, room, c->num_doubts, sizeof(*c->doubt)))
		return -ENOMEM;
	c->doubt[c->num_doubts++] = *d;
	return 0;
}

/* Was the clock set in a run of @n? TOO_QUICK of them cannot be explained else. */
static bool is_set(const struct seen_observation *s, size_t n)
{
	double most = MAX_SKEW * (s[n - 1].t - s[0].t);
	size_t set = 0;

	for (size_t i = 0; i < n; i++)
		set += s[i].quicker > most;
	return set >= TOO_QUICK;
}

/* Runs of @n observations, in order of time. */
static int add_runs(struct correction *c, size_t *room, const struct seen_observation *s, size_t n)
{
	size_t quick = 0;
	int ret = 0;

	for (size_t i = 0; !ret && i < n; i++) {
		size_t first = i < RUN ? 0 : i - RUN + 1;

		quick += s[i].quicker > 0;
		if (i >= RUN)
			quick -= s[i - RUN].quicker > 0;
		if (quick >= TOO_QUICK)
			ret = add(c, room,
				  &(struct doubt){ s[first].t, s[i].t,
						   is_set(&s[first], i - first + 1) });
	}
	return ret;
}

/* The median of groups, ns. */
static double middle_of_groups(const struct bin_group *group, size_t num, double *buffer)
{
	for (size_t i = 0; i < num; i++)
		buffer[i] = group[i].y;
	return statistics_median(buffer, num);
}

/*
 * The margin that a link has usually, ns: half of what is between the lowest of both
 * directions, less what these exceed the minimum by. Where a phase step was missed
 * the curve passes between the messages before and after it, and what it is fitted
 * with is the least margin of all.
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
	*offset = (middle_of_groups(group[ABOVE], num[ABOVE], buffer) -
		   middle_of_groups(group[BELOW], num[BELOW], buffer)) /
		  2;
	return excess;
}

/* Make the margins of all links what they are usually, with offsets. 0 or -ENOMEM. */
static int set_margins(struct host_fit *k, double *offset)
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
 * Half of what all messages of a link leave between the curve and both of its directions, if it
 * inverts none: its margin at least, were it moved a little. The fit, which keeps to the bulk of
 * the messages, may leave none where a few of them were much quicker than others. What is no more
 * than the expected error of the curve, ns, tells nothing.
 */
static double link_room(const struct observations *p, size_t link, double error)
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
 * The margin of more than half of the links, ns; 0: none. Of many hosts one may have a
 * false clock, whose links have none. Of less than four links half may be its.
 */
static int middle_margin(const struct host_fit *k, double *margin)
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

/* The time about a change point, in which a bound does not rely on curves. */
struct curve_gap {
	double from;
	double to;
	double gap; /* between the curves, ns */
};

/* Of both hosts of a link, in order of time, apart from each other. */
struct unknown {
	struct curve_gap *window;
	size_t num;
	size_t room;
};

static int by_from(const void *a, const void *b)
{
	const struct curve_gap *p = a, *q = b;

	return (p->from > q->from) - (p->from < q->from);
}

static int add_unknown(struct unknown *u, const struct correction *of, const struct correction *on)
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

/* Those that overlap become one. */
static void join_unknown(struct unknown *u)
{
	size_t n = 0;

	if (u->num)
		qsort(u->window, u->num, sizeof(*u->window), by_from);
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

/* Of one link of the observations, @link. */
static int find_unknown(struct unknown *u, struct host_fit *k, const struct link *links,
			size_t num_links, size_t link)
{
	struct correction *c = k->correction;
	int ret;

	u->num = 0;
	c->curve = k->best;
	ret = add_unknown(u, c, c);
	for (size_t i = link; !ret && i < num_links && observations_link(&k->obs, links, i) == link;
	     i++)
		ret = add_unknown(u, links[i].other, c);
	c->curve = (struct spline){ 0 };
	join_unknown(u);
	return ret;
}

/* By how much messages may seem to be quicker at a time, ns. */
static double gap_at(const struct unknown *u, double t)
{
	size_t i = NUM_BEFORE(u->window, u->num, from, t);

	return i && t <= u->window[i - 1].to ? u->window[i - 1].gap : 0;
}

/* ---- what contradicts a curve ------------------------------------------- */

/*
 * Of one direction of a link, in order of time. A message beside a phase step that is too
 * quick for the curve there was rather sent on the other side of it: the step may be
 * anywhere up to the next one that is not.
 */
static int reach_quick(struct host_fit *k, size_t *room, const struct seen_observation *s, size_t n)
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
			ret = add(c, room,
				  &(struct doubt){ first ? s[first - 1].t : 0,
						   last < n ? s[last].t : k->obs.span, true });
	}
	return ret;
}

/* Add those of the next link, in order of time. */
static void see_link(struct seen_way *way, const struct observations *p, size_t link, int side)
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
	qsort(way->seen + way->begin, way->num - way->begin, sizeof(*way->seen), by_time);
}

/*
 * The least distance of a link's observations that are so near to a time that the curve cannot
 * be off by much more, or less, than then; HUGE_VAL: there are none.
 */
static double distance_about(const struct seen_way *way, double t)
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
 * Which of a link's are quicker than its margin allows, and than those of the other direction? How
 * many?
 */
static size_t mark_quick(struct seen_way *way, const struct seen_way *other,
			 const struct unknown *u, double margin, double error)
{
	size_t quick = 0;

	for (size_t i = way->begin; i < way->num; i++) {
		struct seen_observation *s = &way->seen[i];
		double beyond = s->distance + error + gap_at(u, s->t);
		double least = margin - PART * margin;

		if (beyond < least)
			least = fmin(least, (1 - PART) * distance_about(other, s->t));
		s->quicker = fmax(least - beyond, 0);
		quick += s->quicker > 0;
	}
	return quick;
}

/* The same for both directions, relative to a curve that is higher by @offset. */
static size_t mark_quick_beside(struct seen_way way[2], double offset, const struct unknown *u,
				double margin, double error)
{
	for (int side = ABOVE; side <= BELOW; side++)
		for (size_t i = way[side].begin; i < way[side].num; i++)
			way[side].seen[i].distance -= side == ABOVE ? offset : -offset;
	return mark_quick(&way[ABOVE], &way[BELOW], u, margin, error) +
	       mark_quick(&way[BELOW], &way[ABOVE], u, margin, error);
}

static int find_quick_of_link(struct host_fit *k, const struct link *links, size_t num_links,
			      size_t link, double offset, struct seen_way way[2], struct unknown *u,
			      size_t *room)
{
	const double error = DEVIATIONS * k->correction->expected_error + k->obs.resolution;
	const double margin = k->margin[link];
	size_t quick;
	int ret;

	if (margin <= 0)
		return 0;
	ret = find_unknown(u, k, links, num_links, link);
	for (int side = ABOVE; !ret && side <= BELOW; side++)
		see_link(&way[side], &k->obs, link, side);
	/* Either curve drifts as much as the other: one that is consistent with more is enough. */
	quick = ret ? 0 : mark_quick_beside(way, 0, u, margin, error);
	if (quick && k->obs.links > 1 && mark_quick_beside(way, offset, u, margin, error) >= quick)
		mark_quick_beside(way, -offset, u, margin, error);
	for (int side = ABOVE; !ret && side <= BELOW; side++)
		ret = reach_quick(k, room, way[side].seen + way[side].begin,
				  way[side].num - way[side].begin);
	return ret;
}

/* Those of both directions by themselves, but of all links together. */
static int find_quick(struct host_fit *k, const struct link *links, size_t num_links,
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
		ret = find_quick_of_link(k, links, num_links, i, offset[i], way, &u, room);
	for (int side = ABOVE; side <= BELOW; side++) {
		if (!ret) {
			qsort(way[side].seen, way[side].num, sizeof(*way[side].seen), by_time);
			ret = add_runs(k->correction, room, way[side].seen, way[side].num);
		}
		free(way[side].seen);
	}
	free(u.window);
	return ret;
}

/* Neighbouring intervals in which the curve bends one way. */
struct bent {
	double from;
	double to;
	double turn; /* by how much its slope changes, beyond a drift */
};

/*
 * The next ones from interval *@i to before @end, less what @drift does in each: are there
 * any?
 */
static bool next_bent(const struct spline *s, double drift, size_t *i, size_t end, struct bent *b)
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
 * Where it bends more than by the largest drift k: a limit that assumes that is wrong by
 * an eighth of what the curve turns beyond it, times the length, and times what it would
 * take to turn as much by drift: (turn + k length)^2 / 8 k, less (turn + k length)
 * length / 8.
 */
static int add_bent(struct host_fit *k, size_t *room, const struct silences *silent, double most)
{
	const struct spline *s = &k->best;
	struct bent b;
	size_t i = 0;
	int ret = 0;

	while (!ret && next_bent(s, k->drift, &i, s->coefs - 3, &b)) {
		double length = b.to - b.from;
		struct doubt d = { b.from - length / 2, b.to + length / 2, fabs(b.turn) > FAST };

		if (fabs(b.turn) * (length + fabs(b.turn) / k->drift) / 8 <= most)
			continue;
		/* When in a silence a clock changed nobody knows. */
		silences_reach(silent, &d.from, &d.to);
		ret = add(k->correction, room, &d);
	}
	return ret;
}

/*
 * In a silence messages tell by how much a clock turned, and not when. From one end of it
 * to the other, L apart, a limit that assumes the largest drift k leaves room for k L^2 / 8
 * in the middle. A clock that turned all at once there, as a daemon makes it, is off by
 * turn L / 4.
 */
static bool may_hide(double turn, double drift, double length, double most)
{
	return (2 * fabs(turn) - drift * length) * length / 8 > most;
}

/* By how much a curve turns one way in intervals from @i to before @end, at most. */
static double most_turn(const struct spline *s, size_t i, size_t end)
{
	struct bent b;
	double most = 0;

	while (next_bent(s, 0, &i, end, &b))
		most = fmax(most, fabs(b.turn));
	return most;
}

/*
 * About a silence: for half as long before and after, and an interval more, as that is how
 * far a curve spreads what a clock does at once.
 */
static double turn_about(const struct spline *s, double from, double to)
{
	double half = (to - from) / 2;
	size_t i = spline_interval(s, from - half);
	size_t end = spline_interval(s, to + half) + 2;

	return most_turn(s, i - !!i, end < s->coefs - 3 ? end : s->coefs - 3);
}

/* @turn: the most of all of the curve. */
static int add_silences(struct host_fit *k, size_t *room, const struct silences *s, double turn,
			double most)
{
	int ret = 0;

	for (int side = ABOVE; side <= BELOW; side++) {
		for (size_t i = 1; !ret && i < s->num[side]; i++) {
			struct doubt d = { s->t[side][i - 1], s->t[side][i], false };
			double length = d.to - d.from, about;

			if (!may_hide(turn, k->drift, length, most))
				continue;
			about = turn_about(&k->best, d.from, d.to);
			if (!may_hide(about, k->drift, length, most))
				continue;
			/* By so much it was rather set. */
			d.phase_step = about > FAST;
			ret = add(k->correction, room, &d);
		}
	}
	return ret;
}

static int find_bends(struct host_fit *k, size_t *room, double most)
{
	double turn = most_turn(&k->best, 0, k->best.coefs - 3);
	struct silences s;
	int ret;

	/* In no silence it matters, not even in one turn / k long. */
	if (turn * turn <= 8 * k->drift * most)
		return 0;
	ret = silences_find(&s, &k->obs);
	if (!ret)
		ret = add_bent(k, room, &s, most);
	if (!ret)
		ret = add_silences(k, room, &s, turn, most);
	silences_release(&s);
	return ret;
}

/*
 * A smooth curve leaves the truth before it misses a change, and by less. Doubts from
 * @first on.
 */
static void widen(struct correction *c, size_t first)
{
	for (size_t i = first; i < c->num_doubts; i++) {
		struct doubt *d = &c->doubt[i];
		double length = d->to - d->from;

		d->from -= length / 2;
		d->to += length / 2;
	}
}

/* One of two rate steps that may rather be a phase step. */
static bool may_be_jump(const struct correction *c, size_t i)
{
	return c->change[i].may_jump || (i && c->change[i - 1].may_jump);
}

/*
 * Does a daemon seem to steer it? *fast: by more than may be assumed, if only once. After
 * a clock was set it runs as before: what does not was slewed.
 */
static bool is_steered(const struct correction *c, double span, bool *fast)
{
	size_t steps = 0;
	bool once = false, often;

	*fast = false;
	for (size_t i = 0; i < c->num_changes; i++) {
		bool steep = fabs(c->change[i].skew) > FAST;

		once |= steep && !may_be_jump(c, i);
		*fast |= steep && !c->change[i].phase_step;
		steps += !c->change[i].phase_step;
	}
	often = steps >= MANY && span < OFTEN * (double)steps;
	*fast = once || (often && *fast);
	return often || once;
}

/*
 * Are there so many messages that a clock which drifts as assumed had a curve with a
 * margin? If not, that messages of each pair agree with each other says nothing.
 */
static bool is_dense(const struct observations *p)
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

	/* Also those that were rejected: rather the curve may be wrong. */
	observations_release(&k->obs);
	ret = observations_gather(&k->obs, c, links, num_links);
	offset = calloc(num_links + 1, sizeof(*offset));
	if (!offset)
		ret = -ENOMEM;
	if (!ret) {
		host_fit_set_residuals(k, &k->best);
		for (size_t i = 0; i < k->obs.links; i++)
			k->margin[i] = fmax(k->margin[i], link_room(&k->obs, i, c->expected_error));
		ret = middle_margin(k, &margin);
	}
	if (!ret) {
		c->no_margin |= !margin;
		ret = set_margins(k, offset);
	}
	if (!ret)
		ret = middle_margin(k, &margin);
	if (!ret) {
		ret = find_quick(k, links, num_links, offset, &room);
		if (c->num_doubts > first)
			c->num_doubts = first + merge(c->doubt + first, c->num_doubts - first);
		widen(c, first);
	}
	free(offset);
	if (!ret)
		ret = find_bends(k, &room, PART * margin);
	steered = is_steered(c, k->obs.span, &fast);
	c->no_margin |= fast;
	if (!ret && (steered || (c->no_margin && is_dense(&k->obs))))
		ret = add(c, &room, &(struct doubt){ 0, k->obs.span, false });
	c->num_doubts = merge(c->doubt, c->num_doubts);
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
