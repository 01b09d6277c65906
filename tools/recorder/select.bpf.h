/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Select the packets to record by ports, addresses, and sampling. Sampling is the same as in
 * the kernel module (described in module/netsync-events.h, implemented in module/parse.c), so
 * that all hosts record the same packets with either program.
 */
#ifndef NETSYNC_RECORDER_SELECT_BPF_H
#define NETSYNC_RECORDER_SELECT_BPF_H

#include <linux/in.h>
#include <linux/in6.h>

#include "cgroup.bpf.h"

/*
 * Maximum number of blocks of sequence numbers, 64 KiB each, that a packet of at most 1 MiB
 * touches.
 */
#define MOST_BLOCKS 17
/*
 * Maximum number of chunks of an SCTP packet that are examined, and maximum number of UDP
 * payload bytes that are digested, as in the module.
 */
#define MOST_CHUNKS 64
#define DIGEST_BYTES LONGEST_LOOK

/* Types of chunks (RFC 9260, RFC 8260). */
#define CHUNK_DATA 0
#define CHUNK_SACK 3
#define CHUNK_I_DATA 64

#define TCP_FIN 0x01
#define TCP_SYN 0x02

const volatile struct probe_settings settings;

static __always_inline __u16 get_u16(const __u8 *bytes)
{
	return (__u16)(bytes[0] << 8 | bytes[1]);
}

static __always_inline __u32 get_u32(const __u8 *bytes)
{
	return (__u32)get_u16(bytes) << 16 | get_u16(bytes + 2);
}

static __always_inline __u64 get_le64(const __u8 *bytes)
{
	__u64 value = 0;

	for (int i = 0; i < 8; i++)
		value |= (__u64)bytes[i] << i * 8;
	return value;
}

/* ---- ports and addresses --------------------------------------------------------- */

/* Get an address as the settings store it. IPv4 addresses are stored as ::ffff:a.b.c.d. */
static __always_inline void get_address(__u32 words[4], const __u8 *bytes, bool is_ipv4)
{
	if (is_ipv4) {
		words[0] = words[1] = 0;
		words[2] = 0xffff;
		words[3] = get_u32(bytes);
		return;
	}
	for (int i = 0; i < 4; i++)
		words[i] = get_u32(bytes + 4 * i);
}

static __always_inline bool is_same_address(const volatile __u32 a[4], const __u32 b[4])
{
	return a[0] == b[0] && a[1] == b[1] && a[2] == b[2] && a[3] == b[3];
}

__noinline int is_address_wanted(__u32 number)
{
	const struct seen_packet *p = get_packet(number);
	const __u8 *bytes = p ? get_copied_bytes(p, p->addresses, p->is_ipv4 ? 8 : 32) : NULL;
	__u32 from[4], to[4];

	if (!bytes)
		return false;
	get_address(from, bytes, p->is_ipv4);
	get_address(to, bytes + (p->is_ipv4 ? 4 : 16), p->is_ipv4);
	for (int i = 0; i < MOST_WANTED && i < settings.num_addresses; i++)
		if (is_same_address(settings.address[i].words, from) ||
		    is_same_address(settings.address[i].words, to))
			return true;
	return false;
}

static __always_inline bool has_ports(const struct seen_packet *p)
{
	return p->transport && (p->protocol == IPPROTO_TCP || p->protocol == IPPROTO_UDP ||
				p->protocol == IPPROTO_UDPLITE || p->protocol == IPPROTO_SCTP ||
				p->protocol == IPPROTO_DCCP);
}

__noinline int is_port_wanted(__u32 from, __u32 to)
{
	for (int i = 0; i < MOST_WANTED && i < settings.num_ports; i++)
		if (settings.port[i] == from || settings.port[i] == to)
			return true;
	return false;
}

static __always_inline bool is_own_connection(const volatile struct probe_settings *s, __u16 from,
					      __u16 to)
{
	return (from == s->unwanted[0] && to == s->unwanted[1]) ||
	       (from == s->unwanted[1] && to == s->unwanted[0]);
}

/* ---- sampling -------------------------------------------------------------------- */

/* Is a key selected? The factor is a prime near 2^32 / golden ratio, as in the module. */
static __always_inline bool is_key_sampled(__u32 key, __u8 sampling)
{
	return !(key * 0x9e3779b1u >> (32 - sampling));
}

static __always_inline bool is_tcp_sampled(const struct seen_packet *p, const __u8 *tcp,
					   __u8 sampling)
{
	const __u32 header = (__u32)(tcp[12] >> 4) * 4;
	const __u32 len = p->end - p->transport - header;
	const __u32 seq = get_u32(tcp + 4), last = (seq + len - 1) >> 16;
	__u32 block = seq >> 16;

	/* The module does not sample packets whose headers are truncated. */
	if (tcp[13] & (TCP_FIN | TCP_SYN) || p->end < p->transport + header)
		return true;
	if (!len)
		return is_key_sampled(get_u32(tcp + 8) >> 16, sampling);
	for (int i = 0; i < MOST_BLOCKS; i++) {
		if (is_key_sampled(block, sampling))
			return true;
		if (block == last)
			break;
		block = (block + 1) & 0xffff;
	}
	return false;
}

#define ROTATE(word, bits) ((word) << (bits) | (word) >> (64 - (bits)))

static __always_inline void do_sip_round(__u64 v[4])
{
	v[0] += v[1];
	v[1] = ROTATE(v[1], 13) ^ v[0];
	v[0] = ROTATE(v[0], 32);
	v[2] += v[3];
	v[3] = ROTATE(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = ROTATE(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = ROTATE(v[1], 17) ^ v[2];
	v[2] = ROTATE(v[2], 32);
}

/*
 * Compute SipHash-1-3 of @len bytes, with the key 00 01 ... 0f. @words must be zero after these
 * bytes.
 */
static __always_inline __u64 digest_words(const __u64 words[DIGEST_BYTES / 8 + 1], __u32 len)
{
	const __u64 key[2] = { 0x0706050403020100ULL, 0x0f0e0d0c0b0a0908ULL };
	__u64 v[4] = { 0x736f6d6570736575ULL ^ key[0], 0x646f72616e646f6dULL ^ key[1],
		       0x6c7967656e657261ULL ^ key[0], 0x7465646279746573ULL ^ key[1] };

	for (int i = 0; i <= DIGEST_BYTES / 8; i++) {
		const bool is_last = len < ((__u32)i + 1) * 8;
		__u64 word = words[i];

		if (is_last)
			word |= (__u64)len << 56;
		v[3] ^= word;
		do_sip_round(v);
		v[0] ^= word;
		if (is_last)
			break;
	}
	v[2] ^= 0xff;
	for (int i = 0; i < 3; i++)
		do_sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/*
 * Return the lower half of the digest of @len bytes of a datagram's payload, where @len is at
 * most DIGEST_BYTES.
 */
__noinline int digest_payload(__u32 number, __u32 len)
{
	const struct seen_packet *p = get_packet(number);
	__u64 words[DIGEST_BYTES / 8 + 1] = { 0 };
	const __u8 *bytes;

	bytes = p ? get_copied_bytes(p, p->transport + 8, len) : NULL;
	if (!bytes || len > DIGEST_BYTES)
		return 0;
	for (__u32 i = 0; i < DIGEST_BYTES / 8; i++) {
		const __u32 left = len > i * 8 ? len - i * 8 : 0;

		words[i] = get_le64(bytes + i * 8);
		if (left < 8)
			words[i] &= (1ULL << left * 8) - 1;
	}
	return (int)digest_words(words, len);
}

static __always_inline bool is_udp_sampled(const struct seen_packet *p, __u32 number,
					   const __u8 *udp, __u8 sampling)
{
	const __u32 at = p->transport + 8, there = p->end < at ? 0 : p->end - at;
	__u32 len = get_u16(udp + 4);

	/*
	 * The headers of jumbograms, and of datagrams before segmentation offload, contain no
	 * length.
	 */
	if (!len)
		len = there + 8;
	if (len < 8)
		return true;
	len -= 8;
	if (len > DIGEST_BYTES)
		len = DIGEST_BYTES;
	if (p->gso_size && len > p->gso_size)
		len = p->gso_size;
	/* If the payload was not copied, the digest is 0, and the datagram is selected. */
	if (len > there || !get_copied_bytes(p, at, len))
		return true;
	return is_key_sampled((__u32)digest_payload(number, len), sampling);
}

static __always_inline bool is_icmp_sampled(const struct seen_packet *p, const __u8 *icmp,
					    __u8 sampling)
{
	const __u8 type = icmp[0];
	const bool is_echo = p->protocol == IPPROTO_ICMP ? type == 0 || type == 8 :
							   type == 128 || type == 129;

	return !is_echo || icmp[1] || is_key_sampled(get_u16(icmp + 6), sampling);
}

/*
 * Read the header of a chunk and the word after it: the TSN of DATA, or the cumulative TSN of
 * SACK.
 */
static __always_inline bool read_chunk(const struct seen_packet *p, __u32 at, __u8 chunk[8])
{
	const __u8 *bytes = get_copied_bytes(p, at, 8);

	if (bytes) {
		__builtin_memcpy(chunk, bytes, 8);
		return true;
	}
	return at + 8 <= p->linear && !bpf_probe_read_kernel(chunk, 8, p->start + at);
}

__noinline int is_sctp_sampled(__u32 number, __u8 sampling)
{
	const struct seen_packet *p = get_packet(number);
	bool has_key = false;
	__u32 at, key = 0;
	__u8 chunk[8];

	if (!p)
		return true;
	at = p->transport + 12;
	for (int i = 0; i < MOST_CHUNKS && at + sizeof(chunk) <= p->end; i++) {
		__u32 len;

		if (!read_chunk(p, at, chunk))
			break;
		if (chunk[0] == CHUNK_DATA || chunk[0] == CHUNK_I_DATA)
			return is_key_sampled(get_u32(chunk + 4), sampling);
		if (chunk[0] == CHUNK_SACK && !has_key) {
			has_key = true;
			key = get_u32(chunk + 4);
		}
		len = ((__u32)get_u16(chunk + 2) + 3) & ~3u;
		if (len < 4 || len > p->end - at)
			break;
		at += len;
	}
	return !has_key || is_key_sampled(key, sampling);
}

/* Is the packet the one of 2^sampling packets that is recorded? */
__noinline int sample_packet(__u32 number, __u8 sampling)
{
	const struct seen_packet *p = get_packet(number);
	const __u8 *bytes = p ? get_copied_bytes(p, p->transport,
						 p->protocol == IPPROTO_TCP ? 20 : 8) :
				NULL;

	if (!bytes || !sampling || sampling > MAX_SAMPLING)
		return true;
	switch (p->protocol) {
	case IPPROTO_TCP:
		return is_tcp_sampled(p, bytes, sampling);
	case IPPROTO_UDP:
		return is_udp_sampled(p, number, bytes, sampling);
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		return is_icmp_sampled(p, bytes, sampling);
	case IPPROTO_SCTP:
		return is_sctp_sampled(number, sampling);
	default:
		return true;
	}
}

#endif
