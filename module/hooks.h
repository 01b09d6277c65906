/* SPDX-License-Identifier: GPL-2.0-only */
/* The netfilter hooks: packets that the local stack gets and sends. */
#ifndef NETSYNC_HOOKS_H
#define NETSYNC_HOOKS_H

#include <linux/types.h>

/*
 * Whether the hooks are attached, in every network namespace. Set before
 * netsync_hooks_init(), that attaches them, else the first use of an event.
 */
extern bool netsync_hooks;

int netsync_hooks_init(void);
void netsync_hooks_exit(void);

#endif /* NETSYNC_HOOKS_H */
