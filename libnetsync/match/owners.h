/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which host has an address, as far as events show it: of what goes out it is
 * the source, of what comes in the destination. It says to which pair an event
 * belongs that found no counterpart. An address that several hosts have, or
 * forward for, is nobody's.
 */
#ifndef NETSYNC_MATCH_OWNERS_H
#define NETSYNC_MATCH_OWNERS_H

#include <stdint.h>

struct address_owners {
	struct address_owner *slot; /* hash table by digest; NULL: none yet */
};

void owners_release(struct address_owners *owners);

/* Make room: 0 or -ENOMEM. Before all that follows. */
int owners_init(struct address_owners *owners);

/* A host was seen under an address (of which this is a digest). */
void owners_learn(struct address_owners *owners, uint32_t host,
		  uint32_t address);

/* Whose address is it? A host, or NO_PEER. */
uint32_t owners_find(const struct address_owners *owners, uint32_t address);

#endif
