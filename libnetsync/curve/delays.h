/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Delays in a fit: the mean excess delay (beyond the minimum) of each direction, and the times at
 * which the minimum delay is not stationary. While machines are busy, or idle and slow to wake up,
 * no message is as fast as later ones. The minimum then says little about the clock; the middle
 * between both directions is known best.
 */
#ifndef NETSYNC_CURVE_DELAYS_H
#define NETSYNC_CURVE_DELAYS_H

#include "curve/observations.h"

/* Set the mean excess delay of each direction: 0 or -ENOMEM. */
int delays_set_means(struct observations *p);

/*
 * Set excess and excess_error of all bins. Return 1 if the minimum delay is non-stationary, 0 if
 * not, or -ENOMEM. An excess in one direction alone cannot be distinguished from half of it in
 * both, so its error is as large as the excess. @drift: largest drift of the clock, 1 / ns. If
 * messages are so few that windows are long, the clock itself may cause the excess.
 */
int delays_find_minima(struct observations *p, double drift);

/*
 * Set the softness of the edge of one link: 0 or -ENOMEM. The lowest of n exponential delays is
 * within mean / n of the smallest one. If stamps differ by more (those of processors whose clocks
 * differ), or if few delays are near the smallest, it scatters more, by this factor. @intervals:
 * number of knot intervals, which determines n.
 */
int delays_soften(struct observations *p, size_t intervals);

#endif
