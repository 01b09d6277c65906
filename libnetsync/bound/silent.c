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

/* Times without messages of a direction, one after the other. */
struct silence_search {
	const struct envelope *direction;
	size_t bin;   /* the next bin to look at */
	int64_t last; /* end of the last dense bin */
	int64_t end;  /* of the search */
};

/* Find the next time without messages that is long. Return false if there is none. */
static bool find_silence(struct silence_search *s, struct range *found)
{
	const struct envelope *e = s->direction;
	const int64_t width = INT64_C(1) << e->shift;

	while (s->last < s->end) {
		while (s->bin < e->num && !is_bin_dense(e, &e->bin[s->bin]))
			s->bin++;
		found->lo = s->last;
		found->hi = s->end;
		s->last = s->end;
		if (s->bin < e->num) {
			const int64_t begin = e->base + e->bin[s->bin++].index * width;

			found->hi = min64(begin, s->end);
			s->last = max64(found->lo, begin + width);
		}
		if (found->hi - found->lo >= LONG_SILENCE)
			return true;
	}
	return false;
}

int silent_windows_one_way(struct windows *add, const struct pair *pair,
			   const struct correction *correction[2])
{
	const struct range span = span_of_both(correction);
	const int way = !pair->direction[0].envelope.num;
	const struct envelope *e = &pair->direction[way].envelope;
	struct silence_search s = { .direction = e, .last = span.lo, .end = span.hi };
	const int64_t width = INT64_C(1) << e->shift;
	struct range found;

	if (pair->direction[!way].envelope.num ||
	    (is_declared_steady(correction[0]) && is_declared_steady(correction[1])))
		return 0;
	while (find_silence(&s, &found)) {
		/* Messages may be at the far ends of the bins beside it. */
		const struct change_window w = { .from = found.lo - width, .to = found.hi + width };

		if (windows_add_one(add, &w))
			return -ENOMEM;
	}
	return 0;
}

/*
 * Return the part of a time without messages that is in windows. @at: the first window that
 * later times can be in.
 */
static int64_t silent_part(const struct windows *w, size_t *at, const struct range *silence)
{
	int64_t sum = 0;

	while (*at < w->num && w->window[*at].to <= silence->lo)
		(*at)++;
	for (size_t i = *at; i < w->num && w->window[i].from < silence->hi; i++)
		sum += min64(silence->hi, w->window[i].to) - max64(silence->lo, w->window[i].from);
	return sum;
}

int64_t silent_time(const struct envelope *direction, const struct windows *windows,
		    const struct correction *correction[2], int which)
{
	const struct range span = span_of_host(correction, which);
	struct silence_search s = { .direction = direction, .last = span.lo, .end = span.hi };
	struct range silence;
	int64_t sum = 0;
	size_t at = 0;

	while (find_silence(&s, &silence))
		sum += silent_part(windows, &at, &silence);
	return sum;
}
