/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The smallest delay of a pair is not the same all the time: while machines
 * are busy, or idle and slow to wake up, not one message is as quick as others
 * are later. Then the smallest delay tells next to nothing of the clock, and
 * what is known best is the middle between both directions.
 */
#ifndef NETSYNC_FLOORS_H
#define NETSYNC_FLOORS_H

#include "curve/observations.h"

/*
 * Find out by how much the lowest points of both directions are lifted, beyond
 * the curve, and set lift and blur of all heaps: whether there are some, or
 * -ENOMEM. What lifts one direction alone is not told from the half of it in
 * both, and so believed as little as it is large. @drift: how fast the clock's
 * rate changes by itself, 1 / ns: where messages are so few that windows are
 * long, it may be the clock.
 */
int floors_find(struct points *p, double drift);

#endif
