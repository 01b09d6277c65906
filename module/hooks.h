/* SPDX-License-Identifier: GPL-2.0-only */
/* The netfilter hooks that events are made in, there only while needed. */
#ifndef NETSYNC_HOOKS_H
#define NETSYNC_HOOKS_H

int netsync_hooks_init(void);
void netsync_hooks_exit(void);

/*
 * Put the names of the events whose hooks stand in all network namespaces,
 * separated by commas and ended by a newline, into a page. Return: the length.
 */
int netsync_hooks_show(char *page);

/*
 * Called with the first user of an event and after its last one. The hooks
 * follow a little later.
 */
int netsync_reg_sock_local_in(void);
void netsync_unreg_sock_local_in(void);
int netsync_reg_sock_local_out(void);
void netsync_unreg_sock_local_out(void);

#endif /* NETSYNC_HOOKS_H */
