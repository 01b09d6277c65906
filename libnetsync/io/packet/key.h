/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compute a 64-bit key of a packet event. The key is equal in all records of the packet. */
#ifndef NETSYNC_IO_KEY_H
#define NETSYNC_IO_KEY_H

#include "netsync.h"

/* Hash the fields that no router changes, including addresses and ports. */
uint64_t packet_compute_key(const struct netsync_packet *pkt);
/*
 * Hash only the fields that address translation (NAT) does not change. If there are too few such
 * fields, return 0.
 */
uint64_t packet_compute_nat_key(const struct netsync_packet *pkt);

#endif
