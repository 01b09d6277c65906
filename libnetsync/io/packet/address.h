/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* IP addresses as in struct netsync_packet: 16 bytes, with IPv4 addresses as ::ffff:a.b.c.d. */
#ifndef NETSYNC_IO_ADDRESS_H
#define NETSYNC_IO_ADDRESS_H

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The first bytes of an IPv4-mapped address (RFC 4291, section 2.5.5.2). */
#define IPV4_AT 12
static const uint8_t ipv4_prefix[IPV4_AT] = { [10] = 0xff, 0xff };

/* Copy an address of 4 or 16 bytes. */
static inline void address_copy(uint8_t to[16], const uint8_t *from, size_t len)
{
	memcpy(to, ipv4_prefix, IPV4_AT);
	memcpy(to + 16 - len, from, len);
}

/* Return whether the address is a multicast address or the IPv4 broadcast address. */
static inline bool address_is_for_many(const uint8_t address[16])
{
	if (!memcmp(address, ipv4_prefix, IPV4_AT))
		return address[12] >> 4 == 14 || !memcmp(address + 12, "\xff\xff\xff\xff", 4);
	return address[0] == 0xff;
}

/* Parse "10.0.0.1" or "fe80::1". Return false if @text is not an address. */
static inline bool address_read_text(uint8_t to[16], const char *text)
{
	if (inet_pton(AF_INET6, text, to) == 1)
		return true;
	memcpy(to, ipv4_prefix, IPV4_AT);
	return inet_pton(AF_INET, text, to + IPV4_AT) == 1;
}

#endif
