/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A curve in the tube between walls.
 *
 * The curve is the correction of one host's clock. Every message between it
 * and a host whose clock is known puts a wall above the curve (a message that
 * the host sent) or below it (one that it received): the curve keeps away from
 * each wall by at least the smallest delay of that pair of hosts. Delays above
 * the smallest are taken to be exponential, with their own mean for each
 * direction of each pair.
 */
#ifndef NETSYNC_FIT_H
#define NETSYNC_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "curve/observations.h"
#include "curve/spline.h"

struct wall {
	struct place place;
	double y;		/* ns */
	double soft;		/* how soft it is, ns */
	/* Where the curve was last seen: */
	double strain;		/* how far beyond the wall, in softnesses */
	double fade;		/* exp(-|strain|) */
	uint32_t pair;
	uint8_t side;		/* ABOVE or BELOW */
};

struct fit {
	struct spline curve;
	double *margin;		/* smallest delay of each pair, ns */
	size_t pairs;
	struct wall *wall;
	size_t walls;
	size_t wall_room;
	double *soft;		/* of each pair: how soft its walls are, ns */
	/*
	 * How strongly all messages together press the curve upward at each
	 * coefficient, and the margins: 1 / mean excess delay for each.
	 */
	double *push;
	double *push_margin;
	double *crowd;		/* messages of a piece of each pair, in means */
	bool straight;		/* nothing but a line is wanted */
	/*
	 * A skew wanders this far (as a standard deviation) in a second, by
	 * itself: what is known of clocks before any message.
	 */
	double wander;
};

/* Start with the curve that lies in the middle of all walls: 0 or -ENOMEM. */
int fit_start(struct fit *f, double *residual);

/*
 * Find the most likely curve and margins, with walls @stretch times as soft as
 * they shall be: 0 or -ENOMEM. @cost: the negative logarithm of the likelihood.
 */
int fit_solve(struct fit *f, double stretch, int max_steps, double *cost);

#endif
