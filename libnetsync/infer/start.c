// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Starts inference for two hosts with the straight line of one host relative to the other one.
 *
 * If no message contradicts the line of the pair, which is in the middle of the widest strip without
 * messages, the clock cannot be far from it: inference starts with this line and with quiet
 * increments, and opens increments where messages ask for them. A start by medians could be trapped
 * by queues, which delay most messages of one direction for most of the time.
 *
 * Otherwise the clock was stepped or steered. The slope of the line is then the median of the slopes
 * between windows of time. In each window, the clock is half-way between the medians of both
 * directions. If fewer than half of the windows are wrong or next to a step, the slope is that of a
 * correct window.
 *
 * The messages of a cell are compared along the slope near the cell, which is the median of
 * adjacent slopes. Over a day, a clock may depart so much from one line that within a cell the
 * lowest message would be the first or the last one.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "infer/internal.h"
#include "util/number.h"
#include "util/statistics.h"
#include "util/whole.h"

/*
 * Maximum number of windows, and minimum number of bins that each direction should have in a
 * window. Chosen.
 */
#define MOST_WINDOWS 256
#define LEAST_BINS 8
/*
 * Number of adjacent slopes whose median is the slope at a time. A step spoils up to two of
 * them. Chosen.
 */
#define ADJACENT 5

struct start_window {
	double t; /* ns since the start of the host's span */
	double y; /* correction, relative to its base, ns */
};

/* The data for the straight line of one host. */
struct start {
	const struct infer_host *host;
	const struct correction *parent;
	bool first;   /* the host is host[0] of the pair */
	int64_t base; /* value to which y is relative, ns */
	bool has_base;
};

/*
 * Return the window of one message: its time on the host, and the correction for which its delay
 * is zero.
 */
static struct start_window compute_message_window(struct start *s, int way, const struct point *p)
{
	const int64_t y = way ? -p->y : p->y;
	const int64_t own = s->first ? p->x : p->x + y, other = s->first ? p->x + y : p->x;
	int64_t common;
	const double rest = correction_at(s->parent, other, &common);

	if (!s->has_base)
		s->base = common - own;
	s->has_base = true;
	return (struct start_window){ (double)(own - s->host->correction->from),
				      (double)(common - own - s->base) + rest };
}

/* Return the lowest corner of a bin. */
static const struct point *find_lowest_corner(const struct bin *b)
{
	const struct point *p = b->corner;

	for (uint32_t i = 1; i < b->corners; i++)
		if (b->corner[i].y < p->y)
			p = &b->corner[i];
	return p;
}

/*
 * Set *@w to the mean time and the median correction of bins [from, to) of a direction. @y is
 * scratch space. Return false if there are no bins.
 */
static bool compute_median_window(struct start *s, int way, size_t from, size_t to, double *y,
				  struct start_window *w)
{
	const struct envelope *e = &s->host->via->direction[way].envelope;
	double t = 0;
	size_t n = 0;

	for (size_t i = from; i < to; i++) {
		const struct start_window at = compute_message_window(
			s, way, find_lowest_corner(&e->bin[i]));

		if (at.t < 0 ||
		    at.t > (double)(s->host->correction->to - s->host->correction->from))
			continue;
		t += at.t;
		y[n++] = at.y;
	}
	if (!n)
		return false;
	*w = (struct start_window){ t / (double)n, statistics_median(y, n) };
	return true;
}

/* Return the number of bins of a direction before a time on host[0]. */
static size_t count_bins_before(const struct envelope *e, double x)
{
	size_t lo = 0, hi = e->num;

	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;

		if ((double)e->bin[mid].corner[0].x < x)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Compute windows from both directions. Return the number of windows. @y is scratch space. */
static size_t compute_start_windows(struct start *s, struct start_window *w, double *y)
{
	const struct envelope *e[2] = { &s->host->via->direction[0].envelope,
					&s->host->via->direction[1].envelope };
	const struct envelope *few = e[e[1]->num < e[0]->num];
	size_t windows = few->num / LEAST_BINS, n = 0;

	windows = windows < 2 ? 2 : windows > MOST_WINDOWS ? MOST_WINDOWS : windows;
	windows = windows > few->num ? few->num : windows;
	for (size_t i = 0; i < windows; i++) {
		const size_t first = few->num * i / windows;
		const size_t end = few->num * (i + 1) / windows;
		const double from = (double)few->bin[first].corner[0].x;
		const double to = end < few->num ? (double)few->bin[end].corner[0].x : HUGE_VAL;
		struct start_window side[2];
		bool has = true;

		for (int way = 0; has && way < 2; way++)
			has = compute_median_window(s, way, i ? count_bins_before(e[way], from) : 0,
						    count_bins_before(e[way], to), y, &side[way]);
		if (has)
			w[n++] = (struct start_window){ (side[0].t + side[1].t) / 2,
							(side[0].y + side[1].y) / 2 };
	}
	return n;
}

/*
 * Set the line through the windows, whose slope and offset are medians. Also set the first
 * phase, and the range of the residuals of all windows. @v is scratch space.
 */
static void set_first_line(struct start *s, const struct start_window *w, size_t num, double *v,
			   struct chain *chain)
{
	struct correction *c = s->host->correction;
	double slope, least = HUGE_VAL, most = -HUGE_VAL, middle;
	size_t n = 0;

	for (size_t i = 1; i < num; i++)
		if (w[i].t > w[i - 1].t)
			v[n++] = (w[i].y - w[i - 1].y) / (w[i].t - w[i - 1].t);
	slope = statistics_median(v, n);
	for (size_t i = 0; i < num; i++) {
		v[i] = w[i].y - slope * w[i].t;
		least = fmin(least, v[i]);
		most = fmax(most, v[i]);
	}
	chain->first.mean[STATE_PHASE] = v[0];
	middle = statistics_median(v, num);
	chain->first.mean[STATE_PHASE] -= middle;
	chain->range = most - least;
	c->skew = slope;
	c->offset = s->base;
	c->frac = add_whole_ns(&c->offset, middle);
}

/*
 * Keep the slopes between windows, relative to the line. Return 0 or -ENOMEM. @v is scratch
 * space.
 */
static int keep_slopes(struct inference *n, const struct correction *c,
		       const struct start_window *w, size_t num, double *v)
{
	n->slope = malloc(num * sizeof(*n->slope));
	if (!n->slope)
		return -ENOMEM;
	for (size_t i = 1; i < num; i++)
		v[i] = w[i].t > w[i - 1].t ? (w[i].y - w[i - 1].y) / (w[i].t - w[i - 1].t) :
					     c->skew;
	for (size_t i = 1; i < num; i++) {
		const size_t from = i > ADJACENT / 2 ? i - ADJACENT / 2 : 1;
		const size_t to = i + ADJACENT / 2 < num ? i + ADJACENT / 2 + 1 : num;
		double near[ADJACENT];

		memcpy(near, v + from, (to - from) * sizeof(*near));
		n->slope[n->num_slopes++] = (struct start_slope){
			.until = infer_convert_to_seconds(n, c, c->from) +
				 w[i].t * (1 + c->skew) / SECOND,
			.frequency = (statistics_median(near, to - from) - c->skew) /
				     (1 + c->skew) * SECOND,
		};
	}
	return 0;
}

void start_set_frequencies(const struct inference *n, struct chain *c)
{
	for (size_t i = 0, k = 0; n->num_slopes && i < c->num; i++) {
		while (k + 1 < n->num_slopes && n->slope[k].until < c->knot[i].t)
			k++;
		c->knot[i].state[STATE_FREQUENCY] = n->slope[k].frequency;
	}
}

/* Return the distance of a message from the host's line, as a correction, ns. */
static double compute_distance(struct start *s, int way, const struct point *p)
{
	const struct correction *c = s->host->correction;
	const struct start_window at = compute_message_window(s, way, p);
	int64_t common;
	const int64_t own = c->from + (int64_t)at.t;
	const double rest = correction_at(c, own, &common);

	return at.y - ((double)(common - own - s->base) + rest);
}

/*
 * Return half of the width of the strip around the host's line that contains no message. It is
 * negative if messages contradict the line.
 */
static double compute_strip(struct start *s)
{
	double lowest[2] = { HUGE_VAL, HUGE_VAL };

	for (int way = 0; way < 2; way++) {
		const struct envelope *e = &s->host->via->direction[way].envelope;
		/* A message from the host limits its correction from above. */
		const double sign = (way == 0) == s->first ? 1 : -1;

		for (size_t i = 0; i < e->num; i++)
			for (uint32_t k = 0; k < e->bin[i].corners; k++)
				lowest[way] = fmin(lowest[way],
						   sign * compute_distance(s, way,
									   &e->bin[i].corner[k]));
	}
	return (lowest[0] + lowest[1]) / 2;
}

/* Compute the straight line of one host. Return 0 or -ENOMEM. */
static int start_host(struct inference *inference, size_t i, struct chain *chain)
{
	const struct infer_task *t = inference->task;
	const struct infer_host *h = &t->host[i];
	struct start s = {
		.host = h,
		.parent = t->host[h->parent].correction,
		.first = h->via->host[0] == h->number,
	};
	const struct direction *d = h->via->direction;
	struct start_window *w;
	double *v;
	size_t n;
	int ret = -ENOMEM;

	/* If a direction has no messages, keep the line of the hull. */
	if (!d[0].envelope.num || !d[1].envelope.num)
		return 0;
	inference->strip = compute_strip(&s);
	if (inference->strip > 0) {
		chain->range = inference->strip;
		return 0;
	}
	w = malloc(MOST_WINDOWS * sizeof(*w));
	v = malloc((d[0].envelope.num + d[1].envelope.num + MOST_WINDOWS) * sizeof(*v));
	if (w && v) {
		n = compute_start_windows(&s, w, v);
		if (n > 1)
			set_first_line(&s, w, n, v, chain);
		ret = n > 1 ? keep_slopes(inference, h->correction, w, n, v) : 0;
	}
	free(w);
	free(v);
	return ret;
}

int infer_start_clocks(struct inference *n)
{
	int ret = 0;

	for (size_t i = 1; !ret && i < n->task->num; i++)
		ret = start_host(n, i, &n->chain[i]);
	return ret;
}
