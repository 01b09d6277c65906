// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>

#include "match/owners.h"
#include "match/ring.h"

/*
 * Number of slots for addresses, and number of slots in which a search looks. If no slot is free
 * for an address, its owner is not known. An unknown owner changes counts, but no match. Chosen.
 */
#define OWNER_SLOTS 16384
#define OWNER_PROBES 8
/* Stored in place of a host's number for an address that several hosts have or forward for. */
#define SHARED (NO_PEER - 1)

struct address_owner {
	uint32_t digest;
	uint32_t owner; /* number of the host plus 1, or 0 if the slot is free */
};

void owners_release(struct address_owners *owners)
{
	free(owners->slot);
	owners->slot = NULL;
}

int owners_init(struct address_owners *owners)
{
	if (!owners->slot)
		owners->slot = calloc(OWNER_SLOTS, sizeof(*owners->slot));
	return owners->slot ? 0 : -ENOMEM;
}

static struct address_owner *find_owner_slot(const struct address_owners *owners, uint32_t digest)
{
	for (uint32_t i = 0; i < OWNER_PROBES; i++) {
		struct address_owner *a = &owners->slot[(digest + i) % OWNER_SLOTS];

		if (!a->owner || a->digest == digest)
			return a;
	}
	return NULL;
}

bool owners_contain_address(const struct address_owners *owners, uint32_t host, uint32_t address)
{
	const struct address_owner *a = find_owner_slot(owners, address);

	return !a || a->owner == host + 1 || a->owner == SHARED + 1;
}

void owners_learn(struct address_owners *owners, uint32_t host, uint32_t address)
{
	struct address_owner *a = find_owner_slot(owners, address);

	if (!a || a->owner == host + 1)
		return;
	a->digest = address;
	a->owner = a->owner ? SHARED + 1 : host + 1;
}

uint32_t owners_find(const struct address_owners *owners, uint32_t address)
{
	const struct address_owner *a = find_owner_slot(owners, address);

	return a && a->owner && a->owner != SHARED + 1 ? a->owner - 1 : NO_PEER;
}
