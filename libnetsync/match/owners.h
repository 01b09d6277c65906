/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Learn from events which hosts own which addresses. A host owns the source address of a packet
 * that it sends, and the destination address of a packet that it receives. If an event has no
 * counterpart, the owner of the other address identifies the event's pair. An address that several
 * hosts have, or forward for, has no owner.
 */
#ifndef NETSYNC_MATCH_OWNERS_H
#define NETSYNC_MATCH_OWNERS_H

#include <stdbool.h>
#include <stdint.h>

struct address_owners {
	struct address_owner *slot; /* hash table by digest, or NULL if not allocated yet */
};

void owners_release(struct address_owners *owners);

/* Allocate the table. Return 0 or -ENOMEM. Call this before the functions below. */
int owners_init(struct address_owners *owners);

/* Learn that a host uses an address, given by its digest. */
void owners_learn(struct address_owners *owners, uint32_t host, uint32_t address);

/* Return whether the owner is already known, so that owners_learn() would change nothing. */
bool owners_contain_address(const struct address_owners *owners, uint32_t host, uint32_t address);

/* Return the host that owns an address, or NO_PEER. */
uint32_t owners_find(const struct address_owners *owners, uint32_t address);

#endif
