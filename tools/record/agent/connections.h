/* SPDX-License-Identifier: GPL-2.0-only */
/* The TCP connections of this machine, as the kernel knows them. */
#ifndef NETSYNC_AGENT_CONNECTIONS_H
#define NETSYNC_AGENT_CONNECTIONS_H

#include <stdint.h>

#include <linux/inet_diag.h>
#include <linux/tcp.h>

typedef void (*connection_func)(void *data, const struct inet_diag_msg *msg,
				const struct tcp_info *info);

/*
 * Call @found for each established connection between a local port and a remote port. 0 stands
 * for any port.
 */
void connections_find(uint16_t near_port, uint16_t far_port, connection_func found, void *data);

#endif
