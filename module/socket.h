/* SPDX-License-Identifier: GPL-2.0-only */
/* Events of TCP and UDP sockets. */
#ifndef NETSYNC_SOCKET_H
#define NETSYNC_SOCKET_H

/* Return how many calls of probed functions were missed since the module was loaded. */
unsigned long netsync_sockets_missed(void);

#endif /* NETSYNC_SOCKET_H */
