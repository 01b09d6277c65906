/* SPDX-License-Identifier: GPL-2.0-only */
/* Print the one-way delays of messages as a picture of characters on a terminal. */
#ifndef NETSYNC_PLOT_H
#define NETSYNC_PLOT_H

#include "common/spool.h"

/*
 * Print the one-way delays of the messages in @spool over time, before and after correction by
 * @ns, for the busiest pairs of hosts, in the width of the terminal. On failure, print a
 * message and return false.
 */
bool plot_delays(FILE *out, const struct netsync *ns, struct spool *spool);

#endif
