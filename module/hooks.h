/* SPDX-License-Identifier: GPL-2.0-only */
/* The netfilter hooks at which packets of the local stack are recorded. */
#ifndef NETSYNC_HOOKS_H
#define NETSYNC_HOOKS_H

#include <linux/types.h>

/*
 * True if the hooks are registered, in every network namespace. If set before
 * netsync_hooks_init(), the hooks are registered there; otherwise, at the first use of an
 * event.
 */
extern bool netsync_hooks;

int netsync_hooks_init(void);
void netsync_hooks_exit(void);

#endif /* NETSYNC_HOOKS_H */
