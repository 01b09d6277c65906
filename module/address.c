// SPDX-License-Identifier: GPL-2.0-only
/*
 * Create the key with which SipHash-2-4 hashes the addresses of sockets and packets. The key is
 * derived from the kernel's own pointer hash.
 *
 * Kernel addresses are random (KASLR) to make attacks harder. A trace that is shared must therefore
 * not reveal them.
 */
#include <linux/cache.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/random.h>
#include <linux/string.h>

#include "address.h"

bool netsync_raw_addresses __read_mostly;
siphash_key_t netsync_address_key __ro_after_init;

/* "netsync" and a number. No object of the kernel has this address. */
#define NOWHERE 0x6e657473796e6300ULL

/*
 * Get 32 secret bits: the hash that %p prints for an address that is printed nowhere else. The
 * kernel creates the key of this hash at boot and keeps the key, so loading the module again yields
 * the same bits. Return false if the kernel does not hash addresses yet, or was started with
 * no_hash_pointers.
 */
static bool __init get_secret_word(int number, u32 *word)
{
	unsigned long nowhere = (unsigned long)NOWHERE + number, value;
	char text[2 * sizeof(value) + sizeof("(____ptrval____)")];

	snprintf(text, sizeof(text), "%p", (void *)nowhere);
	if (kstrtoul(text, 16, &value) || value == nowhere)
		return false;
	*word = value;
	return true;
}

void __init netsync_address_init(void)
{
	u32 words[sizeof(netsync_address_key) / sizeof(u32)];
	int i;

	BUILD_BUG_ON(sizeof(words) != sizeof(netsync_address_key));
	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (!get_secret_word(i, &words[i])) {
			get_random_bytes(words, sizeof(words));
			break;
		}
	memcpy(&netsync_address_key, words, sizeof(words));
	memzero_explicit(words, sizeof(words));
}
