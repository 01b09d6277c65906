// SPDX-License-Identifier: LGPL-2.1-or-later
#include "match/protocol.h"

bool protocol_lacks_id(const struct packet_record *a, const struct packet_record *b)
{
	return !record_both_have(a, b, NETSYNC_HAS_TSTAMP) &&
	       !(record_both_have(a, b, NETSYNC_HAS_IP_ID) && a->ip_id && b->ip_id);
}

/*
 * Return whether the records of datagrams or echoes have an endpoint (address and port) in common.
 */
static bool have_same_endpoint(const struct packet_record *a, const struct packet_record *b)
{
	return (a->addr[0] == b->addr[0] && a->sport == b->sport) ||
	       (a->addr[1] == b->addr[1] && a->dport == b->dport);
}

static bool agree_always(const struct packet_record *a, const struct packet_record *b)
{
	(void)a;
	(void)b;
	return true;
}

/* ---- TCP --------------------------------------------------------------- */

/*
 * Flags that segmentation clears on all resulting segments but one, and that receive offload may
 * combine differently.
 */
#define PSH_FIN_CWR 0x0089

static void tcp_fill_record(struct packet_record *r, const struct netsync_packet *p)
{
	r->tcp.seq = p->tcp.seq;
	r->tcp.ack = p->tcp.ack;
	r->tcp.tsval = p->tcp.tsval;
	r->tcp.tsecr = p->tcp.tsecr;
	r->tcp.window = p->tcp.window;
	r->tcp.flags = p->tcp.flags;
	/* Records of TCP have no digest, even if the event has one. */
	r->fields &= (uint16_t)~NETSYNC_HAS_DIGEST;
}

static bool tcp_agree(const struct packet_record *a, const struct packet_record *b)
{
	const int option = NETSYNC_HAS_TSTAMP | NETSYNC_HAS_NO_TSTAMP;

	if (record_both_have(a, b, NETSYNC_HAS_WINDOW) && a->tcp.window != b->tcp.window)
		return false;
	if ((a->fields & option) && (b->fields & option) && !record_both_have(a, b, option))
		return false;
	return !record_both_have(a, b, NETSYNC_HAS_TSTAMP) ||
	       (a->tcp.tsval == b->tcp.tsval && a->tcp.tsecr == b->tcp.tsecr);
}

static bool tcp_agree_whole(const struct packet_record *a, const struct packet_record *b)
{
	uint16_t differ = a->tcp.flags ^ b->tcp.flags;

	if (record_both_have(a, b, NETSYNC_HAS_LEN) && has_tcp_data(a))
		differ &= (uint16_t)~PSH_FIN_CWR;
	return !differ;
}

/*
 * log2 of the number of consecutive bytes in one shard (4 MiB). A segment is in at most two such
 * blocks of 4 MiB. One in 64 segments of 64 KiB is in two blocks. Chosen.
 */
#define SHARD_BYTES 22

/* All parts of a segment have the same acknowledgment number. */
static uint64_t tcp_get_shard_key(const struct packet_record *r, uint32_t behind)
{
	return (uint64_t)r->tcp.ack << 32 | (r->tcp.seq + behind) >> SHARD_BYTES;
}

/* Together with the key's numbers, timestamps or IP ids are unambiguous. */
static bool tcp_is_identified(const struct packet_record *a, const struct packet_record *b)
{
	return !protocol_lacks_id(a, b);
}

/* ---- UDP --------------------------------------------------------------- */

/* Flags in the key's id, which is the digest or the length of the payload. */
#define ID_IS_DIGEST (UINT32_C(1) << 31)
#define ID_IS_LENGTH (UINT32_C(1) << 30)

static void udp_fill_record(struct packet_record *r, const struct netsync_packet *p)
{
	r->udp.ports = (uint32_t)p->sport << 16 | p->dport;
	/* If the sender counts IP ids, all sources report them. */
	if (record_counts_ip_ids(r))
		r->udp.id = p->ip_id;
	else if (p->fields & NETSYNC_HAS_DIGEST)
		r->udp.id = (uint32_t)p->udp.digest | ID_IS_DIGEST;
	else
		r->udp.id = p->len | ID_IS_LENGTH;
	r->udp.digest = p->udp.digest;
	r->udp.checksum = p->udp.checksum;
	r->udp.datagrams = 1;
	if ((p->fields & NETSYNC_HAS_GSO) && p->gso_size && p->gso_segs > 1)
		r->udp.datagrams = p->gso_segs;
	r->fields &= (uint16_t) ~(NETSYNC_HAS_WINDOW | NETSYNC_HAS_TSTAMP | NETSYNC_HAS_NO_TSTAMP);
}

static bool udp_agree(const struct packet_record *a, const struct packet_record *b)
{
	if (record_both_have(a, b, NETSYNC_HAS_CHECKSUM) && a->udp.checksum != b->udp.checksum)
		return false;
	return !record_both_have(a, b, NETSYNC_HAS_DIGEST) || a->udp.digest == b->udp.digest;
}

static bool udp_agree_whole(const struct packet_record *a, const struct packet_record *b)
{
	return a->udp.datagrams == b->udp.datagrams;
}

/*
 * log2 of the number of consecutive IP ids in one shard. Offloads merge at most 128 datagrams.
 * Chosen.
 */
#define SHARD_IDS 10

/*
 * If the source counts IP ids, the shard of a datagram depends on its id, because ports may be
 * translated. Otherwise, the shard depends on the ports, because not all sources report digests. If
 * the id is 0, the source is assumed not to count ids.
 */
static uint64_t udp_get_shard_key(const struct packet_record *r, uint32_t behind)
{
	const uint16_t id = (uint16_t)(r->ip_id + behind);

	return record_counts_ip_ids(r) && id ? id >> SHARD_IDS : r->udp.ports;
}

static bool udp_is_identified(const struct packet_record *a, const struct packet_record *b)
{
	return !protocol_lacks_id(a, b) &&
	       (record_both_have(a, b, NETSYNC_HAS_DIGEST) || have_same_endpoint(a, b));
}

/* ---- ICMP echo --------------------------------------------------------- */

static void icmp_fill_record(struct packet_record *r, const struct netsync_packet *p)
{
	r->icmp.id_seq = (uint32_t)p->icmp.id << 16 | p->icmp.seq;
	r->icmp.type = p->icmp.type;
	r->fields &= NETSYNC_HAS_ADDRS | NETSYNC_HAS_IP_ID | NETSYNC_HAS_LEN | NETSYNC_HAS_SKB |
		     NETSYNC_HAS_NETNS;
}

static uint64_t icmp_get_shard_key(const struct packet_record *r, uint32_t behind)
{
	return (uint16_t)r->icmp.id_seq + behind;
}

/* Address translation changes the identifier, but not the sequence number. */
static bool icmp_is_identified(const struct packet_record *a, const struct packet_record *b)
{
	return !protocol_lacks_id(a, b) && a->icmp.type == b->icmp.type &&
	       (uint16_t)a->icmp.id_seq == (uint16_t)b->icmp.id_seq && have_same_endpoint(a, b);
}

/* ---- SCTP -------------------------------------------------------------- */

/* This bit marks a packet with a DATA chunk. The bit is above the 8 bits of a chunk type. */
#define HAS_DATA_CHUNK 256

/*
 * A tag belongs to one association and one direction. Packets without DATA have no TSN, and are
 * distinguished in the same way as datagrams.
 */
static void sctp_fill_record(struct packet_record *r, const struct netsync_packet *p)
{
	const bool has_tsn = p->fields & NETSYNC_HAS_TSN;

	r->sctp.tag = p->sctp.vtag;
	if (has_tsn)
		r->sctp.tsn = p->sctp.tsn;
	else if (record_counts_ip_ids(r))
		r->sctp.tsn = p->ip_id;
	else
		r->sctp.tsn = p->len | (uint32_t)p->sctp.chunk << 24;
	r->sctp.chunks = (uint16_t)(p->sctp.chunk | (has_tsn ? HAS_DATA_CHUNK : 0));
	r->fields &= NETSYNC_HAS_ADDRS | NETSYNC_HAS_PORTS | NETSYNC_HAS_IP_ID | NETSYNC_HAS_LEN |
		     NETSYNC_HAS_SKB | NETSYNC_HAS_NETNS;
}

static uint64_t sctp_get_shard_key(const struct packet_record *r, uint32_t behind)
{
	return (uint64_t)r->sctp.tag << 32 | (r->sctp.tsn + behind);
}

static bool sctp_agree_whole(const struct packet_record *a, const struct packet_record *b)
{
	return a->sctp.chunks == b->sctp.chunks;
}

/* The first packet of an association has the tag 0. */
static bool sctp_is_identified(const struct packet_record *a, const struct packet_record *b)
{
	(void)b;
	return a->sctp.tag;
}

/* ---- the table --------------------------------------------------------- */

static const struct protocol tcp = {
	.translation_keeps_key = true,
	.fill = tcp_fill_record,
	.shard = tcp_get_shard_key,
	.agree = tcp_agree,
	.agree_whole = tcp_agree_whole,
	.identified = tcp_is_identified,
};

static const struct protocol udp = {
	.needs = NETSYNC_HAS_PORTS,
	.fill = udp_fill_record,
	.shard = udp_get_shard_key,
	.agree = udp_agree,
	.agree_whole = udp_agree_whole,
	.identified = udp_is_identified,
};

static const struct protocol icmp = {
	.needs = NETSYNC_HAS_ECHO,
	.fill = icmp_fill_record,
	.shard = icmp_get_shard_key,
	.agree = agree_always,
	.agree_whole = agree_always,
	.identified = icmp_is_identified,
};

static const struct protocol sctp = {
	.needs = NETSYNC_HAS_SCTP,
	.translation_keeps_key = true,
	.fill = sctp_fill_record,
	.shard = sctp_get_shard_key,
	.agree = agree_always,
	.agree_whole = sctp_agree_whole,
	.identified = sctp_is_identified,
};

const struct protocol *const protocols[256] = {
	[ICMP] = &icmp, [TCP] = &tcp, [UDP] = &udp, [ICMPV6] = &icmp, [SCTP] = &sctp,
};
