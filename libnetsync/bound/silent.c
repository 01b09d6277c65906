// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Between two vertices of a limit nothing holds it but the largest drift. A clock that is
 * steered there leaves the line by the slope of that, times half of the length. If that is little
 * beside the width of the bound, messages hold it, whoever steers the clocks.
 */
#include <errno.h>
#include <math.h>

#include "bound/silent.h"
#include "curve/wander.h"

/*
 * It is little by this part of the half-width: the truth is not at the limit, as each
 * message takes time. As in curve/doubt.c. Who moves a clock by twice as much takes it off the
 * line by that.
 */
#define PART 0.25
/* Messages that are closer than this, ns, leave no silence worth reporting. Chosen. */
#define LONG_SILENCE INT64_C(1000000000)

static bool is_known(struct range y)
{
	return y.lo > INT64_MIN && y.hi < INT64_MAX;
}

static double half_width(const struct rate_bound *b, int64_t x)
{
	struct range y = rate_bound_at(b, x);

	return is_known(y) ? fmax((double)(y.hi - y.lo), 0) / 2 : HUGE_VAL;
}

/* A time between two vertices, as one of the two hosts knows it. */
struct silence {
	const struct wander *wander;
	int64_t from; /* since the start of its span, ns */
	int64_t to;
};

static struct silence silence_of(const struct correction *first, const struct correction *of,
				 const struct change_window *w)
{
	struct silence s = { of->wander, w->from, w->to };

	if (of != first) {
		correction_between(first, s.from, of, &s.from);
		correction_between(first, s.to, of, &s.to);
	}
	s.from -= of->from;
	s.to -= of->from;
	return s;
}

static bool is_left_alone(const struct silence *s, double room)
{
	return s->wander && wander_is_small(s->wander, s->from, s->to, room);
}

/* Do options or clock readings say that nobody steers the host's clock? */
static bool is_declared_steady(const struct correction *c)
{
	return c->wander && c->wander->left_alone;
}

bool clocks_are_steady(const struct correction *correction[2])
{
	return is_declared_steady(correction[0]) && is_declared_steady(correction[1]);
}

/* How long the host was not seen, ns. */
static double unseen(const struct silence *s)
{
	return s->wander ? wander_silence(s->wander, s->from, s->to) : (double)(s->to - s->from);
}

/*
 * Does the bound rest on a drift that may not be assumed? @width: its half-width. While
 * messages pass they contradict what moves a clock, unless drift may do it as well.
 */
static bool is_doubtful(const struct rate_bound *b, const struct correction *correction[2],
			const struct change_window *w, double width)
{
	double length = (double)(w->to - w->from);
	double bent = b->limits.bend * length * length / 8;
	double slope = (b->limits.slope + b->limits.slew) / 2;
	struct silence s[2];

	if (fmax(bent, slope * length) <= PART * width)
		return false;
	for (int i = 0; i < 2; i++)
		s[i] = silence_of(correction[0], correction[i], w);
	return fmax(bent, slope * fmax(unseen(&s[0]), unseen(&s[1]))) > PART * width &&
	       !(is_left_alone(&s[0], 2 * PART * width) && is_left_alone(&s[1], 2 * PART * width));
}

/* When a host was seen, on the first one's clock. */
static struct range span_of_host(const struct correction *correction[2], int which)
{
	struct range s = { correction[which]->from, correction[which]->to };

	if (which) {
		correction_between(correction[1], s.lo, correction[0], &s.lo);
		correction_between(correction[1], s.hi, correction[0], &s.hi);
	}
	return s;
}

/* When either host was seen, on the first one's clock. */
static struct range span_of_both(const struct correction *correction[2])
{
	struct range a = span_of_host(correction, 0), b = span_of_host(correction, 1);

	return (struct range){ min64(a.lo, b.lo), max64(a.hi, b.hi) };
}

/* Those of one side of a segment, with the times before its first vertex and after the last. */
static int add_side(struct windows *add, const struct rate_bound *b, const struct bound_segment *z,
		    int side, const struct correction *correction[2], const struct range *span)
{
	const struct bound_vertex *v = z->vertex[side];
	size_t n = z->num_vertices[side];
	double before = HUGE_VAL;
	int found = 0;

	for (size_t i = 0; n && i <= n; i++) {
		const struct change_window w = {
			.from = i ? v[i - 1].x : max64(span->lo, z->from),
			.to = i < n ? v[i].x : min64(span->hi, z->to),
		};
		double next = i < n ? half_width(b, v[i].x) : HUGE_VAL;
		double width = fmin(before, next);

		before = next;
		if (w.from >= w.to || !is_doubtful(b, correction, &w, width))
			continue;
		if (windows_add_one(add, &w))
			return -ENOMEM;
		found++;
	}
	return found;
}

int silent_windows(struct windows *add, const struct rate_bound *b,
		   const struct correction *correction[2])
{
	const struct range span = span_of_both(correction);
	int found = 0;

	for (size_t p = 0; p < b->parts; p++) {
		for (size_t i = 0; i < b->part[p].num_segments; i++) {
			const struct bound_segment *z = &b->part[p].segment[i];

			for (int side = 0; side < 2 && !isinf(z->bend); side++) {
				int n = add_side(add, b, z, side, correction, &span);

				if (n < 0)
					return n;
				found += n;
			}
		}
	}
	return found;
}

int steering_window_one_way(struct windows *add, const struct pair *pair,
			    const struct correction *correction[2])
{
	const struct range span = span_of_both(correction);
	const struct change_window w = { .from = span.lo, .to = span.hi };

	if ((pair->direction[0].envelope.num && pair->direction[1].envelope.num) ||
	    clocks_are_steady(correction))
		return 0;
	return w.from < w.to ? windows_add_one(add, &w) : 0;
}

/*
 * Does f go further than clocks do, whatever it is within the limits? Two that adjtime(3) slews
 * against each other would; they do it rarely, and one that was set does it at once.
 */
static bool goes_far(const struct rate_bound *b, const struct bound_segment *z, int side)
{
	const struct bound_vertex *v = z->vertex[side];

	for (size_t i = 1; i < z->num_vertices[side]; i++) {
		double length = (double)(v[i].x - v[i - 1].x), least;
		struct range from, to;

		from = rate_bound_at(b, v[i - 1].x);
		to = rate_bound_at(b, v[i].x);
		if (!is_known(from) || !is_known(to))
			continue;
		least = fmax((double)(to.lo - from.hi), (double)(from.lo - to.hi));
		if (least > b->limits.slope * length)
			return true;
	}
	return false;
}

bool silent_was_set(const struct rate_bound *b)
{
	for (size_t p = 0; p < b->parts; p++) {
		for (size_t i = 0; i < b->part[p].num_segments; i++) {
			const struct bound_segment *z = &b->part[p].segment[i];

			if (isinf(z->bend) && !z->divided &&
			    (goes_far(b, z, 0) || goes_far(b, z, 1)))
				return true;
		}
	}
	return false;
}

int64_t silent_longest(struct point *const point[2], const size_t num[2],
		       const struct correction *correction[2])
{
	const struct range span = span_of_both(correction);
	int64_t longest = 0;

	for (int way = 0; way < 2; way++) {
		int64_t last = span.lo;

		for (size_t i = 0; i < num[way]; i++) {
			longest = max64(longest, point[way][i].x - last);
			last = point[way][i].x;
		}
		longest = max64(longest, span.hi - last);
	}
	return longest;
}

/* Are the messages of a bin so many that they cannot all be a long silence apart? */
static bool is_bin_dense(const struct envelope *e, const struct bin *b)
{
	return ldexp(1, e->shift) < (double)(b->messages + 1) * (double)LONG_SILENCE;
}

/*
 * Return the part of a time without messages that is in windows; 0 if that time is short.
 * @at: the first window that later times can be in.
 */
static int64_t silent_part(const struct windows *w, size_t *at, int64_t from, int64_t to)
{
	int64_t sum = 0;

	if (to - from < LONG_SILENCE)
		return 0;
	while (*at < w->num && w->window[*at].to <= from)
		(*at)++;
	for (size_t i = *at; i < w->num && w->window[i].from < to; i++)
		sum += min64(to, w->window[i].to) - max64(from, w->window[i].from);
	return sum;
}

int64_t silent_time(const struct envelope *direction, const struct windows *windows,
		    const struct correction *correction[2], int which)
{
	const struct range span = span_of_host(correction, which);
	int64_t sum = 0, from = span.lo;
	size_t at = 0;

	for (size_t i = 0; i < direction->num; i++) {
		const struct bin *b = &direction->bin[i];
		const int64_t begin = direction->base + b->index * (INT64_C(1) << direction->shift);

		if (!is_bin_dense(direction, b))
			continue;
		sum += silent_part(windows, &at, from, min64(begin, span.hi));
		from = max64(from, begin + (INT64_C(1) << direction->shift));
	}
	return sum + silent_part(windows, &at, from, span.hi);
}
