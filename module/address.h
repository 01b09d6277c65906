/* SPDX-License-Identifier: GPL-2.0-only */
/* A kernel address of an object -> a number that identifies the object and hides the address. */
#ifndef NETSYNC_ADDRESS_H
#define NETSYNC_ADDRESS_H

#include <linux/compiler.h>
#include <linux/siphash.h>
#include <linux/types.h>

/* Parameter raw_addresses: record addresses instead of numbers. Can change at any time. */
extern bool netsync_raw_addresses;

extern siphash_key_t netsync_address_key;

/* Return the number of an object, the same until the next boot; 0 for NULL. */
static inline u64 netsync_address(const void *object)
{
	if (!object || READ_ONCE(netsync_raw_addresses))
		return (unsigned long)object;
	return siphash_1u64((unsigned long)object, &netsync_address_key);
}

/* Create the key. Call this before the first event. */
void netsync_address_init(void);

#endif /* NETSYNC_ADDRESS_H */
