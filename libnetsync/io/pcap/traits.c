// SPDX-License-Identifier: LGPL-2.1-or-later
/* Find the addresses that all packets of a capture have in common, by intersection. */
#include <string.h>

#include "io/packet/address.h"
#include "io/pcap/traits.h"

typedef uint8_t trait[TRAIT_SIZE];

static bool is_same_trait(const trait a, const trait b)
{
	return !memcmp(a, b, TRAIT_SIZE);
}

static bool has_trait(const trait *list, unsigned int num, const trait one)
{
	for (unsigned int i = 0; i < num; i++)
		if (is_same_trait(list[i], one))
			return true;
	return false;
}

/* ---- one capture ----------------------------------------------------------- */

static void count_distinct_trait(unsigned int *num, trait first, const trait one)
{
	if (!*num)
		memcpy(first, one, TRAIT_SIZE);
	if (*num < 2 && !(*num == 1 && is_same_trait(first, one)))
		++*num;
}

static void add_address_pair(struct trait_addresses *addresses, const trait from, const trait to)
{
	unsigned int kept = 0;

	count_distinct_trait(&addresses->num_from, addresses->from, from);
	count_distinct_trait(&addresses->num_to, addresses->to, to);
	if (!addresses->any) {
		addresses->any = true;
		memcpy(addresses->common[0], from, TRAIT_SIZE);
		memcpy(addresses->common[1], to, TRAIT_SIZE);
		addresses->num_common = 2;
		return;
	}
	for (unsigned int i = 0; i < addresses->num_common; i++) {
		const uint8_t *one = addresses->common[i];

		if (is_same_trait(one, from) || is_same_trait(one, to))
			memmove(addresses->common[kept++], one, TRAIT_SIZE);
	}
	addresses->num_common = kept;
}

static void add_own_trait(struct traits *traits, const trait one)
{
	if (traits->num_own > MAX_OWN_TRAITS || has_trait(traits->own, traits->num_own, one))
		return;
	if (traits->num_own < MAX_OWN_TRAITS)
		memcpy(traits->own[traits->num_own], one, TRAIT_SIZE);
	traits->num_own++;
}

void traits_add(struct traits *traits, uint16_t type, const struct captured_frame *frame,
		const struct frame_link *link)
{
	trait from = { 0 }, to = { 0 };

	if (!traits->link)
		traits->link = type;
	/* Multicast frames do not reveal which machine received them. */
	if (link->from && !(link->to[0] & 1)) {
		memcpy(from, link->from, MAC_SIZE);
		memcpy(to, link->to, MAC_SIZE);
		add_address_pair(&traits->macs, from, to);
	}
	/* Packets from a machine to itself do not reveal which machine this is. */
	if (!frame_read_addresses(frame, link, from, to) || address_is_for_many(to) ||
	    is_same_trait(from, to))
		return;
	if (link->mark == FRAME_UNMARKED)
		add_address_pair(&traits->ips, from, to);
	else
		add_own_trait(traits, link->mark == FRAME_OUT ? from : to);
}

bool traits_are_one_way(const struct traits *traits, bool out)
{
	const struct trait_addresses *known = traits->macs.any ? &traits->macs : &traits->ips;

	return known->any && (out ? known->num_from : known->num_to) == 1;
}

/* ---- two captures ---------------------------------------------------------- */

static bool are_common_traits_subset(const struct trait_addresses *a,
				     const struct trait_addresses *b)
{
	for (unsigned int i = 0; i < a->num_common; i++)
		if (!has_trait(b->common, b->num_common, a->common[i]))
			return false;
	return true;
}

static bool have_common_trait(const trait *a, unsigned int num_a, const trait *b,
			      unsigned int num_b)
{
	for (unsigned int i = 0; i < num_a; i++)
		if (has_trait(b, num_b, a[i]))
			return true;
	return false;
}

/*
 * Compare the common addresses of two captures. If the packets of a capture have no common address,
 * as on a router, there is no result.
 */
static enum likeness compare_common_addresses(const struct trait_addresses *a,
					      const struct trait_addresses *b)
{
	if (!a->num_common || !b->num_common)
		return TRAITS_UNKNOWN;
	if (!have_common_trait(a->common, a->num_common, b->common, b->num_common))
		return TRAITS_DIFFER;
	return are_common_traits_subset(a, b) || are_common_traits_subset(b, a) ? TRAITS_AGREE :
										  TRAITS_UNKNOWN;
}

static enum likeness compare_own_traits(const struct traits *a, const struct traits *b)
{
	if (!a->num_own || !b->num_own || a->num_own > MAX_OWN_TRAITS ||
	    b->num_own > MAX_OWN_TRAITS)
		return TRAITS_UNKNOWN;
	return have_common_trait(a->own, a->num_own, b->own, b->num_own) ? TRAITS_AGREE :
									   TRAITS_DIFFER;
}

enum likeness traits_compare(const struct traits *a, const struct traits *b)
{
	const enum likeness own = compare_own_traits(a, b);
	const enum likeness macs = compare_common_addresses(&a->macs, &b->macs);
	const enum likeness ips = compare_common_addresses(&a->ips, &b->ips);

	if (own != TRAITS_UNKNOWN)
		return own;
	/*
	 * A machine may have several IP addresses, and all captures behind a router see the
	 * router's hardware address.
	 */
	if (macs == TRAITS_UNKNOWN || ips == TRAITS_AGREE)
		return macs == TRAITS_DIFFER ? macs : ips;
	return macs;
}

static void merge_trait_addresses(struct trait_addresses *to, const struct trait_addresses *more)
{
	unsigned int kept = 0;

	if (!to->any) {
		*to = *more;
		return;
	}
	if (!more->any)
		return;
	for (unsigned int i = 0; i < to->num_common; i++)
		if (has_trait(more->common, more->num_common, to->common[i]))
			memmove(to->common[kept++], to->common[i], TRAIT_SIZE);
	to->num_common = kept;
}

void traits_merge(struct traits *traits, const struct traits *more)
{
	merge_trait_addresses(&traits->macs, &more->macs);
	merge_trait_addresses(&traits->ips, &more->ips);
	for (unsigned int i = 0; i < more->num_own && i < MAX_OWN_TRAITS; i++)
		add_own_trait(traits, more->own[i]);
}
