/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef NETSYNC_IO_KEY_H
#define NETSYNC_IO_KEY_H

#include "netsync.h"

/* What is the same wherever a packet is seen, addresses included. */
uint64_t packet_key(const struct netsync_packet *pkt);
/* Behind a translation of addresses, too; 0: there is nothing like that in it. */
uint64_t packet_key_inside(const struct netsync_packet *pkt);

#endif
