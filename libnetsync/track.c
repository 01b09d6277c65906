// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * How flexible the curve is comes from the data: it is fitted with ever more
 * pieces, and the number wins at which the likelihood no longer grows by more
 * than the new coefficients are worth (H. Akaike, "A new look at the
 * statistical model identification", 1974). Where the rate jumps, the smooth
 * curve bends sharply; such places become breaks, their instants are found as
 * the meeting points of the curves on either side, and the search begins anew
 * with fewer pieces.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fit.h"
#include "track.h"

#define MIN_MESSAGES 32		/* of each direction, for more than a line */
#define MAX_PIECES 8192
#define SLOTS 16		/* of each piece: the lowest points are kept */
#define KEEP 2			/* points of a slot */
#define PRICE 3.0		/* of a coefficient, in log likelihood */
#define SOFTNESS 1.0		/* of walls, in mean / number of messages */
#define FLOOR 0.1		/* ns: walls are not harder than that */
#define WINDOWS 512		/* of the first rough middle line */
#define OUTLIER 8.0		/* median deviations below its neighbours */
#define NEIGHBOURS 8		/* bins on either side */
#define ROUNDS 4
#define MAX_BREAKS 4096

/* A corner of a bin, as it bears on the host's correction. */
struct sample {
	double t;		/* host's time from the start of its span, ns */
	double y;		/* beyond the straight course, ns */
};

/* A bin of one direction of one link. */
struct heap {
	double t;		/* mean time of its messages */
	uint32_t messages;
	uint32_t first;		/* sample */
	uint32_t samples;
};

/* One direction of one link. */
struct side {
	struct heap *heap;
	size_t heaps;
	uint64_t messages;
	double mean;		/* delay beyond the smallest, ns */
};

struct track {
	struct course *course;
	double span;
	size_t links;
	struct side *side;	/* 2 * links: ABOVE, BELOW of each */
	struct sample *sample;
	size_t samples;
	uint64_t messages[2];
	/* The best curve so far, or at first a rough middle line. */
	double *rough_t;
	double *rough_y;
	size_t rough;
	struct spline best;
	double score;
	size_t pieces;
	double finest;		/* piece that breaks were found with, ns */
};

/* ---- gather ------------------------------------------------------------ */

/*
 * A message (x, y) of a link puts the host's correction below (or above) this,
 * as far as it goes beyond the straight course.
 */
static struct sample bear(const struct course *c, const struct link *l,
			  int64_t x, int64_t y)
{
	int64_t own = l->first ? x : x + y, other = l->first ? x + y : x, ref;
	double d = (double)(own - c->from), rest;

	rest = course_at(l->other, other, &ref);
	return (struct sample){
		.t = d,
		.y = (double)(ref - own - c->offset) + rest - c->rest -
		     c->skew * d,
	};
}

static void gather_side(struct track *k, const struct link *l, int cloud,
			struct side *side)
{
	const struct envelope *e = &l->pair->cloud[cloud].envelope;

	for (size_t i = 0; i < e->num; i++) {
		const struct bin *b = &e->bin[i];
		struct heap *h = &side->heap[side->heaps++];
		double mean;

		*h = (struct heap){ .messages = (uint32_t)b->messages,
				    .first = (uint32_t)k->samples,
				    .samples = b->corners };
		for (uint32_t n = 0; n < b->corners; n++) {
			int64_t y = b->corner[n].y;

			k->sample[k->samples++] =
				bear(k->course, l, b->corner[n].x,
				     cloud ? -y : y);
		}
		/* Of the mean only the time matters, not to the ns. */
		mean = (double)(bin_time(b) - b->corner[0].x);
		h->t = k->sample[h->first].t + mean;
		side->messages += b->messages;
	}
}

static int gather(struct track *k, const struct link *links)
{
	size_t samples = 0, heaps = 0;
	struct heap *heap;

	for (size_t i = 0; i < k->links; i++) {
		for (int c = 0; c < 2; c++) {
			const struct envelope *e =
				&links[i].pair->cloud[c].envelope;

			heaps += e->num;
			for (size_t b = 0; b < e->num; b++)
				samples += e->bin[b].corners;
		}
	}
	k->side = calloc(2 * k->links, sizeof(*k->side));
	k->sample = malloc((samples + 1) * sizeof(*k->sample));
	heap = malloc((heaps + 1) * sizeof(*heap));
	if (!k->side || !k->sample || !heap) {
		free(heap);
		return -ENOMEM;
	}
	for (size_t i = 0; i < k->links; i++) {
		for (int s = 0; s < 2; s++) {
			/* What host[0] sent is above the clock of host[0] .. */
			int cloud = links[i].first ? s : !s;
			struct side *side = &k->side[2 * i + (size_t)s];

			side->heap = heap;
			gather_side(k, &links[i], cloud, side);
			heap += side->heaps;
		}
	}
	return 0;
}

static void release(struct track *k)
{
	if (k->side)
		free(k->side[0].heap);
	free(k->side);
	free(k->sample);
	free(k->rough_t);
	free(k->rough_y);
	spline_free(&k->best);
}

/* ---- the rough middle -------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), by_value);
	return v[n / 2];
}

static double rough_at(const struct track *k, double t)
{
	size_t lo = 0, hi = k->rough;

	if (k->best.coefs)
		return spline_at(&k->best, t);
	if (hi < 2)
		return hi ? k->rough_y[0] : 0;
	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;

		if (k->rough_t[mid] <= t)
			lo = mid;
		else
			hi = mid;
	}
	if (lo + 1 == k->rough)
		lo--;
	return k->rough_y[lo] + (k->rough_y[lo + 1] - k->rough_y[lo]) *
	       (t - k->rough_t[lo]) / (k->rough_t[lo + 1] - k->rough_t[lo]);
}

/* The innermost point of a bin, beyond a middle line, outward positive. */
static double inner(const struct track *k, const struct heap *h, int s,
		    bool beyond)
{
	double least = HUGE_VAL;

	for (uint32_t i = 0; i < h->samples; i++) {
		const struct sample *p = &k->sample[h->first + i];
		double y = p->y - (beyond ? rough_at(k, p->t) : 0);

		least = fmin(least, s == ABOVE ? y : -y);
	}
	return least;
}

/* Half-way between the medians of both directions of the busiest link. */
static bool middle_of_window(const struct track *k, size_t *at, double end,
			     double *buffer, double *y)
{
	size_t busiest = 0;

	for (size_t i = 0; i < k->links; i++) {
		double m[2];
		size_t n[2];

		for (int s = 0; s < 2; s++) {
			const struct side *side = &k->side[2 * i + (size_t)s];
			size_t *a = &at[2 * i + (size_t)s];

			n[s] = 0;
			for (; *a < side->heaps && side->heap[*a].t < end; ++*a)
				if (side->heap[*a].samples)
					buffer[n[s]++] = inner(k,
						&side->heap[*a], s, false);
			if (n[s])
				m[s] = median(buffer, n[s]);
		}
		if (n[0] && n[1] && (n[0] < n[1] ? n[0] : n[1]) > busiest) {
			busiest = n[0] < n[1] ? n[0] : n[1];
			*y = (m[ABOVE] - m[BELOW]) / 2;
		}
	}
	return busiest;
}

/* Room for a number of each heap of any side. */
static double *buffer_for_heaps(const struct track *k)
{
	size_t most = 0;

	for (size_t i = 0; i < 2 * k->links; i++)
		if (k->side[i].heaps > most)
			most = k->side[i].heaps;
	return malloc((most + 1) * sizeof(double));
}

static int rough_middle(struct track *k)
{
	size_t *at = calloc(2 * k->links, sizeof(*at));
	double *buffer = buffer_for_heaps(k);

	free(k->rough_t);
	free(k->rough_y);
	k->rough_t = malloc(WINDOWS * sizeof(double));
	k->rough_y = malloc(WINDOWS * sizeof(double));
	k->rough = 0;
	if (!at || !buffer || !k->rough_t || !k->rough_y) {
		free(at);
		free(buffer);
		return -ENOMEM;
	}
	for (int w = 0; w < WINDOWS; w++) {
		double width = k->span / WINDOWS;

		if (middle_of_window(k, at, width * (w + 1), buffer,
				     &k->rough_y[k->rough]))
			k->rough_t[k->rough++] = width * (w + 0.5);
	}
	free(at);
	free(buffer);
	return 0;
}

/*
 * The mean delay beyond the smallest, of those near the smallest: the lowest of
 * n exponential delays is itself exponential with a mean of 1/n of theirs, and
 * its median deviation 0.4812 of that.
 */
static double mean_delay(const struct track *k, const struct side *side, int s,
			 double *buffer)
{
	double middle, n;
	size_t num = 0;

	for (size_t i = 0; i < side->heaps; i++)
		if (side->heap[i].samples)
			buffer[num++] = inner(k, &side->heap[i], s, true);
	if (!num)
		return 1;
	n = (double)side->messages / (double)num;
	middle = median(buffer, num);
	for (size_t i = 0; i < num; i++)
		buffer[i] = fabs(buffer[i] - middle);
	return fmax(median(buffer, num) * n / 0.4812, 1);
}

/* Forget points that lie inward of everything around them: no real message. */
static void drop_outliers(struct track *k, struct side *side, int s,
			  double *buffer)
{
	double near[2 * NEIGHBOURS + 1];
	double scatter = mean_delay(k, side, s, buffer) * 0.4812 *
			 (double)side->heaps / (double)(side->messages + 1);

	for (size_t i = 0; i < side->heaps; i++)
		buffer[i] = inner(k, &side->heap[i], s, true);
	for (size_t i = 0; i < side->heaps; i++) {
		struct heap *h = &side->heap[i];
		size_t from = i > NEIGHBOURS ? i - NEIGHBOURS : 0, n = 0;
		double limit;

		for (size_t j = from; j < side->heaps && j <= i + NEIGHBOURS; j++)
			near[n++] = buffer[j];
		limit = median(near, n) - OUTLIER * fmax(scatter, 1);
		if (buffer[i] >= limit)
			continue;
		for (uint32_t j = 0; j < h->samples;) {
			struct sample *p = &k->sample[h->first + j];
			double y = p->y - rough_at(k, p->t);

			if ((s == ABOVE ? y : -y) >= limit) {
				j++;
				continue;
			}
			*p = k->sample[h->first + --h->samples];
		}
	}
}

static int clean(struct track *k, bool outliers)
{
	double *buffer = buffer_for_heaps(k);

	if (!buffer)
		return -ENOMEM;
	for (size_t i = 0; i < 2 * k->links; i++) {
		if (outliers)
			drop_outliers(k, &k->side[i], (int)(i & 1), buffer);
		k->side[i].mean = mean_delay(k, &k->side[i], (int)(i & 1),
					     buffer);
	}
	free(buffer);
	return 0;
}

/* ---- one number of pieces ---------------------------------------------- */

/* What walls are needed for: breaks make pieces, too. */
static size_t parts(const struct track *k, size_t pieces)
{
	return pieces + k->course->num_breaks;
}

static int fit_new(struct fit *f, const struct track *k, size_t pieces,
		   int times)
{
	memset(f, 0, sizeof(*f));
	f->stiffness = FIT_FLEXIBLE;
	f->pairs = k->links;
	if (spline_new(&f->curve, 0, k->span, pieces, k->course->breaks,
		       k->course->num_breaks, times))
		return -ENOMEM;
	f->margin = calloc(3 * k->links, sizeof(double));
	f->push = calloc(f->curve.coefs, sizeof(double));
	f->wall_room = 2 * k->links * (parts(k, pieces) * SLOTS + 1) * KEEP;
	f->wall = malloc(f->wall_room * sizeof(*f->wall));
	if (!f->margin || !f->push || !f->wall)
		return -ENOMEM;
	f->soft = f->margin + k->links;
	f->push_margin = f->soft + k->links;
	return 0;
}

static void fit_free(struct fit *f)
{
	spline_free(&f->curve);
	free(f->margin);
	free(f->push);
	free(f->wall);
	memset(f, 0, sizeof(*f));
}

/* Is t nearer to a break than that? */
static bool guarded(const struct course *c, double t, double guard)
{
	size_t lo = 0, hi = c->num_breaks;

	if (guard <= 0)
		return false;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (c->breaks[mid] < t)
			lo = mid + 1;
		else
			hi = mid;
	}
	return (lo < c->num_breaks && c->breaks[lo] - t < guard) ||
	       (lo > 0 && t - c->breaks[lo - 1] < guard);
}

static void set_pushes(struct fit *f, const struct track *k, size_t pieces,
		       double guard)
{
	for (size_t i = 0; i < 2 * k->links; i++) {
		const struct side *side = &k->side[i];
		double dense = (double)side->messages /
			       (double)parts(k, pieces);
		double soft = SOFTNESS * side->mean / fmax(dense, 1);

		/* The busier direction says how sharp the walls are. */
		if (!(i & 1) || soft < f->soft[i / 2])
			f->soft[i / 2] = fmax(soft, FLOOR);
		for (size_t j = 0; j < side->heaps; j++) {
			const struct heap *h = &side->heap[j];
			double force = (double)h->messages / side->mean;
			struct place p;

			if (guarded(k->course, h->t, guard))
				continue;
			p = spline_place(&f->curve, h->t);
			f->push_margin[i / 2] += force;
			if (i & 1)
				force = -force;
			for (size_t b = 0; b < 4; b++)
				f->push[p.first + b] += force * p.basis[b];
		}
	}
}

/* The lowest points of every slot, beyond the given curve, become walls. */
static void set_walls(struct fit *f, const struct track *k, size_t slots,
		      const struct spline *beyond, double guard)
{
	f->walls = 0;
	for (size_t i = 0; i < 2 * k->links; i++) {
		const struct side *side = &k->side[i];
		size_t slot = 0;
		double low[KEEP];
		int kept = 0;

		for (size_t j = 0; j < side->heaps; j++) {
			const struct heap *h = &side->heap[j];
			size_t s = (size_t)fmax(h->t / k->span * (double)slots, 0);

			if (s != slot) {
				slot = s;
				kept = 0;
			}
			for (uint32_t n = 0; n < h->samples; n++) {
				const struct sample *p = &k->sample[h->first + n];
				double y = p->y - (beyond ? spline_at(beyond, p->t) :
						   rough_at(k, p->t));
				int at;

				if (i & 1)
					y = -y;
				if (guarded(k->course, p->t, guard))
					continue;
				for (at = 0; at < kept && low[at] <= y; at++)
					;
				if (at == KEEP ||
				    (kept < KEEP && f->walls == f->wall_room))
					continue;
				if (kept < KEEP) {
					kept++;
					f->walls++;
				}
				for (int m = kept - 1; m > at; m--) {
					low[m] = low[m - 1];
					f->wall[f->walls - (size_t)(kept - m)] =
						f->wall[f->walls - (size_t)(kept - m) - 1];
				}
				low[at] = y;
				f->wall[f->walls - (size_t)(kept - at)] =
					(struct wall){
						.place = spline_place(&f->curve,
								      p->t),
						.y = p->y,
						.pair = (uint32_t)(i / 2),
						.side = (uint8_t)(i & 1),
					};
			}
		}
	}
}

/* From soft walls to those that are wanted. */
static int harden(struct fit *f, double residual, double *cost)
{
	double stretch = 1;
	int ret = 0;

	for (size_t i = 0; i < f->pairs; i++)
		stretch = fmax(stretch, residual / f->soft[i]);
	stretch = fmin(stretch, 16);
	for (; stretch > 1 && !ret; stretch /= 4)
		ret = fit_solve(f, stretch, 3, cost);
	return ret ? ret : fit_solve(f, 1, 40, cost);
}

/* Fit with a number of pieces; 0 pieces: a straight line. */
static int fit_pieces(struct track *k, struct fit *f, size_t pieces,
		      double *residual, double *cost)
{
	size_t n = pieces ? pieces : 1;
	int ret = fit_new(f, k, n, 3);

	if (ret)
		return ret;
	if (!pieces)
		f->stiffness = FIT_STRAIGHT;
	set_pushes(f, k, n, 0);
	set_walls(f, k, parts(k, n) * SLOTS, NULL, 0);
	ret = fit_start(f, residual);
	if (ret || !cost)
		return ret;
	ret = harden(f, *residual, cost);
	if (ret)
		return ret;
	/* Once more, with the points that are lowest beyond this curve. */
	set_walls(f, k, parts(k, n) * SLOTS, &f->curve, 0);
	return fit_solve(f, 1, 40, cost);
}

/* ---- how many pieces, and where are breaks? ---------------------------- */

static size_t most_pieces(const struct track *k)
{
	uint64_t n = k->messages[0] > k->messages[1] ? k->messages[0] :
						       k->messages[1];

	return n / 16 < MAX_PIECES ? (size_t)(n / 16) : MAX_PIECES;
}

/*
 * Below how many pieces need not be tried? Least squares are quick and show
 * where the curve begins to follow.
 */
static int first_pieces(struct track *k, size_t *first)
{
	double residual[32], least = HUGE_VAL;
	int n = 0, ret = 0;

	for (size_t p = 0; p <= most_pieces(k) && n < 32; p = p ? 2 * p : 1) {
		struct fit f;

		ret = fit_pieces(k, &f, p, &residual[n], NULL);
		fit_free(&f);
		if (ret)
			return ret;
		least = fmin(least, residual[n]);
		if (residual[n++] > 20 * least)
			break;
	}
	*first = 0;
	for (int i = 0; i < n; i++, *first = *first ? 2 * *first : 1)
		if (residual[i] <= 8 * least + 1000)
			break;
	return 0;
}

static int choose_pieces(struct track *k)
{
	size_t p = 0, worse = 0;
	int ret = first_pieces(k, &p);

	/* Between breaks, too, the curve may bend. */
	while (p < k->course->num_breaks)
		p = p ? 2 * p : 1;
	k->score = HUGE_VAL;
	for (; !ret && p <= most_pieces(k) && worse < 2; p = p ? 2 * p : 1) {
		double residual, cost, score;
		struct fit f;

		ret = fit_pieces(k, &f, p, &residual, &cost);
		if (ret) {
			fit_free(&f);
			break;
		}
		score = cost + PRICE * (p ? (double)f.curve.coefs :
					2.0 + (double)k->course->num_breaks);
		if (score < k->score) {
			k->score = score;
			k->pieces = p;
			spline_free(&k->best);
			k->best = f.curve;
			f.curve = (struct spline){ 0 };
			worse = 0;
		} else {
			worse++;
		}
		fit_free(&f);
	}
	return ret;
}

/* Places where the slope changes far more, and faster, than elsewhere. */
static int find_breaks(struct track *k, size_t *found)
{
	struct course *c = k->course;
	size_t n = 2 * k->pieces, known = 0, num = c->num_breaks;
	double d = k->span / (double)(k->pieces ? k->pieces : 1);
	double *jump, *size, *breaks, limit, noise;
	uint64_t messages = k->messages[0] + k->messages[1];

	*found = 0;
	if (k->pieces < 16 || num >= MAX_BREAKS)
		return 0;
	jump = calloc(n + 1, sizeof(*jump));
	size = calloc(n + 1, sizeof(*size));
	breaks = malloc((num + n + 1) * sizeof(*breaks));
	if (!jump || !size || !breaks) {
		free(jump);
		free(size);
		free(breaks);
		return -ENOMEM;
	}
	for (size_t i = 4; i + 4 <= n; i++) {
		double t = (double)i * d / 2;

		if (guarded(c, t, 2.5 * d))
			continue;
		/* Between the slopes of the pieces to the right and left. */
		jump[i] = fabs(spline_at(&k->best, t + 1.5 * d) -
			       spline_at(&k->best, t + d) -
			       spline_at(&k->best, t - d) +
			       spline_at(&k->best, t - 1.5 * d)) / (d / 2);
		size[known++] = jump[i];
	}
	/* Twice the scatter of the curve, over the distance of the slopes. */
	noise = 8 * k->side[0].mean * (double)k->pieces / (double)messages / d;
	limit = known ? fmax(5 * median(size, known), 6 * noise) : HUGE_VAL;
	for (size_t i = 0; i < num; i++)
		breaks[i] = c->breaks[i];
	for (size_t i = 4; i + 4 <= n && num < MAX_BREAKS; i++) {
		bool top = jump[i] >= limit;

		/* One break is seen over three pieces. */
		for (size_t j = i > 6 ? i - 6 : 0; top && j <= i + 6 && j <= n;
		     j++)
			top = jump[j] < jump[i] || j == i ||
			      (jump[j] == jump[i] && j > i);
		if (top) {
			breaks[num++] = (double)i * d / 2;
			++*found;
		}
	}
	free(jump);
	free(size);
	qsort(breaks, num, sizeof(*breaks), by_value);
	free(c->breaks);
	c->breaks = breaks;
	c->num_breaks = num;
	return 0;
}

/* The instants of breaks: where the curves from both sides meet. */
static int place_breaks(struct track *k, double guard)
{
	struct course *c = k->course;
	double d = k->finest, residual, cost, h, noise;
	size_t pieces = (size_t)(k->span / d / 30), kept = 0;
	struct fit f;
	int ret;

	if (pieces < 8)
		pieces = 8;
	ret = fit_new(&f, k, pieces, 4);
	if (!ret) {
		set_pushes(&f, k, pieces, guard * d);
		set_walls(&f, k, parts(k, pieces) * SLOTS, NULL, guard * d);
		ret = fit_start(&f, &residual);
	}
	if (!ret)
		ret = harden(&f, residual, &cost);
	if (ret) {
		fit_free(&f);
		return ret;
	}
	h = k->span / (double)pieces / 100;
	/* Of a slope between two breaks. */
	noise = 8 * k->side[0].mean * (double)parts(k, pieces) *
		(double)parts(k, pieces) / k->span /
		(double)(k->messages[0] + k->messages[1]);
	for (size_t i = 0; i < c->num_breaks; i++) {
		double t = c->breaks[i], e = h * 1e-3;
		double left = spline_at(&f.curve, t - e);
		double right = spline_at(&f.curve, t + e);
		double bend = (left - spline_at(&f.curve, t - e - h)) / h -
			      (spline_at(&f.curve, t + e + h) - right) / h;
		double move = (right - left) / bend;

		if (!(fabs(bend) > 6 * noise && fabs(move) < 3 * d))
			continue;
		c->breaks[kept] = fmin(fmax(t + move, d), k->span - d);
		if (!kept || c->breaks[kept] - c->breaks[kept - 1] > d)
			kept++;
	}
	fit_free(&f);
	c->num_breaks = kept;
	qsort(c->breaks, c->num_breaks, sizeof(*c->breaks), by_value);
	return 0;
}

/* Straight is what the medians of the slopes and of the middle line say. */
static int straighten(struct track *k)
{
	size_t n = k->rough, half = n / 2;
	double *v = malloc((n + 1) * sizeof(*v)), slope = 0, offset;

	if (!v)
		return -ENOMEM;
	for (size_t i = 0; i + half < n && half; i++)
		v[i] = (k->rough_y[i + half] - k->rough_y[i]) /
		       (k->rough_t[i + half] - k->rough_t[i]);
	if (half)
		slope = median(v, n - half);
	for (size_t i = 0; i < n; i++)
		v[i] = k->rough_y[i] - slope * k->rough_t[i];
	offset = n ? median(v, n) : 0;
	free(v);
	for (size_t i = 0; i < k->samples; i++)
		k->sample[i].y -= offset + slope * k->sample[i].t;
	for (size_t i = 0; i < n; i++)
		k->rough_y[i] -= offset + slope * k->rough_t[i];
	k->course->skew += slope;
	k->course->offset += (int64_t)floor(offset);
	k->course->rest += offset - floor(offset);
	return 0;
}

static int follow(struct track *k)
{
	int ret = rough_middle(k);
	size_t found;

	/* A second time, as a window's median is blurred where it is steep. */
	if (!ret)
		ret = straighten(k);
	if (!ret)
		ret = rough_middle(k);
	if (!ret)
		ret = clean(k, true);
	for (int round = 0; !ret && round < ROUNDS; round++) {
		ret = choose_pieces(k);
		if (!ret)
			ret = find_breaks(k, &found);
		if (ret || !found)
			break;
		k->finest = fmin(k->finest, k->span / (double)k->pieces);
		for (int i = 0; !ret && i < 2; i++)
			ret = place_breaks(k, i ? 0.5 : 1.5);
		/* With a curve at hand, the mean delays are known better. */
		if (!ret)
			ret = clean(k, false);
	}
	return ret;
}

int track(struct course *c, const struct link *links, size_t num_links)
{
	struct track k = { .course = c, .links = num_links,
			   .span = (double)(c->to - c->from),
			   .finest = HUGE_VAL };
	int ret;

	for (size_t i = 0; i < num_links; i++) {
		const struct cloud *cloud = links[i].pair->cloud;

		k.messages[ABOVE] += cloud[!links[i].first].num;
		k.messages[BELOW] += cloud[links[i].first].num;
	}
	if (k.span <= 0 || k.messages[ABOVE] < MIN_MESSAGES ||
	    k.messages[BELOW] < MIN_MESSAGES)
		return 0;
	spline_free(&c->curve);
	c->num_breaks = 0;
	/* A line by hulls is at the mercy of one wrong message: begin anew. */
	c->offset = 0;
	c->rest = 0;
	c->skew = 0;
	ret = gather(&k, links);
	if (!ret)
		ret = follow(&k);
	if (!ret) {
		c->curve = k.best;
		k.best = (struct spline){ 0 };
	}
	release(&k);
	return ret;
}
