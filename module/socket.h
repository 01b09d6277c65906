/* SPDX-License-Identifier: GPL-2.0-only */
/* Events of TCP and UDP sockets: how many were missed. */
#ifndef NETSYNC_SOCKET_H
#define NETSYNC_SOCKET_H

/* The number of calls of probed functions that were missed since the module was loaded. */
unsigned long netsync_sockets_missed(void);

#endif /* NETSYNC_SOCKET_H */
