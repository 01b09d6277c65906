// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Where the truth is below a at one instant and below b at another, L later, it
 * is below the straight line between plus k/8 L^2 in the meantime, its second
 * derivative being at most k. So a bound at some instants is one at all.
 *
 * Of the instants only few are kept; the lines between these are raised above
 * all that were left out.
 */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "util/number.h"
#include "util/parallel.h"
#include "bound/knots.h"

/* Knots at most, of a clock without change points; for each of these. Chosen. */
#define MAX_KNOTS 4096
#define WINDOW_KNOTS 16
/* Lines may be off an instant by this part of it, and by so many ns. Chosen. */
#define TOLERANCE (1.0 / 1024)
#define TOLERANCE_NS 2.0
/* Instants of a stretch in which lines are off by one multiple of that. Chosen. */
#define STRETCH 256
/* Instants in the window of a change point, at least. Chosen. */
#define WINDOW 65
/*
 * In long windows instants are so far apart, ns, at least: the largest skew adds 5 us; or so
 * far that it adds this part of the interval's width. Of a thousand hosts whose windows are
 * all of the time, bounds are 1 % wider than with an eighth of that, and 5 % narrower than
 * with four times that. Chosen.
 */
#define NEAR 20e6
#define SAG_OF_WIDTH (1.0 / 256)
/* Instants in all windows of a host together, about, unless NEAR: bounds time. Chosen. */
#define MOST_IN_WINDOWS 65536
#define LEAST_IN_WINDOWS MAX_KNOTS
/* Not known. */
#define FAR 0x1p61

enum { BELOW, ABOVE };

struct instant {
	int64_t t;
	int64_t ref;	/* the corrected time */
	double side[2]; /* how far the truth can be below and above */
	double raise[2];
	bool kept;
	/* Of the stretch whose middle it is; see is_straight(). */
	double tolerance;
	size_t looked_until;
	size_t needed; /* instants, with the least tolerance; SIZE_MAX: not counted yet */
};

struct samples {
	const struct knots *k;
	struct instant *s;
	size_t num;
	double tolerance;
};

static int by_time(const void *a, const void *b)
{
	const struct instant *p = a, *q = b;

	return p->t < q->t ? -1 : p->t > q->t;
}

static void add(const struct knots *k, struct samples *to, int64_t t)
{
	if (t >= k->first && t <= k->last)
		to->s[to->num++] = (struct instant){ .t = t, .tolerance = 1, .needed = SIZE_MAX };
}

static void spread(const struct knots *k, struct samples *to, int64_t from, int64_t until, size_t n)
{
	for (size_t i = 0; i < n; i++)
		add(k, to,
		    from + (int64_t)((__int128)(until - from) * (int64_t)i / (int64_t)(n - 1)));
}

/* The next time that windows from *@i on cover without a gap, within the span: is there one? */
static bool next_covered(const struct knots *k, size_t *i, struct range *t)
{
	for (; *i < k->num_windows; ++*i) {
		const struct change_window *w = &k->windows[*i];

		*t = (struct range){ max64(w->from, k->first), w->to };
		if (w->to >= k->first)
			break;
	}
	if (*i == k->num_windows || t->lo > k->last)
		return false;
	for (++*i; *i < k->num_windows && k->windows[*i].from <= t->hi; ++*i)
		t->hi = max64(t->hi, k->windows[*i].to);
	t->hi = min64(t->hi, k->last);
	return true;
}

/* How far they are apart in windows, ns. */
static double spacing(const struct knots *k)
{
	double slope = k->limits.slope + k->limits.slew, sum = 0, apart;
	struct range t;

	for (size_t i = 0; next_covered(k, &i, &t);)
		sum += (double)(t.hi - t.lo);
	apart = fmax(2 * SAG_OF_WIDTH * k->width / slope, sum / MOST_IN_WINDOWS);
	return fmax(NEAR, fmin(apart, sum / LEAST_IN_WINDOWS));
}

/* At most how many there are. */
static size_t most_instants(const struct knots *k, double apart)
{
	size_t most = k->instants + 2 + (WINDOW + 4) * k->num_windows;
	struct range t;

	for (size_t i = 0; next_covered(k, &i, &t);)
		most += 2 + (size_t)((double)(t.hi - t.lo) / apart);
	return most;
}

/* Those that windows have together, and at the ends and in short ones more. */
static void set_instants(const struct knots *k, struct samples *to, double apart)
{
	struct range t;
	size_t n = 0;

	spread(k, to, k->first, k->last, k->instants > 2 ? k->instants : 2);
	for (size_t i = 0; next_covered(k, &i, &t);)
		spread(k, to, t.lo, t.hi, 2 + (size_t)((double)(t.hi - t.lo) / apart));
	for (size_t i = 0; i < k->num_windows; i++) {
		const struct change_window *w = &k->windows[i];
		bool is_short = (double)(w->to - w->from) < WINDOW * apart;

		add(k, to, w->from - 1);
		spread(k, to, w->from, w->to, is_short ? WINDOW : 2);
		add(k, to, w->to + 1);
	}
	qsort(to->s, to->num, sizeof(*to->s), by_time);
	for (size_t i = 0; i < to->num; i++)
		if (!n || to->s[i].t > to->s[n - 1].t)
			to->s[n++] = to->s[i];
	to->num = n;
}

static void look(const struct knots *k, struct instant *s, struct range r)
{
	netsync_convert(k->clock, s->t, &s->ref, NULL);
	s->side[BELOW] = s->side[ABOVE] = FAR;
	if (r.lo > INT64_MIN)
		s->side[BELOW] = fmax((double)((__int128)s->ref - r.lo), 0);
	if (r.hi < INT64_MAX)
		s->side[ABOVE] = fmax((double)((__int128)r.hi - s->ref), 0);
}

size_t knots_find_ranges(const struct knots *k, const void *instants, size_t size, size_t left,
			 struct range range[KNOTS_TOGETHER])
{
	const size_t num = left < KNOTS_TOGETHER ? left : KNOTS_TOGETHER;
	int64_t t[KNOTS_TOGETHER] = { 0 };

	for (size_t i = 0; i < num; i++)
		memcpy(&t[i], (const char *)instants + i * size, sizeof(t[i]));
	k->at(k->arg, t, num, range);
	return num;
}

static int look_at_some(void *arg, size_t part)
{
	const struct samples *all = arg;
	struct instant *s = &all->s[part * KNOTS_TOGETHER];
	struct range range[KNOTS_TOGETHER];
	const size_t num = knots_find_ranges(all->k, s, sizeof(*s),
					     all->num - part * KNOTS_TOGETHER, range);

	for (size_t i = 0; i < num; i++)
		look(all->k, &s[i], range[i]);
	return 0;
}

/* ---- between samples --------------------------------------------------- */

/* How far the clock's segments leave the straight line from a to b. */
static double bulge(const struct netsync_model *m, uint32_t *at, const struct instant *a,
		    const struct instant *b)
{
	double rise = (double)((__int128)b->ref - a->ref) / (double)(b->t - a->t);
	double most = 0;

	while (*at + 1 < m->num_segments && m->segments[*at + 1].from_ns <= a->t)
		++*at;
	for (uint32_t i = *at + 1; i < m->num_segments && m->segments[i].from_ns <= b->t; i++) {
		const struct netsync_segment *s = &m->segments[i];
		double line = rise * (double)(s->from_ns - a->t);
		__int128 gone = (__int128)s->from_ns - a->ref;
		double next = (double)(gone + s->offset_ns);
		double last = (double)(gone + s[-1].offset_ns) +
			      (s[-1].rate - 1) * (double)(s->from_ns - s[-1].from_ns);

		most = fmax(most, fmax(fabs(next - line), fabs(last - line)));
	}
	return most;
}

/*
 * How far a limit may be above the straight line from a to b, by the largest slope: from
 * each of them it rises by that, and where both meet it is farthest from the line.
 *
 *	      /\	   The steeper the line itself is, the nearer.
 *	     /. b
 *	    /.
 *	   a
 */
static double above_chord(const struct instant *a, const struct instant *b, int side, double slope)
{
	double most = slope * (double)(b->t - a->t);
	double clock = (double)(((__int128)b->ref - a->ref) - (b->t - a->t));
	double limit = b->side[side] - a->side[side];
	double rise = limit + (side == ABOVE ? clock : -clock);

	return most > fabs(rise) ? (most + rise) * (most - rise) / (2 * most) : 0;
}

/* By how much more than on the line the truth may be off in between. */
static void set_raises(const struct knots *k, struct samples *in)
{
	struct netsync_model m = { .size = sizeof(m) };
	uint32_t segment = 0;
	size_t w = 0;

	netsync_clock_model(k->clock, &m);
	for (size_t i = 0; i + 1 < in->num; i++) {
		struct instant *s = &in->s[i];
		double length = (double)(s[1].t - s->t);
		double slope = k->limits.slope + k->limits.slew;
		double bent = HUGE_VAL, more;

		while (w < k->num_windows && k->windows[w].to <= s->t)
			w++;
		if (w == k->num_windows || k->windows[w].from >= s[1].t) {
			slope = k->limits.slope;
			bent = k->limits.bend / 8 * length * length;
		}
		more = bulge(&m, &segment, s, s + 1);
		for (int side = BELOW; side <= ABOVE; side++) {
			double raise = more + fmin(above_chord(s, s + 1, side, slope), bent);

			s->raise[side] = fmax(s->raise[side], raise);
			s[1].raise[side] = raise;
		}
	}
}

static void apply_raises(struct samples *in)
{
	for (size_t i = 0; i < in->num; i++) {
		for (int side = BELOW; side <= ABOVE; side++) {
			in->s[i].side[side] += in->s[i].raise[side];
			in->s[i].raise[side] = 0;
		}
	}
}

/* ---- fewer of them ----------------------------------------------------- */

/* How far sample i is above the line from a to b. */
static double above_line(const struct samples *in, size_t a, size_t i, size_t b, int side)
{
	const struct instant *p = &in->s[a], *q = &in->s[b], *s = &in->s[i];
	double part = (double)(s->t - p->t) / (double)(q->t - p->t);

	return s->side[side] - p->side[side] - part * (q->side[side] - p->side[side]);
}

/*
 * Stretches are halved, so that each has a middle of its own, which remembers the tolerance
 * that the stretch needs, as far as it was looked at: each is looked at once, however often
 * it is asked with another tolerance, a power of two.
 */
static bool is_straight(struct samples *in, size_t a, size_t b)
{
	struct instant *m = &in->s[a + (b - a) / 2];
	size_t i = m->looked_until > a ? m->looked_until : a + 1;

	for (; i < b && m->tolerance <= in->tolerance; i++) {
		for (int side = BELOW; side <= ABOVE; side++) {
			double off = fabs(above_line(in, a, i, b, side));
			double part = TOLERANCE * in->s[i].side[side] + TOLERANCE_NS;

			while (off > m->tolerance * part)
				m->tolerance *= 2;
		}
	}
	m->looked_until = i;
	return m->tolerance <= in->tolerance;
}

/* How many instants are needed between a and b. */
static size_t count(struct samples *in, size_t a, size_t b)
{
	size_t middle = a + (b - a) / 2, n = 0;
	struct instant *m = &in->s[middle];

	if (b - a < 2)
		return 0;
	if (in->tolerance == 1 && m->needed != SIZE_MAX)
		return m->needed;
	if (!is_straight(in, a, b))
		n = 1 + count(in, a, middle) + count(in, middle, b);
	if (in->tolerance == 1)
		m->needed = n;
	return n;
}

/* Keep these. */
static void keep(struct samples *in, size_t a, size_t b)
{
	size_t middle = a + (b - a) / 2;

	if (b - a < 2 || is_straight(in, a, b))
		return;
	in->s[middle].kept = true;
	keep(in, a, middle);
	keep(in, middle, b);
}

/*
 * The same, but @most: where more are needed, less is asked of short stretches, each by
 * itself. A half that needs few leaves its share to the other one, and one in which
 * nothing is straight takes none from the other. Return: how many.
 */
static size_t keep_most(struct samples *in, size_t a, size_t b, size_t most)
{
	size_t middle = a + (b - a) / 2, n, half;

	in->tolerance = 1;
	n = count(in, a, b);
	if (n <= most || !most || b - a <= STRETCH) {
		for (; n > most; n = count(in, a, b))
			in->tolerance *= 2;
		keep(in, a, b);
		return n;
	}
	in->s[middle].kept = true;
	half = --most / 2;
	n = count(in, middle, b);
	if (n < most - half)
		half = most - n;
	n = keep_most(in, a, middle, half);
	return 1 + n + keep_most(in, middle, b, most - n);
}

static void thin(struct samples *in, size_t most)
{
	size_t last = in->num - 1, a = 0;

	in->s[0].kept = in->s[last].kept = true;
	keep_most(in, 0, last, most - 2);
	for (size_t b = 1; b < in->num; b++) {
		if (!in->s[b].kept)
			continue;
		for (int side = BELOW; side <= ABOVE; side++) {
			double most = 0;

			for (size_t i = a + 1; i < b; i++)
				most = fmax(most, above_line(in, a, i, b, side));
			in->s[a].raise[side] = fmax(in->s[a].raise[side], most);
			in->s[b].raise[side] = most;
		}
		a = b;
	}
	apply_raises(in);
}

/* ---- all together ------------------------------------------------------ */

/* One ns for rounding the offset and the corrected time. */
static int64_t whole(double v)
{
	return v < FAR / 2 ? (int64_t)ceil(v) + 1 : NETSYNC_UNKNOWN;
}

int knots_make(struct knots *k)
{
	struct samples all = { .k = k };
	double apart = spacing(k);

	all.s = malloc(most_instants(k, apart) * sizeof(*all.s));
	if (!all.s)
		return -ENOMEM;
	set_instants(k, &all, apart);
	parallel_run(k->parallel, k->threads,
		     (uint32_t)((all.num + KNOTS_TOGETHER - 1) / KNOTS_TOGETHER), look_at_some,
		     &all);
	set_raises(k, &all);
	apply_raises(&all);
	thin(&all, MAX_KNOTS + WINDOW_KNOTS * k->num_windows);
	k->knot = malloc(all.num * sizeof(*k->knot));
	k->num = 0;
	for (size_t i = 0; i < all.num && k->knot; i++)
		if (all.s[i].kept)
			k->knot[k->num++] = (struct netsync_knot){
				.time_ns = all.s[i].t,
				.below_ns = whole(all.s[i].side[BELOW]),
				.above_ns = whole(all.s[i].side[ABOVE]),
			};
	free(all.s);
	return k->knot ? 0 : -ENOMEM;
}
