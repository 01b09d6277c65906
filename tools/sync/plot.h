/* SPDX-License-Identifier: GPL-2.0-only */
/* Plot the one-way delays of messages with characters on a terminal. */
#ifndef NETSYNC_PLOT_H
#define NETSYNC_PLOT_H

#include "common/spool.h"

/*
 * Plot the one-way delays of the messages in @spool over time for the busiest pairs of hosts,
 * before and after correction by @ns. The plot is as wide as the terminal. On failure, print a
 * message and return false.
 */
bool plot_delays(FILE *out, const struct netsync *ns, struct spool *spool);

#endif
