// SPDX-License-Identifier: LGPL-2.1-or-later
/* Find the struct packet_protocol for an IP protocol number. */
#include <netinet/in.h>

#include "io/packet/protocol.h"

const struct packet_protocol *packet_find_protocol(uint8_t number)
{
	static const struct packet_protocol *const table[256] = {
		[IPPROTO_TCP] = &packet_tcp,   [IPPROTO_UDP] = &packet_udp,
		[IPPROTO_ICMP] = &packet_icmp, [IPPROTO_ICMPV6] = &packet_icmp,
		[IPPROTO_SCTP] = &packet_sctp,
	};

	return table[number];
}
