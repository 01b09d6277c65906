/* SPDX-License-Identifier: GPL-2.0-only */
/* The life of TCP and UDP sockets. */
#ifndef NETSYNC_SOCKET_H
#define NETSYNC_SOCKET_H

/* Calls that were not seen since the module is loaded. */
unsigned long netsync_sockets_missed(void);

#endif /* NETSYNC_SOCKET_H */
