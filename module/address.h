/* SPDX-License-Identifier: GPL-2.0-only */
/* Objects of the kernel -> numbers that tell them apart and not where they lie. */
#ifndef NETSYNC_ADDRESS_H
#define NETSYNC_ADDRESS_H

#include <linux/compiler.h>
#include <linux/siphash.h>
#include <linux/types.h>

/* Record addresses as they are. Can change at any time. */
extern bool netsync_raw_addresses;

extern siphash_key_t netsync_address_key;

/* The same for one object as long as the machine runs; 0 for none. */
static inline u64 netsync_address(const void *object)
{
	if (!object || READ_ONCE(netsync_raw_addresses))
		return (unsigned long)object;
	return siphash_1u64((unsigned long)object, &netsync_address_key);
}

/* Before the first event. */
void netsync_address_init(void);

#endif /* NETSYNC_ADDRESS_H */
