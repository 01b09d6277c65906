/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Addresses -> hosts, as events show: the source of what a host sends, the destination of
 * what it receives. The owner tells the pair of an event that found no counterpart. An
 * address that several hosts have, or forward for, has no owner.
 */
#ifndef NETSYNC_MATCH_OWNERS_H
#define NETSYNC_MATCH_OWNERS_H

#include <stdbool.h>
#include <stdint.h>

struct address_owners {
	struct address_owner *slot; /* hash table by digest; NULL: none yet */
};

void owners_release(struct address_owners *owners);

/* Make room: 0 or -ENOMEM. To be called before the functions below. */
int owners_init(struct address_owners *owners);

/* Note that a host was seen under an address, given by its digest. */
void owners_learn(struct address_owners *owners, uint32_t host,
		  uint32_t address);

/* Would owners_learn() change nothing? */
bool owners_knows(const struct address_owners *owners, uint32_t host,
		  uint32_t address);

/* The host of an address, or NO_PEER. */
uint32_t owners_find(const struct address_owners *owners, uint32_t address);

#endif
