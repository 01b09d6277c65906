// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parse an IPv4 or IPv6 packet (skb) into the record of its TCP, UDP, ICMP echo
 * or SCTP headers. libnetsync/io/packet/ reads captured frames by the same
 * rules.
 */
#include <linux/icmp.h>
#include <linux/icmpv6.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/sctp.h>
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/tcp.h>

#include "compat.h"
#include "parse.h"

u8 netsync_sampling __read_mostly;
bool netsync_digest __read_mostly = true;

/* A packet as its IP header describes it. Offsets are relative to the skb's data. */
struct parsed_packet {
	const struct sk_buff *skb;
	int linear;		/* number of bytes in the linear part, at skb->data */
	/* Source address, directly followed by the destination address. */
	const void *addrs;
	unsigned int start;	/* offset of the transport header */
	/* Offset of the first byte after the packet. Padding may follow the packet. */
	unsigned int end;
	u32 netns;		/* inode number of the network namespace */
	u16 id;			/* IPv4 identification field; 0 for IPv6 */
	u8 family;		/* AF_INET or AF_INET6 */
	u8 protocol;		/* IPPROTO_... */
	bool is_part;		/* whether the packet is the first of several fragments */
};

/* Like skb_header_pointer(), which would compute the length of the linear part in each call. */
static __always_inline const void *get_packet_header(const struct parsed_packet *p, int offset,
						     int len, void *copy)
{
	if (likely(offset + len <= p->linear))
		return p->skb->data + offset;
	return skb_copy_bits(p->skb, offset, copy, len) ? NULL : copy;
}

/*
 * Return the offset of the first byte after a packet, which is @base plus the length field @len.
 * Padding may follow. If a packet is too large for the field, the field is 0 (BIG TCP, jumbograms),
 * and the packet ends with the skb. Return 0 if the packet is truncated.
 */
static __always_inline unsigned int find_packet_end(const struct sk_buff *skb,
						    unsigned int base, __be16 len)
{
	unsigned int there = skb->len - base;

	if (!len && there > U16_MAX)
		return skb->len;
	return ntohs(len) <= there ? base + ntohs(len) : 0;
}

static __always_inline bool read_ipv4_header(struct parsed_packet *p, unsigned int nhoff,
					     void *copy)
{
	const struct iphdr *ih;

	ih = get_packet_header(p, nhoff, sizeof(*ih), copy);
	if (!ih || ih->version != 4 || ih->ihl < 5 ||
	    (ih->frag_off & htons(IP_OFFSET)))
		return false;
	p->addrs = &ih->saddr;
	p->start = nhoff + ih->ihl * 4;
	p->end = find_packet_end(p->skb, nhoff, ih->tot_len);
	p->id = ntohs(ih->id);
	p->protocol = ih->protocol;
	p->is_part = ih->frag_off & htons(IP_MF);
	return p->end >= p->start;
}

static __always_inline bool read_ipv6_header(struct parsed_packet *p, unsigned int nhoff,
					     void *copy)
{
	const struct ipv6hdr *ih;

	ih = get_packet_header(p, nhoff, sizeof(*ih), copy);
	if (!ih || ih->version != 6)
		return false;
	p->addrs = &ih->saddr;
	p->start = nhoff + sizeof(*ih);
	p->end = find_packet_end(p->skb, p->start, ih->payload_len);
	p->id = 0;
	p->protocol = ih->nexthdr;
	p->is_part = false;
	if (unlikely(ipv6_ext_hdr(ih->nexthdr))) {
		u8 nexthdr = ih->nexthdr;
		__be16 frag_off;
		int start;

		/*
		 * In non-first fragments, nexthdr is NEXTHDR_FRAGMENT, and no TCP header follows.
		 */
		start = ipv6_skip_exthdr(p->skb, p->start, &nexthdr, &frag_off);
		if (start < 0)
			return false;
		p->start = start;
		p->protocol = nexthdr;
		p->is_part = frag_off & htons(IP6_MF);
	}
	return p->end >= p->start;
}

static __always_inline void write_addrs(const struct parsed_packet *p,
					struct netsync_addrs *addrs)
{
	if (p->family == AF_INET)
		netsync_write_addrs(addrs, p->addrs, p->addrs + 4, 4);
	else
		netsync_write_addrs(addrs, p->addrs, p->addrs + 16, 16);
}

/* Write the fields that all records have. write_ports() adds the fields for packets with ports. */
static __always_inline void write_ip(const struct parsed_packet *p,
				     struct netsync_ip *rec)
{
	rec->netns = p->netns;
	rec->id = p->id;
	rec->family = p->family;
	rec->sampling = READ_ONCE(netsync_sampling);
}

static __always_inline void write_ports(const struct parsed_packet *p, __be16 sport,
					__be16 dport,
					union netsync_record *rec)
{
	const struct skb_shared_info *shared = skb_shinfo(p->skb);

	write_ip(p, &rec->ip);
	rec->ports.sport = ntohs(sport);
	rec->ports.dport = ntohs(dport);
	rec->ports.gso_segs = shared->gso_segs;
	rec->ports.gso_size = shared->gso_size;
}

/* ---- sampling: by the rules in netsync-events.h --------------------------- */

/*
 * Prime near 2^32 / golden ratio for multiplicative hashing (Knuth, TAOCP 3,
 * 6.4).
 */
#define GOLDEN 0x9e3779b1u

static bool is_key_sampled(u32 key, u8 sampling)
{
	return !(key * GOLDEN >> (32 - sampling));
}

static noinline bool is_tcp_chosen(const struct netsync_tcp *rec)
{
	u32 block = rec->seq >> 16, last = (rec->seq + rec->len - 1) >> 16;

	if (rec->flags & (TCPHDR_SYN | TCPHDR_FIN))
		return true;
	if (!rec->len)
		return is_key_sampled(rec->ack_seq >> 16, rec->sampling);
	while (!is_key_sampled(block, rec->sampling)) {
		if (block == last)
			return false;
		block = (block + 1) & U16_MAX;
	}
	return true;
}

/* ---- TCP ------------------------------------------------------------------ */

/*
 * Find the timestamps option (RFC 7323). As in tcp_parse_options(), a malformed option ends the
 * search.
 */
static noinline void find_timestamps(const u8 *opt, unsigned int len,
				     struct netsync_tcp *rec)
{
	while (len && *opt != TCPOPT_EOL) {
		unsigned int size = 1;

		if (*opt != TCPOPT_NOP) {
			if (len < 2 || opt[1] < 2 || opt[1] > len)
				return;
			size = opt[1];
		}
		if (*opt == TCPOPT_TIMESTAMP && size == TCPOLEN_TIMESTAMP) {
			rec->has_ts = 1;
			rec->tsval = get_unaligned_be32(opt + 2);
			rec->tsecr = get_unaligned_be32(opt + 6);
			return;
		}
		opt += size;
		len -= size;
	}
}

/* First word of the options in nearly all segments, which have only the timestamps option. */
#define USUAL_OPTIONS (TCPOPT_NOP << 24 | TCPOPT_NOP << 16 | \
		       TCPOPT_TIMESTAMP << 8 | TCPOLEN_TIMESTAMP)

static __always_inline void read_options(const u8 *opt, unsigned int len,
					 struct netsync_tcp *rec)
{
	if (len == TCPOLEN_TSTAMP_ALIGNED &&
	    get_unaligned_be32(opt) == USUAL_OPTIONS) {
		rec->has_ts = 1;
		rec->tsval = get_unaligned_be32(opt + 4);
		rec->tsecr = get_unaligned_be32(opt + 8);
		return;
	}
	rec->has_ts = 0;
	rec->tsval = 0;
	rec->tsecr = 0;
	if (len)
		find_timestamps(opt, len, rec);
}

static __always_inline unsigned int read_tcp(const struct parsed_packet *p,
					     union netsync_record *all)
{
	struct netsync_tcp *rec = &all->tcp;
	unsigned int size, room = p->end - p->start;
	u8 copy[sizeof(struct tcphdr) + MAX_TCP_OPTION_SPACE] netsync_uninit;
	const struct tcphdr *th;

	if (room < sizeof(*th))
		return 0;
	th = get_packet_header(p, p->start, sizeof(*th), copy);
	if (!th)
		return 0;
	size = th->doff * 4;
	if (size < sizeof(*th) || size > room)
		return 0;
	th = get_packet_header(p, p->start, size, copy);
	if (!th)
		return 0;
	rec->seq = ntohl(th->seq);
	rec->ack_seq = ntohl(th->ack_seq);
	rec->check = ntohs((__force __be16)th->check);
	rec->window = ntohs(th->window);
	/* Bit-fields of tcphdr differ between kernels. */
	rec->flags = ntohl(tcp_flag_word(th)) >> 16;
	rec->len = room - size;
	write_ports(p, th->source, th->dest, all);
	write_addrs(p, &rec->addrs);
	read_options((const u8 *)(th + 1), size - sizeof(*th), rec);
	return rec->sampling && !is_tcp_chosen(rec) ? 0 : NETSYNC_TCP;
}

/* ---- SipHash-1-3 (Aumasson, Bernstein 2012), with one key on all hosts ----- */

/* The key consists of the bytes 00 01 ... 0f. */
#define KEY_0 0x0706050403020100ULL
#define KEY_1 0x0f0e0d0c0b0a0908ULL

static __always_inline void sip_round(u64 v[4])
{
	v[0] += v[1];
	v[1] = rol64(v[1], 13) ^ v[0];
	v[0] = rol64(v[0], 32);
	v[2] += v[3];
	v[3] = rol64(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = rol64(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = rol64(v[1], 17) ^ v[2];
	v[2] = rol64(v[2], 32);
}

static __always_inline void mix_sip_word(u64 v[4], u64 word)
{
	v[3] ^= word;
	sip_round(v);
	v[0] ^= word;
}

static u64 compute_siphash_1_3(const u8 *data, unsigned int len)
{
	u64 v[4] = { 0x736f6d6570736575ULL ^ KEY_0, 0x646f72616e646f6dULL ^ KEY_1,
		     0x6c7967656e657261ULL ^ KEY_0, 0x7465646279746573ULL ^ KEY_1 };
	u64 last = (u64)len << 56;
	unsigned int i;

	for (; len >= 8; len -= 8, data += 8)
		mix_sip_word(v, get_unaligned_le64(data));
	for (i = 0; i < len; i++)
		last |= (u64)data[i] << (8 * i);
	mix_sip_word(v, last);
	v[2] ^= 0xff;
	for (i = 0; i < 3; i++)
		sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* ---- other transport headers ---------------------------------------------- */

/*
 * Number of payload bytes for the digest. Chosen: these bytes distinguish datagrams, and hashing
 * them costs little. The readers of captures use the same number.
 */
#define DIGEST_BYTES 64

/*
 * Compute the digest of a payload. @room bytes of the payload are available. If these bytes are not
 * enough, return 0.
 */
static u64 digest_udp_payload(const struct parsed_packet *p, unsigned int room,
			      unsigned int payload, unsigned int gso_size)
{
	u8 copy[DIGEST_BYTES] netsync_uninit;
	unsigned int len = min_t(unsigned int, payload, DIGEST_BYTES);
	const void *data = copy;

	if (gso_size)
		len = min(len, gso_size);
	if (len > room)
		return 0;
	if (len)
		data = get_packet_header(p, p->start + sizeof(struct udphdr),
					  len, copy);
	return data ? compute_siphash_1_3(data, len) : 0;
}

static noinline unsigned int read_udp(struct parsed_packet packet,
				      union netsync_record *all)
{
	const struct parsed_packet *p = &packet;
	struct netsync_udp *rec = &all->udp;
	unsigned int len, room = p->end - p->start;
	struct udphdr copy netsync_uninit;
	const struct udphdr *uh;

	if (room < sizeof(*uh))
		return 0;
	uh = get_packet_header(p, p->start, sizeof(*uh), &copy);
	if (!uh)
		return 0;
	len = ntohs(uh->len);
	/*
	 * The length is 0 in jumbograms (RFC 2675), and in packets that segmentation offload has
	 * not split yet.
	 */
	if (!len && (room > U16_MAX || p->family == AF_INET6))
		len = room;
	if (len < sizeof(*uh) || (len > room && !p->is_part))
		return 0;
	rec->len = len - sizeof(*uh);
	rec->check = ntohs((__force __be16)uh->check);
	write_ports(p, uh->source, uh->dest, all);
	write_addrs(p, &rec->addrs);
	/* Before checksum offload or segmentation, the checksum is not final. */
	rec->check_final = p->skb->ip_summed != CHECKSUM_PARTIAL &&
			   !rec->gso_size;
	rec->digest = 0;
	if (rec->sampling || READ_ONCE(netsync_digest)) {
		u64 sum = digest_udp_payload(p, room - sizeof(*uh), rec->len, rec->gso_size);

		if (rec->sampling && !is_key_sampled(sum, rec->sampling))
			return 0;
		if (READ_ONCE(netsync_digest))
			rec->digest = sum;
	}
	return NETSYNC_UDP;
}

/* Read an echo request or reply, whose header is the same in ICMP and ICMPv6. */
static noinline unsigned int read_icmp(struct parsed_packet packet,
				       union netsync_record *all)
{
	const struct parsed_packet *p = &packet;
	struct netsync_icmp *rec = &all->icmp;
	unsigned int room = p->end - p->start;
	struct icmphdr copy netsync_uninit;
	const struct icmphdr *ih;

	if (room < sizeof(*ih))
		return 0;
	ih = get_packet_header(p, p->start, sizeof(*ih), &copy);
	if (!ih || ih->code)
		return 0;
	if (p->family == AF_INET ?
		    ih->type != ICMP_ECHO && ih->type != ICMP_ECHOREPLY :
		    ih->type != ICMPV6_ECHO_REQUEST &&
			    ih->type != ICMPV6_ECHO_REPLY)
		return 0;
	rec->type = ih->type;
	rec->echo_id = ntohs(ih->un.echo.id);
	rec->echo_seq = ntohs(ih->un.echo.sequence);
	rec->len = room - sizeof(*ih);
	write_ip(p, &all->ip);
	write_addrs(p, &rec->addrs);
	/* Do not sample by the identifier, because address translation changes it like a port. */
	if (rec->sampling && !is_key_sampled(rec->echo_seq, rec->sampling))
		return 0;
	return NETSYNC_ICMP;
}

/*
 * Maximum number of chunks of a packet that are examined. Chosen; only few control chunks precede
 * DATA.
 */
#define MAX_CHUNKS 64
/* Chunk types (RFC 9260, RFC 8260). */
#define SCTP_CHUNK_DATA 0
#define SCTP_CHUNK_SACK 3
#define SCTP_CHUNK_I_DATA 64

struct chunk {
	u8 type;
	u8 flags;
	__be16 len;
};

/*
 * Read the word after a chunk's header. In DATA, it is the TSN; in SACK, it is the cumulative TSN.
 */
static bool read_tsn(const struct parsed_packet *p, unsigned int at, u32 *tsn)
{
	__be32 copy netsync_uninit;
	const __be32 *value;

	at += sizeof(struct chunk);
	if (p->end - at < sizeof(*value))
		return false;
	value = get_packet_header(p, at, sizeof(copy), &copy);
	if (value)
		*tsn = get_unaligned_be32(value);
	return value;
}

static noinline unsigned int read_sctp(struct parsed_packet packet,
				       union netsync_record *all)
{
	const struct parsed_packet *p = &packet;
	struct netsync_sctp *rec = &all->sctp;
	unsigned int at = p->start, room = p->end - p->start, i;
	struct sctphdr copy netsync_uninit;
	const struct sctphdr *sh;
	bool has_key = false;
	u32 key = 0;

	if (room < sizeof(*sh))
		return 0;
	sh = get_packet_header(p, at, sizeof(*sh), &copy);
	if (!sh)
		return 0;
	rec->vtag = ntohl(sh->vtag);
	rec->len = room - sizeof(*sh);
	rec->chunk = U8_MAX;
	rec->has_tsn = 0;
	rec->tsn = 0;
	write_ports(p, sh->source, sh->dest, all);
	write_addrs(p, &rec->addrs);
	at += sizeof(*sh);
	for (i = 0; i < MAX_CHUNKS && p->end - at >= sizeof(struct chunk); i++) {
		struct chunk room_for_chunk netsync_uninit;
		const struct chunk *chunk;
		unsigned int len;

		chunk = get_packet_header(p, at, sizeof(*chunk),
					   &room_for_chunk);
		if (!chunk)
			break;
		if (!i)
			rec->chunk = chunk->type;
		if (chunk->type == SCTP_CHUNK_DATA ||
		    chunk->type == SCTP_CHUNK_I_DATA) {
			if (read_tsn(p, at, &key)) {
				has_key = true;
				rec->has_tsn = 1;
				rec->tsn = key;
			}
			break;
		}
		if (chunk->type == SCTP_CHUNK_SACK && !has_key)
			has_key = read_tsn(p, at, &key);
		len = round_up(ntohs(chunk->len), 4);
		if (len < sizeof(*chunk) || len > p->end - at)
			break;
		at += len;
	}
	if (rec->sampling && has_key && !is_key_sampled(key, rec->sampling))
		return 0;
	return NETSYNC_SCTP;
}

unsigned int netsync_parse(const struct sk_buff *skb, unsigned int nhoff,
			   u8 family, unsigned int wanted, u32 netns,
			   union netsync_record *rec)
{
	u8 copy[sizeof(struct ipv6hdr)] netsync_uninit;
	struct parsed_packet p netsync_uninit;

	p.skb = skb;
	p.linear = skb_headlen(skb);
	p.family = family;
	p.netns = netns;
	if (family == AF_INET ? !read_ipv4_header(&p, nhoff, copy) :
				!read_ipv6_header(&p, nhoff, copy))
		return 0;
	switch (p.protocol) {
	case IPPROTO_TCP:
		return wanted & NETSYNC_TCP ? read_tcp(&p, rec) : 0;
	case IPPROTO_UDP:
		return wanted & NETSYNC_UDP ? read_udp(p, rec) : 0;
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		if ((p.protocol == IPPROTO_ICMP) != (family == AF_INET))
			return 0;
		return wanted & NETSYNC_ICMP ? read_icmp(p, rec) : 0;
	case IPPROTO_SCTP:
		return wanted & NETSYNC_SCTP ? read_sctp(p, rec) : 0;
	default:
		return 0;
	}
}
