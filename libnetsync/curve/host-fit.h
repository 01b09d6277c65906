/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A first idea of a host's curve, by medians, which wrong messages do not
 * move; and what is to be left out of a closer look.
 */
#ifndef NETSYNC_ROUGH_H
#define NETSYNC_ROUGH_H

#include "curve/observations.h"

/* So many messages are looked at as one, at least. */
#define ROUGH_GROUP 16

/* Straight lines from the middle of one window of time to the next. */
struct rough {
	double *t;
	double *y;
	size_t num;
	size_t last;		/* that was asked for: a guess */
};

/*
 * Take the course and the points to where the curve beyond it is about level,
 * and find its middle line: 0 or -ENOMEM. Release in any case.
 */
int rough_find(struct rough *r, struct points *p, struct course *c);
void rough_release(struct rough *r);

/* A curve_fn. */
double rough_at(void *rough, double t);

/*
 * Forget points that lie far inward, beyond the curve, of everything before and
 * after them: no real messages. The more messages are looked at as one, the
 * sharper is the eye, but the better the curve must be: sides are looked at in
 * so many @parts, 0: as many as possible. 0 or -ENOMEM.
 */
int rough_clean(struct points *p, const struct course *c, size_t parts,
		size_t *dropped);

/*
 * Set the mean delays of all sides, of messages near the smallest, by their
 * scatter beyond the curve: 0 or -ENOMEM.
 */
int rough_means(struct points *p);

#endif
