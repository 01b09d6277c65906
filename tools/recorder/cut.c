// SPDX-License-Identifier: GPL-2.0-only
/*
 * Determine how many bytes of a captured frame are headers. All data in a frame may be hostile.
 * Data that was not captured is not read, and lengths are checked before they are used.
 */
#include <linux/if_ether.h>
#include <netinet/in.h>
#include <stdbool.h>

#include "cut.h"

/* Sizes of headers without options, in bytes. */
#define IPV4_HEADER 20
#define IPV6_HEADER 40
#define TCP_HEADER 20
#define UDP_HEADER 8
#define ICMP_HEADER 8
/*
 * Size of the common header and the header of a first DATA chunk, in bytes (RFC 9260, sections
 * 3.1 and 3.3.1).
 */
#define SCTP_HEADERS (12 + 16)
/*
 * Size of a header with a long sequence number and an acknowledgement number, in bytes (RFC
 * 4340, section 5).
 */
#define DCCP_HEADERS (16 + 8)
#define FRAGMENT_HEADER 8
/* Maximum number of IPv6 extension headers that are followed. Chosen; RFC 8200 names six. */
#define MOST_EXTENSIONS 8

/* The rest of a frame, from the current header on. */
struct rest {
	const uint8_t *bytes;
	size_t captured;
};

/* Skip a header. Return false if the next header was not captured. */
static bool skip_header(struct rest *rest, size_t len)
{
	if (len > rest->captured)
		return false;
	rest->bytes += len;
	rest->captured -= len;
	return true;
}

static uint16_t read_big_endian(const uint8_t *bytes)
{
	return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

/* Return the number of captured bytes of a transport header, and of @payload bytes after it. */
static size_t count_transport_bytes(const struct rest *rest, uint8_t protocol, size_t payload)
{
	size_t len;

	switch (protocol) {
	case IPPROTO_TCP:
		len = rest->captured > 12 ? (size_t)(rest->bytes[12] >> 4) * 4 : TCP_HEADER;
		len = len < TCP_HEADER ? TCP_HEADER : len;
		break;
	case IPPROTO_UDP:
	case IPPROTO_UDPLITE:
		len = UDP_HEADER;
		break;
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		len = ICMP_HEADER;
		break;
	case IPPROTO_SCTP:
		len = SCTP_HEADERS;
		break;
	case IPPROTO_DCCP:
		len = DCCP_HEADERS;
		break;
	default:
		return 0;
	}
	return len + payload;
}

static size_t count_ipv4_bytes(struct rest rest, size_t payload)
{
	size_t len;
	bool is_first;

	if (rest.captured < IPV4_HEADER)
		return rest.captured;
	len = (size_t)(rest.bytes[0] & 15) * 4;
	len = len < IPV4_HEADER ? IPV4_HEADER : len;
	is_first = !(read_big_endian(rest.bytes + 6) & 0x1fff);
	if (is_first) {
		const uint8_t protocol = rest.bytes[9];

		if (skip_header(&rest, len))
			len += count_transport_bytes(&rest, protocol, payload);
	}
	return len;
}

/* Return the length of an extension header, or 0 if the header is of another type. */
static size_t measure_extension_header(const struct rest *rest, uint8_t type)
{
	switch (type) {
	case IPPROTO_HOPOPTS:
	case IPPROTO_ROUTING:
	case IPPROTO_DSTOPTS:
		return ((size_t)rest->bytes[1] + 1) * 8;
	case IPPROTO_AH:
		return ((size_t)rest->bytes[1] + 2) * 4;
	case IPPROTO_FRAGMENT:
		return FRAGMENT_HEADER;
	default:
		return 0;
	}
}

static size_t count_ipv6_bytes(struct rest rest, size_t payload)
{
	const uint8_t *begin = rest.bytes;
	uint8_t type;

	if (rest.captured < IPV6_HEADER)
		return rest.captured;
	type = rest.bytes[6];
	skip_header(&rest, IPV6_HEADER);
	for (int i = 0; i < MOST_EXTENSIONS && rest.captured >= 8; i++) {
		const size_t len = measure_extension_header(&rest, type);
		const bool is_later = type == IPPROTO_FRAGMENT &&
				      read_big_endian(rest.bytes + 2) & 0xfff8;

		if (!len)
			break;
		type = rest.bytes[0];
		if (!skip_header(&rest, len))
			return (size_t)(rest.bytes - begin) + len;
		if (is_later)
			return (size_t)(rest.bytes - begin);
	}
	return (size_t)(rest.bytes - begin) + count_transport_bytes(&rest, type, payload);
}

size_t count_kept_bytes(const uint8_t *frame, size_t captured, size_t link, uint16_t protocol,
			size_t payload)
{
	struct rest rest = { frame, captured };
	size_t len;

	if (!skip_header(&rest, link))
		return captured;
	switch (protocol) {
	case ETH_P_IP:
		len = count_ipv4_bytes(rest, payload);
		break;
	case ETH_P_IPV6:
		len = count_ipv6_bytes(rest, payload);
		break;
	case ETH_P_ARP:
		len = rest.captured;
		break;
	default:
		len = 0;
	}
	return link + len < captured ? link + len : captured;
}
