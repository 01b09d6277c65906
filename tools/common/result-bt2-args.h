/* SPDX-License-Identifier: GPL-2.0-only */
/* Write results as options for babeltrace2. */
#ifndef NETSYNC_RESULT_BT2_ARGS_H
#define NETSYNC_RESULT_BT2_ARGS_H

#include <stdbool.h>
#include <stdio.h>

#include <netsync-io.h>
#include <netsync.h>

/* Write options for babeltrace2 with a constant offset for each CTF trace. Return true. */
bool write_bt2_args(FILE *out, const struct netsync *ns, const struct netsync_io *io);
/*
 * Report which traces the options do not include, and which offsets are inaccurate. Return the exit
 * status.
 */
int explain_bt2_args(const struct netsync *ns, const struct netsync_io *io);

#endif
