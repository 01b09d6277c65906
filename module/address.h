/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Convert the address of a kernel object to a number that identifies the object but hides the
 * address.
 */
#ifndef NETSYNC_ADDRESS_H
#define NETSYNC_ADDRESS_H

#include <linux/compiler.h>
#include <linux/siphash.h>
#include <linux/types.h>

/*
 * Module parameter raw_addresses: record addresses in place of numbers. The parameter can change at
 * any time.
 */
extern bool netsync_raw_addresses;

extern siphash_key_t netsync_address_key;

/*
 * Return the number of an object, which is the same until the next boot, or 0
 * for NULL.
 */
static inline u64 netsync_address(const void *object)
{
	if (!object || READ_ONCE(netsync_raw_addresses))
		return (unsigned long)object;
	return siphash_1u64((unsigned long)object, &netsync_address_key);
}

/* Create the key. Call this function before the first event. */
void netsync_address_init(void);

#endif /* NETSYNC_ADDRESS_H */
