// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "bound/hidden-step.h"
#include "util/statistics.h"

/*
 * Number of messages of both directions that are compared before an instant, and after it.
 * Chosen: eight of each direction, as in curve/doubt.c.
 */
#define BESIDE 16
/*
 * Minimum number of messages from which curves tell the usual margin. They use groups of 64
 * messages of a direction. With fewer than four groups of each direction, a step in one group
 * would decide what is usual. Chosen.
 */
#define FEW_PASSAGES 512
/* Fraction of the usual margin below which a margin is unusual. Chosen, as in curve/doubt.c. */
#define LEAST_USUAL 0.75
/* One stretch in this many, and one more, may have a small margin because of a step. Chosen. */
#define PART 8

/* A message that is kept: what it leaves to f (@way 0), or to -f. */
struct passage {
	int64_t x;
	int64_t y;
	int way;
};

/* Messages of both directions, in order of time. */
struct passages {
	struct passage *passage;
	size_t num;
	int64_t level; /* of f about which y is taken: no digits are lost */
	double steepest;
};

/* Which two messages leave the least to a clock between them. */
struct closest {
	double gap; /* half of what they leave, ns */
	size_t before;
	size_t after;
};

/* The lowest of each direction so far, as seen from later times. */
struct lowest_passages {
	double y[2]; /* at time 0 of gap_* functions, less what f may rise until then */
	size_t at[2];
};

static double height(const struct passages *p, size_t i)
{
	const struct passage *m = &p->passage[i];

	return (double)(m->way ? m->y + p->level : m->y - p->level);
}

static double rise_until(const struct passages *p, size_t from, size_t i)
{
	return p->steepest * (double)(p->passage[i].x - p->passage[from].x);
}

static void lower_to(struct lowest_passages *low, const struct passages *p, size_t from, size_t i)
{
	const int way = p->passage[i].way;
	const double y = height(p, i) - rise_until(p, from, i);

	if (y < low->y[way]) {
		low->y[way] = y;
		low->at[way] = i;
	}
}

/* What message @i leaves together with the lowest ones of the other direction before it. */
static void come_closer(struct closest *c, const struct lowest_passages *low,
			const struct passages *p, size_t from, size_t i)
{
	const int other = !p->passage[i].way;
	const double gap = (height(p, i) + rise_until(p, from, i) + low->y[other]) / 2;

	if (gap < c->gap)
		*c = (struct closest){ gap, low->at[other], i };
}

/* Return half of the least that messages [@from, @to) leave to a clock between two of them. */
static double gap_among(const struct passages *p, size_t from, size_t to)
{
	struct lowest_passages low = { { HUGE_VAL, HUGE_VAL }, { 0 } };
	struct closest c = { HUGE_VAL, 0, 0 };

	for (size_t i = from; i < to; i++) {
		come_closer(&c, &low, p, from, i);
		lower_to(&low, p, from, i);
	}
	return c.gap;
}

/*
 * Return which message of [@from, @middle) and which one of [@middle, @to), in the other
 * direction, leave the least to a clock.
 */
static struct closest gap_across(const struct passages *p, size_t from, size_t middle, size_t to)
{
	struct lowest_passages low = { { HUGE_VAL, HUGE_VAL }, { 0 } };
	struct closest c = { HUGE_VAL, 0, 0 };

	for (size_t i = from; i < middle; i++)
		lower_to(&low, p, from, i);
	for (size_t i = middle; i < to; i++)
		come_closer(&c, &low, p, from, i);
	return c;
}

/* Merge the messages of both directions that are not left out: 0 or -ENOMEM. */
static int merge_passages(struct passages *p, const struct limits_of_way l[2])
{
	size_t next[2] = { 0, 0 };

	p->passage = malloc((l[0].num + l[1].num + 1) * sizeof(*p->passage));
	if (!p->passage)
		return -ENOMEM;
	while (next[0] < l[0].num || next[1] < l[1].num) {
		const int way = next[0] == l[0].num ||
				(next[1] < l[1].num &&
				 l[1].limit[next[1]].point.x < l[0].limit[next[0]].point.x);
		const struct limit *m = &l[way].limit[next[way]++];

		if (m->left_out)
			continue;
		if (!p->num)
			p->level = way ? -m->point.y : m->point.y;
		p->passage[p->num++] = (struct passage){ m->point.x, m->point.y, way };
	}
	return 0;
}

/* Does a window with a phase step, of the first @num, meet a stretch of time? */
static bool is_known_step(const struct windows *w, size_t num, int64_t from, int64_t to)
{
	for (size_t i = 0; i < num; i++)
		if (w->window[i].phase_step && w->window[i].from <= to && from <= w->window[i].to)
			return true;
	return false;
}

/* Windows that overlap, each of which has a phase step: one, if that may be the same. */
struct step_run {
	struct change_window all;
	struct range common;
	bool is_known; /* a step between the messages on either side is in a window already */
};

static int add_step_run(struct windows *to, const struct step_run *r)
{
	int ret;

	if (r->is_known)
		return 0;
	ret = windows_add_one(to, &r->all);

	/* A window that is listed twice may have several steps: it gets no bound. */
	return ret || r->common.lo <= r->common.hi ? ret : windows_add_one(to, &r->all);
}

/* The next window: another run, or one of the last run's. */
static int extend_step_run(struct windows *to, struct step_run *r, bool *any, struct range w,
			   bool is_known)
{
	int ret = 0;

	if (*any && w.lo <= r->all.to) {
		r->all.from = min64(r->all.from, w.lo);
		r->all.to = max64(r->all.to, w.hi);
		r->common.lo = max64(r->common.lo, w.lo);
		r->common.hi = min64(r->common.hi, w.hi);
		r->is_known |= is_known;
		return 0;
	}
	if (*any)
		ret = add_step_run(to, r);
	*r = (struct step_run){ { .from = w.lo, .to = w.hi, .phase_step = true }, w, is_known };
	*any = true;
	return ret;
}

/*
 * Set *@usual to the margin that BESIDE messages in a row usually leave, ns, ignoring stretches
 * that may contain a step. It is 0 if there are too few stretches. Return 0 or -ENOMEM.
 */
static int find_usual(const struct passages *p, double *usual)
{
	double *gap = malloc((p->num / BESIDE + 1) * sizeof(*gap));
	size_t num = 0;

	*usual = 0;
	if (!gap)
		return -ENOMEM;
	for (size_t from = 0; from + BESIDE <= p->num; from += BESIDE) {
		gap[num] = gap_among(p, from, from + BESIDE);
		num += !isinf(gap[num]);
	}
	/* Two stretches do not tell which of them is usual. */
	if (num > 2)
		*usual = compute_order_statistic(gap, num, 1 + num / PART);
	free(gap);
	return 0;
}

/* The search for steps. */
struct step_search {
	struct passages passages;
	double least;
	struct windows *to;
	size_t known; /* windows that there were before */
	struct step_run run;
	bool any; /* run is one */
};

/* Is there a step between message @i and the one before? 0 or -ENOMEM. */
static int look_for_step(struct step_search *s, size_t i)
{
	const struct passages *p = &s->passages;
	const size_t from = i > BESIDE ? i - BESIDE : 0;
	const size_t end = p->num - i > BESIDE ? i + BESIDE : p->num;
	const struct closest c = gap_across(p, from, i, end);
	struct range w;

	if (c.gap >= s->least || gap_among(p, from, i) < s->least ||
	    gap_among(p, i, end) < s->least)
		return 0;
	w = (struct range){ p->passage[c.before].x, p->passage[c.after].x };
	/* A known window that only meets @w may be of another step, or misplaced. */
	return extend_step_run(s->to, &s->run, &s->any, w,
			       is_known_step(s->to, s->known, p->passage[i - 1].x,
					     p->passage[i].x));
}

/* Where all messages of a stretch leave as much as usual to each other, no two beside a step do. */
static bool is_usual(const struct step_search *s, size_t from)
{
	const size_t left = s->passages.num - from;

	return gap_among(&s->passages, from, from + (left < 4 * BESIDE ? left : 4 * BESIDE)) >=
	       s->least;
}

int hidden_steps_find(struct windows *to, const struct limits_of_way l[2], double steepest,
		      double least, double coarse)
{
	struct step_search s = {
		.passages.steepest = steepest, .least = least, .to = to, .known = to->num
	};
	double usual = 0;
	int ret = merge_passages(&s.passages, l);

	if (!ret && s.passages.num < FEW_PASSAGES)
		ret = find_usual(&s.passages, &usual);
	s.least = fmax(least, LEAST_USUAL * usual) - coarse;
	for (size_t from = 0; !ret && s.least > 0 && from < s.passages.num; from += 2 * BESIDE) {
		const size_t end = from + 3 * BESIDE;

		if (is_usual(&s, from))
			continue;
		for (size_t i = from ? from + BESIDE : 1; !ret && i < end && i < s.passages.num;
		     i++)
			ret = look_for_step(&s, i);
	}
	if (!ret && s.any)
		ret = add_step_run(to, &s.run);
	free(s.passages.passage);
	return ret;
}
