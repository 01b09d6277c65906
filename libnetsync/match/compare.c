// SPDX-License-Identifier: LGPL-2.1-or-later
/* Compare two packet records by their headers and by the bytes that they contain. */
#include "match/internal.h"

bool match_have_same_headers(const struct packet_record *a, const struct packet_record *b, bool nat)
{
	const struct protocol *protocol = protocol_find(a->protocol);

	if (nat) {
		if (!record_both_have(a, b, NETSYNC_HAS_ADDRS) || !protocol->identified(a, b))
			return false;
	} else {
		if (record_both_have(a, b, NETSYNC_HAS_ADDRS) && !have_same_addresses(a, b))
			return false;
		if (record_both_have(a, b, NETSYNC_HAS_PORTS) &&
		    (a->sport != b->sport || a->dport != b->dport))
			return false;
	}
	return protocol->agree(a, b);
}

bool match_is_other_place(const struct packet_record *a, const struct packet_record *b)
{
	return a->point != b->point ||
	       (record_both_have(a, b, NETSYNC_HAS_NETNS) && a->netns != b->netns);
}

/*
 * Records from different places in the stack may belong to one packet. Records from one place may
 * belong to one packet only if their buffers and IP ids agree. Names of devices are not unique
 * across network namespaces, an id of 0 carries no information, and buffers are reused.
 */
bool match_may_be_one_packet(const struct packet_record *a, const struct packet_record *b)
{
	if (a->host != b->host || a->dir != b->dir || match_is_other_place(a, b))
		return true;
	return record_both_have(a, b, NETSYNC_HAS_SKB) && a->skb == b->skb &&
	       record_both_have(a, b, NETSYNC_HAS_IP_ID) && a->ip_id == b->ip_id && a->ip_id;
}

/* ---- segments ---------------------------------------------------------- */

/*
 * Return the number of bytes, or of IP ids, from the beginning of @a to the beginning of @b. Both
 * wrap around.
 */
int32_t match_compute_lead(const struct packet_record *a, const struct packet_record *b)
{
	if (a->protocol == UDP)
		return (int16_t)(b->ip_id - a->ip_id);
	return (int32_t)(b->tcp.seq - a->tcp.seq);
}

uint32_t match_get_span(const struct packet_record *s)
{
	return s->protocol == UDP ? s->udp.datagrams : s->len;
}

/* Return whether b contains the first byte of a. */
bool match_begins_in(const struct packet_record *a, const struct packet_record *b)
{
	int32_t from = match_compute_lead(b, a);

	return from >= 0 && (uint32_t)from < match_get_span(b);
}

/*
 * Return whether the IP ids are possible within one transmission: they increase by one from segment
 * to segment, or are all equal. A segment of unknown size has at least 64 bytes.
 */
static bool have_fitting_ip_ids(const struct packet_record *a, const struct packet_record *b)
{
	int32_t bytes = match_compute_lead(a, b);
	uint32_t step;
	uint16_t size;

	if (!record_both_have(a, b, NETSYNC_HAS_IP_ID))
		return true;
	step = (uint16_t)(bytes >= 0 ? b->ip_id - a->ip_id : a->ip_id - b->ip_id);
	size = bytes >= 0 ? a->gso_size : b->gso_size;
	if (bytes < 0)
		bytes = -bytes;
	if (!step)
		return true;
	return size ? step == (uint32_t)bytes / size : step <= (uint32_t)bytes / 64;
}

/*
 * A digest covers only the first of several datagrams, so compare digests only if both records
 * begin with the same datagram.
 */
static bool are_same_datagrams(const struct packet_record *a, const struct packet_record *b)
{
	return (!record_both_have(a, b, NETSYNC_HAS_ADDRS) || have_same_addresses(a, b)) &&
	       (match_compute_lead(a, b) || !record_both_have(a, b, NETSYNC_HAS_DIGEST) ||
		a->udp.digest == b->udp.digest);
}

bool match_is_same_transmission(const struct packet_record *a, const struct packet_record *b,
				bool nat)
{
	if (a->protocol == UDP)
		return !nat && are_same_datagrams(a, b);
	/* Segmentation keeps all flags except PSH, FIN and CWR. */
	return has_tcp_data(a) && has_tcp_data(b) && a->tcp.ack == b->tcp.ack &&
	       !((a->tcp.flags ^ b->tcp.flags) & 0xff76) && have_fitting_ip_ids(a, b) &&
	       match_have_same_headers(a, b, nat);
}

bool match_is_same_transit(const struct packet_record *a, const struct packet_record *b)
{
	return a->host == b->host && a->dir == b->dir && match_is_same_transmission(a, b, false) &&
	       (match_is_other_place(a, b) ||
		(!match_compute_lead(a, b) && match_get_span(a) == match_get_span(b) &&
		 match_may_be_one_packet(a, b)));
}

bool match_is_same_side(const struct packet_record *a, const struct packet_record *b)
{
	if (a->host == b->host)
		return match_is_same_transit(a, b);
	return a->dir == b->dir && record_both_have(a, b, NETSYNC_HAS_ADDRS) &&
	       match_is_same_transmission(a, b, false);
}
