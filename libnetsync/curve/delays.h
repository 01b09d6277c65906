/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Delays as they bear on a fit: the mean excess delay (beyond the minimum) of
 * each direction, and where the minimum delay is not stationary. While machines
 * are busy, or idle and slow to wake up, not one message is as quick as others
 * are later; the minimum then says little of the clock, and what is known best
 * is the middle between both directions.
 */
#ifndef NETSYNC_CURVE_DELAYS_H
#define NETSYNC_CURVE_DELAYS_H

#include "curve/observations.h"

/* Set the mean excess delay of each direction: 0 or -ENOMEM. */
int delays_set_means(struct observations *p);

/*
 * Set excess and excess_error of all bins: 1 where the minimum delay is
 * non-stationary, 0 where it is not, or -ENOMEM. An excess in one direction
 * alone is not told from half of it in both, and so is as uncertain as it is
 * large. @drift: largest drift of the clock, 1 / ns: where messages are so few
 * that windows are long, the clock itself may have caused it.
 */
int delays_find_minima(struct observations *p, double drift);

/*
 * Set the softness of the edge, of one link: 0 or -ENOMEM. The lowest of n exponential
 * delays is within mean / n of the smallest one; but where stamps differ more than that
 * (those of processors whose clocks differ), or few delays are near the smallest, it
 * scatters so many times more. @intervals: how many messages n are together.
 */
int delays_soften(struct observations *p, size_t intervals);

#endif
