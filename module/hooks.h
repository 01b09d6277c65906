/* SPDX-License-Identifier: GPL-2.0-only */
/* Netfilter hooks at which packets of the local stack are recorded. */
#ifndef NETSYNC_HOOKS_H
#define NETSYNC_HOOKS_H

#include <linux/types.h>

/*
 * Whether the hooks are registered in every network namespace. If this is set before
 * netsync_hooks_init(), that function registers the hooks. Otherwise, the hooks are registered when
 * an event is used for the first time.
 */
extern bool netsync_hooks;

int netsync_hooks_init(void);
void netsync_hooks_exit(void);

#endif /* NETSYNC_HOOKS_H */
