// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "bound/drift-limit.h"
#include "util/number.h"
#include "util/search.h"
#include "util/statistics.h"

/*
 * R replaces B if its mean width is larger by this part at most. No unit. Chosen: the median bound
 * of the judge's worlds grows by 0.4 %.
 */
#define LITTLE_WIDER 0.02
/* Number of instants from which a mean width is computed. Chosen: the first and the last one, too. */
#define WIDTH_INSTANTS 257
/*
 * B is too narrow if its least width is smaller than that of R by more than this part, and by more
 * than so many times the scatter of the widths of R, divided by the square root of their number.
 * The sum of two exponential excess delays has a minimum of about 0.8 times that, so that R's least
 * width exceeds D by as much. The vertices are the narrowest places already, so that they scatter
 * less than the messages: with collective operations of four hosts, up to 15 times that is found.
 * No unit. Chosen: of 150 pairs of clocks without steering, none is beyond both limits; of 9 whose
 * bound was false, all are, by 55 times and more.
 */
#define TOO_NARROW_PART (1.0 / 16)
#define TOO_NARROW_SCATTERS 24
/* Minimum number of widths whose scatter is used. Chosen. */
#define FEWEST_WIDTHS 8
/* Time by which the window of all time extends beyond all messages, ns. Chosen: 1000 s. */
#define BEYOND INT64_C(1000000000000)

static double width_at(const struct rate_bound *b, int64_t x)
{
	const struct range y = rate_bound_at(b, x);

	return y.lo == INT64_MIN || y.hi == INT64_MAX ? HUGE_VAL : (double)y.hi - (double)y.lo;
}

/* Widths of a bound at the vertices of its segments, where it is narrowest. */
struct vertex_widths {
	double *width;
	size_t num;
	double least;
	double apart; /* from the least width's vertex to the nearest of the other side, ns */
};

static double find_nearest(const struct bound_segment *z, int side, int64_t x)
{
	const struct bound_vertex *v = z->vertex[side];
	const size_t n = z->num_vertices[side], next = NUM_BEFORE(v, n, x, x);
	double apart = HUGE_VAL;

	if (next)
		apart = (double)(x - v[next - 1].x);
	return next < n ? fmin(apart, (double)(v[next].x - x)) : apart;
}

static void add_vertex_widths(struct vertex_widths *to, const struct rate_bound *b,
			      const struct bound_segment *z, int side)
{
	for (size_t i = 0; i < z->num_vertices[side]; i++) {
		const int64_t x = z->vertex[side][i].x;
		const double width = width_at(b, x);

		if (isinf(width))
			continue;
		to->width[to->num++] = width;
		if (width >= to->least)
			continue;
		to->least = width;
		to->apart = find_nearest(z, !side, x);
	}
}

/*
 * List the widths at all vertices; @limited: only those of segments with a drift limit. ->width has
 * room for all vertices.
 */
static void list_vertex_widths(struct vertex_widths *to, const struct rate_bound *b, bool limited)
{
	to->num = 0;
	to->least = to->apart = HUGE_VAL;
	for (size_t p = 0; p < b->parts; p++) {
		for (size_t i = 0; i < b->part[p].num_segments; i++) {
			const struct bound_segment *z = &b->part[p].segment[i];

			if (z->divided || (limited && isinf(z->bend)))
				continue;
			add_vertex_widths(to, b, z, 0);
			add_vertex_widths(to, b, z, 1);
		}
	}
}

/* Return the mean width of a bound at some instants of a range; HUGE_VAL if it is not known. */
static double compute_mean_width(const struct rate_bound *b, const struct range *span)
{
	double sum = 0;
	int num = 0;

	for (int i = 0; i < WIDTH_INSTANTS; i++) {
		const double width = width_at(b,
					      span->lo + (int64_t)((__int128)(span->hi - span->lo) *
								   i / (WIDTH_INSTANTS - 1)));

		if (isinf(width))
			continue;
		sum += width;
		num++;
	}
	return num ? sum / num : HUGE_VAL;
}

static struct range span_of_points(const struct drift_evidence *e)
{
	struct range span = { INT64_MAX, INT64_MIN };

	for (int side = 0; side < 2; side++) {
		span.lo = min64(span.lo, e->point[side][0].x);
		span.hi = max64(span.hi, e->point[side][e->num[side] - 1].x);
	}
	return span;
}

/* Is B somewhere narrower than the delays allow? 1, 0 or -ENOMEM. */
static int is_too_narrow(const struct rate_bound *b, const struct rate_bound *r, double coarse)
{
	const double steepest = r->limits.slope + r->limits.slew;
	struct vertex_widths w = {
		.width = malloc((b->vertices + r->vertices + 1) * sizeof(*w.width)),
	};
	double least, scatter, apart;

	if (!w.width)
		return -ENOMEM;
	list_vertex_widths(&w, r, false);
	if (w.num < FEWEST_WIDTHS) {
		free(w.width);
		return 0;
	}
	least = w.least;
	apart = w.apart;
	scatter = (compute_order_statistic(w.width, w.num, w.num / 2) - least) /
		  sqrt((double)w.num);
	list_vertex_widths(&w, b, true);
	free(w.width);
	/*
	 * Stamps of both directions are rounded. Between the two messages of the least width, R lets
	 * the clock move away by the largest rate, where it may have come closer.
	 */
	return least - 2 * coarse - 2 * steepest * apart - w.least >
	       fmax(TOO_NARROW_PART * least, TOO_NARROW_SCATTERS * scatter);
}

/* Does R replace B? 1, 0 or -ENOMEM. */
static int is_replaced(const struct rate_bound *b, const struct rate_bound *r,
		       const struct drift_evidence *e)
{
	const struct range span = span_of_points(e);

	if (r->infeasible || (b->infeasible && e->all))
		return 0;
	if (b->infeasible ||
	    compute_mean_width(r, &span) <= (1 + LITTLE_WIDER) * compute_mean_width(b, &span))
		return 1;
	return is_too_narrow(b, r, e->coarse);
}

/* Make R: 0 or -ENOMEM. */
static int make_rate_only(struct rate_bound *r, const struct drift_evidence *e,
			  const struct change_window *all)
{
	struct windows w = { 0 };
	int ret = windows_add_one(&w, all);

	for (size_t i = 0; !ret && i < e->windows->num; i++)
		ret = windows_add_one(&w, &e->windows->window[i]);
	windows_join(&w);
	if (!ret)
		ret = rate_bound_make(r, &e->limits, e->point[0], e->num[0], e->point[1], e->num[1],
				      w.window, w.num);
	windows_release(&w);
	return ret;
}

int drift_limit_check(struct rate_bound *b, const struct drift_evidence *e,
		      struct change_window *all)
{
	struct rate_bound rate_only = { 0 };
	struct range span;
	int ret;

	if (!e->num[0] || !e->num[1] || !e->limits.bend)
		return 0;
	span = span_of_points(e);
	*all = (struct change_window){ .from = span.lo - BEYOND,
				       .to = span.hi + BEYOND,
				       .is_general = true };
	ret = make_rate_only(&rate_only, e, all);
	if (!ret)
		ret = is_replaced(b, &rate_only, e);
	if (ret > 0) {
		rate_bound_release(b);
		*b = rate_only;
	} else {
		rate_bound_release(&rate_only);
	}
	return ret;
}
