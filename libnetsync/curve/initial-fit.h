/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The curve of a host, with as many pieces as its messages ask for. */
#ifndef NETSYNC_PIECES_H
#define NETSYNC_PIECES_H

#include <stdbool.h>
#include <stddef.h>

#include "curve/fit.h"
#include "curve/observations.h"
#include "curve/host-fit.h"

/* So many messages of each direction, for more than a line. */
#define MIN_MESSAGES 32

struct track {
	struct course *course;
	struct points points;
	struct rough rough;
	double drift;		/* of the rate by itself, 1 / ns */
	struct spline best;	/* so far */
	double *margin;		/* of each link, with that curve */
	double score;
	size_t pieces;
	size_t dropped;		/* wrong points, by the last fit */
	int restarts;		/* that are left, because of these */
	bool apart;		/* breaks are looked at from either side */
	bool clearer;		/* delays are, since the last round */
};

/* The best curve so far, or the rough one; a curve_fn for a struct track. */
double pieces_best_at(void *track, double t);

/* See all points beyond a curve; beyond the rough one if that is none. */
void pieces_look(struct track *k, const struct spline *s);

/* Heaps of the direction that has fewer. */
size_t pieces_heaps(const struct track *k);

/*
 * Fit with a number of pieces; 0: a straight line. *cost: see fit_solve(). 0 or
 * -ENOMEM; free the fit in any case.
 */
int pieces_fit(struct track *k, struct fit *f, size_t pieces, double *cost);
void pieces_free(struct fit *f);

/* The curve of a fit becomes the best. */
void pieces_keep(struct track *k, struct fit *f, size_t pieces, double score);

/* Find the number of pieces, and the curve: 0 or -ENOMEM. */
int pieces_choose(struct track *k);

#endif
