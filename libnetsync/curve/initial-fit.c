// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * How flexible the curve is comes from the data: it is fitted with ever more
 * pieces, and the number wins at which the likelihood no longer grows by more
 * than the new coefficients are worth (H. Akaike, "A new look at the
 * statistical model identification", 1974).
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "curve/initial-fit.h"

#define MAX_PIECES 8192
#define FEW_HEAPS 2		/* that a piece has */
#define SLOTS 16		/* of each piece: the lowest points are kept */
#define KEEP 2			/* points of a slot */
#define PRICE 3.0		/* of a coefficient, in log likelihood */
#define BEND 8.0		/* coefficients: what it costs not to be straight */
#define SOFTNESS 0.3		/* of walls, in mean / number of messages */
#define FLOOR 0.1		/* ns: walls are not harder than that */
#define RESTARTS 3
#define FINEST ((size_t)1 << 14)	/* parts that are looked at first */
#define SOFTEST 16		/* how much softer walls are at first */
#define NEAR 2.0
#define SECOND 1e9
/* How far a rate wanders in a second, as a part of how fast it can change. */
#define WANDER 0.5

double pieces_best_at(void *track, double t)
{
	struct track *k = track;

	return k->best.coefs ? spline_at(&k->best, t) : rough_at(&k->rough, t);
}

/* See all points beyond a curve; beyond the rough one if there is none. */
void pieces_look(struct track *k, const struct spline *s)
{
	struct spline_reader reader;

	if (s->coefs) {
		spline_read(&reader, s);
		points_look(&k->points, spline_read_at, &reader);
	} else {
		points_look(&k->points, rough_at, &k->rough);
	}
}

/* Of the direction that has fewer. */
size_t pieces_heaps(const struct track *k)
{
	size_t heaps[2] = { 1, 1 };

	for (size_t i = 0; i < 2 * k->points.links; i++)
		heaps[i & 1] += k->points.side[i].heaps;
	return heaps[0] < heaps[1] ? heaps[0] : heaps[1];
}

/* ---- one number of pieces ---------------------------------------------- */

/* What walls are needed for: breaks make pieces, too. */
static size_t parts(const struct track *k, size_t pieces)
{
	return pieces + k->course->num_breaks;
}

/* Do the curves on either side of a break know nothing of each other? */
static bool parted(const struct track *k, const struct brk *b)
{
	return b->jump || (k->apart && !b->settled);
}

static int new_curve(struct spline *s, const struct track *k, size_t pieces)
{
	const struct course *c = k->course;
	struct spline_break *b = malloc((c->num_breaks + 1) * sizeof(*b));
	int ret;

	if (!b)
		return -ENOMEM;
	for (size_t i = 0; i < c->num_breaks; i++)
		b[i] = (struct spline_break){
			.t = c->breaks[i].t,
			.times = parted(k, &c->breaks[i]) ? 4 : 3,
		};
	ret = spline_new(s, 0, k->points.span, pieces, b, c->num_breaks);
	free(b);
	return ret;
}

static int fit_new(struct fit *f, const struct track *k, size_t pieces)
{
	size_t links = k->points.links;

	memset(f, 0, sizeof(*f));
	f->wander = WANDER * k->drift * SECOND;
	f->pairs = links;
	if (new_curve(&f->curve, k, pieces))
		return -ENOMEM;
	f->margin = calloc(3 * links, sizeof(double));
	f->push = calloc((links + 1) * f->curve.coefs, sizeof(double));
	/* Heaps at a knot may take turns: have something in reserve. */
	f->wall_room = 2 * links * KEEP * (parts(k, pieces) + 1) * (SLOTS + 1);
	f->wall = malloc(f->wall_room * sizeof(*f->wall));
	if (!f->margin || !f->push || !f->wall)
		return -ENOMEM;
	f->crowd = f->push + f->curve.coefs;
	f->soft = f->margin + links;
	f->push_margin = f->soft + links;
	return 0;
}

void pieces_free(struct fit *f)
{
	spline_free(&f->curve);
	free(f->margin);
	free(f->push);
	free(f->wall);
	memset(f, 0, sizeof(*f));
}

/* Is it unknown on which side of a break that is? */
static bool astride(const struct track *k, double t)
{
	const struct course *c = k->course;
	size_t lo = course_breaks_before(c, t);

	for (size_t i = lo ? lo - 1 : 0; i <= lo && i < c->num_breaks; i++)
		if (parted(k, &c->breaks[i]) &&
		    fabs(c->breaks[i].t - t) < c->breaks[i].within)
			return true;
	return false;
}

/* Heaps that reach across a break press neither side. */
static bool heap_astride(const struct track *k, const struct heap *h)
{
	bool any = !h->samples || astride(k, h->t);

	for (uint32_t n = 0; n < h->samples && !any; n++)
		any = astride(k, k->points.sample[h->first + n].t);
	return any;
}

static void set_pushes(struct fit *f, const struct track *k, size_t pieces)
{
	double *crowd = f->crowd;

	memset(f->push, 0, f->curve.coefs * sizeof(*f->push));
	memset(f->push_margin, 0, k->points.links * sizeof(*f->push_margin));
	memset(crowd, 0, k->points.links * f->curve.coefs * sizeof(*crowd));
	for (size_t i = 0; i < 2 * k->points.links; i++) {
		const struct side *side = &k->points.side[i];
		double dense = (double)side->messages /
			       (double)parts(k, pieces);
		/* No more push than walls can hold that are not hard at all. */
		double mean = fmax(side->mean, FLOOR * dense);
		/* The more links hold the curve, the less each may give. */
		double soft = SOFTNESS * mean / fmax(dense, 1) /
			      sqrt((double)k->points.links);

		/* The busier direction says how sharp the walls are. */
		if (!(i & 1) || soft < f->soft[i / 2])
			f->soft[i / 2] = fmax(soft, FLOOR);
		for (size_t j = 0; j < side->heaps; j++) {
			const struct heap *h = &side->heap[j];
			double force = (double)h->messages /
				       (mean + h->blur);
			struct place p;

			if (heap_astride(k, h))
				continue;
			p = spline_place(&f->curve, h->t);
			crowd[i / 2 * f->curve.coefs + p.first] +=
				(double)h->messages / fmax(dense, 1);
			f->push_margin[i / 2] += force;
			if (i & 1)
				force = -force;
			for (size_t b = 0; b < 4; b++)
				f->push[p.first + b] += force * p.basis[b];
		}
	}
}

/* The lowest points of a slot, so far. */
struct slot {
	size_t number;
	int kept;
	struct low {
		double y;		/* outward, above where it is expected */
		const struct sample *sample;
		const struct heap *heap;
	} low[KEEP];
};

static void look_at_heap(struct slot *slot, const struct track *k, size_t side,
			 const struct heap *h)
{
	for (uint32_t m = 0; m < h->samples; m++) {
		const struct sample *s = &k->points.sample[h->first + m];
		double y = (side & 1 ? -s->beyond : s->beyond) - h->lift;
		int at = slot->kept;

		if ((at == KEEP && y >= slot->low[KEEP - 1].y) ||
		    astride(k, s->t))
			continue;
		if (at < KEEP)
			slot->kept++;
		else
			at--;
		for (; at && slot->low[at - 1].y > y; at--)
			slot->low[at] = slot->low[at - 1];
		slot->low[at] = (struct low){ y, s, h };
	}
}

/*
 * A piece with more messages than others (bulk traffic) is pressed harder; its
 * walls are as much harder, or they would give way.
 */
static double softness(const struct fit *f, size_t pair, size_t piece)
{
	return f->soft[pair] / fmax(f->crowd[pair * f->curve.coefs + piece], 1);
}

static void add_walls(struct fit *f, size_t side, const struct slot *slot)
{
	for (int i = 0; i < slot->kept && f->walls < f->wall_room; i++) {
		const struct low *l = &slot->low[i];
		double y = l->sample->y, lift = l->heap->lift;
		struct wall *w = &f->wall[f->walls++];

		w->place = spline_place(&f->curve, l->sample->t);
		w->y = side & 1 ? y + lift : y - lift;
		w->pair = (uint32_t)(side / 2);
		w->side = (uint8_t)(side & 1);
		w->soft = fmax(softness(f, side / 2, w->place.first),
			       SOFTNESS * lift);
	}
}

/*
 * The lowest points of every slot, beyond the curve that was last looked at,
 * become walls. Each piece, however short or badly filled, has its heaps shared
 * out to as many slots.
 */
static void set_walls(struct fit *f, const struct track *k)
{
	f->walls = 0;
	for (size_t i = 0; i < 2 * k->points.links; i++) {
		const struct side *side = &k->points.side[i];
		size_t piece, next = 0, from = 0, to;

		if (side->heaps)
			next = spline_piece(&f->curve, side->heap[0].t);
		for (; from < side->heaps; from = to) {
			struct slot slot = { 0 };

			piece = next;
			for (to = from + 1; to < side->heaps; to++) {
				next = spline_piece(&f->curve, side->heap[to].t);
				if (next != piece)
					break;
			}
			for (size_t j = from; j < to; j++) {
				size_t n = (j - from) * SLOTS / (to - from);

				if (n != slot.number) {
					add_walls(f, i, &slot);
					slot = (struct slot){ .number = n };
				}
				look_at_heap(&slot, k, i, &side->heap[j]);
			}
			add_walls(f, i, &slot);
		}
	}
}

/* From soft walls to those that are wanted. */
static int harden(struct fit *f, double *cost)
{
	int ret = 0;

	for (double stretch = SOFTEST / 4; stretch > 1 && !ret; stretch /= 4)
		ret = fit_solve(f, stretch, 3, cost);
	return ret ? ret : fit_solve(f, 1, 40, cost);
}

/* In how many parts is it worth while to look at sides? */
static size_t finest(const struct track *k)
{
	uint64_t most = 1;

	for (size_t i = 0; i < 2 * k->points.links; i++)
		if (k->points.side[i].messages / ROUGH_GROUP > most)
			most = k->points.side[i].messages / ROUGH_GROUP;
	return most < FINEST ? most : FINEST;
}

/*
 * Walls that are softer than all messages together are strong do not let one
 * wrong message move the curve, and so show it.
 */
static int leave_out(struct track *k, struct fit *f, size_t pieces)
{
	size_t least = (parts(k, pieces) + 1) * SLOTS, dropped, n = finest(k);
	double cost;
	int ret = fit_solve(f, SOFTEST, 20, &cost);

	if (ret)
		return ret;
	k->dropped = 0;
	pieces_look(k, &f->curve);
	/* What is far off first, for then it does not hide what is less so. */
	do {
		ret = rough_clean(&k->points, k->course, n, &dropped);
		k->dropped += dropped;
		n /= 8;
	} while (!ret && n >= least);
	if (k->dropped)
		set_pushes(f, k, pieces);
	return ret;
}

/*
 * The middle of the points that are lowest beyond the curve that was last
 * looked at; *residual: how far walls are from it.
 */
static int start(const struct track *k, struct fit *f, size_t pieces,
		 double *residual)
{
	size_t n = pieces ? pieces : 1;
	int ret = fit_new(f, k, n);

	if (ret)
		return ret;
	f->straight = !pieces;
	set_pushes(f, k, n);
	set_walls(f, k);
	return fit_start(f, residual);
}

int pieces_fit(struct track *k, struct fit *f, size_t pieces, double *cost)
{
	double residual;
	int ret;

	pieces_look(k, &k->best);
	ret = start(k, f, pieces, &residual);
	if (!ret)
		ret = leave_out(k, f, pieces ? pieces : 1);
	if (ret)
		return ret;
	/* Twice, with the points that are lowest beyond the curve so far. */
	set_walls(f, k);
	ret = harden(f, cost);
	if (ret)
		return ret;
	pieces_look(k, &f->curve);
	set_walls(f, k);
	return fit_solve(f, 1, 40, cost);
}

/* ---- how many pieces? -------------------------------------------------- */

static size_t most_pieces(const struct track *k)
{
	const uint64_t *m = k->points.messages;
	size_t heaps = pieces_heaps(k) / FEW_HEAPS;
	uint64_t most = (m[0] < m[1] ? m[0] : m[1]) / MIN_MESSAGES;
	/*
	 * How long a clock takes to drift visibly, drift t^2 / 8 > mean / n:
	 * what bends sooner is not the clock.
	 */
	double rate = (double)(m[0] + m[1]) / k->points.span;
	double shortest = cbrt(8 * k->points.side[0].mean / k->drift / rate);

	most = most < heaps ? most : heaps;
	if ((double)most * shortest > k->points.span)
		most = (uint64_t)(k->points.span / shortest);
	return most < MAX_PIECES ? most : MAX_PIECES;
}

/* Twice as many; where breaks make pieces, fewer add little to them. */
static size_t more_pieces(const struct track *k, size_t pieces)
{
	return pieces ? 2 * pieces : 1 + k->course->num_breaks / 2;
}

/*
 * Below how many pieces need not be tried? Least squares are quick and show
 * where the curve begins to follow. *enough: where they see no more of it.
 */
static int first_pieces(struct track *k, size_t *first, size_t *enough)
{
	double residual[32], least = HUGE_VAL, scatter = 0;
	int n = 0, ret = 0;

	*first = *enough = 0;
	pieces_look(k, &k->best);
	/* Once the walls are as near as they scatter, there is no more. */
	for (size_t p = 0; p <= most_pieces(k) && n < 32 &&
	     least > NEAR * scatter; p = more_pieces(k, p)) {
		struct fit f;

		ret = start(k, &f, p, &residual[n]);
		scatter = k->points.side[0].mean * SLOTS *
			  (double)parts(k, p + 1) /
			  (double)k->points.side[0].messages;
		pieces_free(&f);
		if (ret)
			return ret;
		least = fmin(least, residual[n++]);
		*enough = p;
	}
	for (int i = 0; i < n; i++, *first = more_pieces(k, *first))
		if (residual[i] <= 8 * least + 1000)
			break;
	return 0;
}

void pieces_keep(struct track *k, struct fit *f, size_t pieces, double score)
{
	k->score = score;
	k->pieces = pieces;
	spline_free(&k->best);
	k->best = f->curve;
	f->curve = (struct spline){ 0 };
	memcpy(k->margin, f->margin, k->points.links * sizeof(*k->margin));
}

/*
 * Fit, and pieces_keep() what is better than all before: 1, else 0. -EAGAIN:
 * messages were left out, and scores are not of the same ones any more.
 */
static int try_pieces(struct track *k, size_t pieces)
{
	double score = 0;
	struct fit f;
	int ret = pieces_fit(k, &f, pieces, &score);

	score += PRICE * (pieces ? BEND + (double)f.curve.coefs :
			  2.0 + (double)k->course->num_breaks *
			  (k->apart ? 2 : 1));
	if (!ret && k->dropped && k->restarts > 0) {
		k->restarts--;
		ret = -EAGAIN;
	} else if (!ret && score < k->score) {
		pieces_keep(k, &f, pieces, score);
		ret = 1;
	}
	pieces_free(&f);
	return ret;
}

/*
 * More and more pieces, until that was not better @patience times. With few, a
 * wave is not followed at all: nothing is decided before @enough.
 */
static int climb(struct track *k, size_t pieces, size_t enough, int patience)
{
	int worse = 0, ret = 0;

	for (; ret >= 0 && worse < patience && pieces <= most_pieces(k);
	     pieces = more_pieces(k, pieces)) {
		ret = try_pieces(k, pieces);
		worse = ret ? 0 : worse + (pieces >= enough);
	}
	return ret < 0 ? ret : 0;
}

/* What was right before is nearly so again. */
static int climb_around(struct track *k, size_t pieces)
{
	int ret = climb(k, pieces, 0, 2);

	if (!ret && k->pieces == pieces) {
		do
			ret = try_pieces(k, pieces /= 2);
		while (ret > 0 && pieces);
	}
	return ret < 0 ? ret : 0;
}

int pieces_choose(struct track *k)
{
	size_t known = k->pieces, most = most_pieces(k), first, enough;
	int ret;

	k->restarts = RESTARTS;
	do {
		k->score = HUGE_VAL;
		if (known) {
			ret = climb_around(k, known < most ? known : most);
		} else {
			ret = first_pieces(k, &first, &enough);
			if (!ret)
				ret = climb(k, first, 2 * enough, 2);
		}
	} while (ret == -EAGAIN);
	return ret;
}
