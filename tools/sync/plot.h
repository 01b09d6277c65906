/* SPDX-License-Identifier: GPL-2.0-only */
/* Delays of messages as a picture of characters. */
#ifndef NETSYNC_PLOT_H
#define NETSYNC_PLOT_H

#include "common/spool.h"

/*
 * Print the one-way delays of the messages in @spool over time, before and after
 * the correction by @ns, as wide as the terminal is: of some pairs of hosts, the
 * busiest. False: it could not be, and that was said.
 */
bool plot_delays(FILE *out, const struct netsync *ns, struct spool *spool);

#endif
