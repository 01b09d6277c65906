/* SPDX-License-Identifier: GPL-2.0-only */
/* An object's address in the kernel -> a number of the object that hides the address. */
#ifndef NETSYNC_ADDRESS_H
#define NETSYNC_ADDRESS_H

#include <linux/compiler.h>
#include <linux/siphash.h>
#include <linux/types.h>

/* Parameter: record addresses themselves. Can change at any time. */
extern bool netsync_raw_addresses;

extern siphash_key_t netsync_address_key;

/* The number of an object, the same until the machine is started anew; 0 for NULL. */
static inline u64 netsync_address(const void *object)
{
	if (!object || READ_ONCE(netsync_raw_addresses))
		return (unsigned long)object;
	return siphash_1u64((unsigned long)object, &netsync_address_key);
}

/* Make the key; to be called before the first event. */
void netsync_address_init(void);

#endif /* NETSYNC_ADDRESS_H */
