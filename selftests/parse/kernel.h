/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The part of the kernel that module/parse.c needs, in user space. All headers in kernel/ include
 * this one. The linear part of a packet and the rest are two allocations of exactly their size, so
 * that a sanitizer detects reads beyond the end.
 */
#ifndef KERNEL_H
#define KERNEL_H

#include <arpa/inet.h>
#include <linux/types.h>
#include <linux/version.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t ktime_t;

#define __packed __attribute__((__packed__))
#undef __always_inline
#define __always_inline inline __attribute__((__always_inline__))
#define noinline __attribute__((__noinline__))
#define __read_mostly
#define __force
#define likely(x) (x)
#define unlikely(x) (x)
#define READ_ONCE(x) (x)
#define IS_ENABLED(x) 1
#define min(a, b) ((a) < (b) ? (a) : (b))
#define min_t(type, a, b) min((type)(a), (type)(b))
#define round_up(x, to) (((x) + (to)-1) / (to) * (to))
#define U8_MAX UINT8_MAX
#define U16_MAX UINT16_MAX

static inline u64 rol64(u64 x, int bits)
{
	return x << bits | x >> (64 - bits);
}

static inline u32 get_unaligned_be32(const void *p)
{
	const u8 *b = p;

	return (u32)b[0] << 24 | b[1] << 16 | b[2] << 8 | b[3];
}

static inline u64 get_unaligned_le64(const void *p)
{
	const u8 *b = p;
	u64 x = 0;
	int i;

	for (i = 7; i >= 0; i--)
		x = x << 8 | b[i];
	return x;
}

/* ---- packets -------------------------------------------------------------- */

#define CHECKSUM_PARTIAL 3
#define SKBTX_HW_TSTAMP_NETDEV 1

struct skb_shared_info {
	u16 gso_segs, gso_size;
	u8 tx_flags;
	struct {
		ktime_t hwtstamp;
	} hwtstamps;
};

struct sk_buff {
	u8 *data;
	u8 *rest; /* data that are not in the linear part */
	unsigned int len, data_len;
	u8 ip_summed;
	struct skb_shared_info shared;
};

#define skb_shinfo(skb) (&(skb)->shared)
#define ktime_to_ns(time) (time)

static inline int skb_headlen(const struct sk_buff *skb)
{
	return skb->len - skb->data_len;
}

static inline int skb_copy_bits(const struct sk_buff *skb, int offset, void *to, int len)
{
	u8 *byte = to;
	int i;

	if (offset < 0 || offset + len > (int)skb->len)
		return -1;
	for (i = offset; i < offset + len; i++)
		*byte++ = i < skb_headlen(skb) ? skb->data[i] : skb->rest[i - skb_headlen(skb)];
	return 0;
}

/* ---- protocols ------------------------------------------------------------ */

#define IP_OFFSET 0x1fff
#define IP_MF 0x2000
#define IP6_MF 0x0001
#define TCPOPT_EOL 0
#define TCPOPT_NOP 1
#define TCPOPT_TIMESTAMP 8
#define TCPOLEN_TIMESTAMP 10
#define TCPOLEN_TSTAMP_ALIGNED 12
#define MAX_TCP_OPTION_SPACE 40
#define TCPHDR_FIN 0x01
#define TCPHDR_SYN 0x02

struct sctphdr {
	__be16 source;
	__be16 dest;
	__be32 vtag;
	u32 checksum;
};

static inline bool ipv6_ext_hdr(u8 kind)
{
	return kind == IPPROTO_HOPOPTS || kind == IPPROTO_ROUTING || kind == IPPROTO_FRAGMENT ||
	       kind == IPPROTO_AH || kind == IPPROTO_NONE || kind == IPPROTO_DSTOPTS;
}

static inline int ipv6_skip_exthdr(const struct sk_buff *skb, int start, u8 *kind, __be16 *frag_off)
{
	u8 head[8];

	*frag_off = 0;
	while (ipv6_ext_hdr(*kind)) {
		if (*kind == IPPROTO_NONE || skb_copy_bits(skb, start, head, 2))
			return -1;
		if (*kind == IPPROTO_FRAGMENT) {
			if (skb_copy_bits(skb, start, head, 4))
				return -1;
			memcpy(frag_off, head + 2, 2);
			if (ntohs(*frag_off) & ~7)
				return start;
			start += 8;
		} else if (*kind == IPPROTO_AH) {
			start += (head[1] + 2) * 4;
		} else {
			start += (head[1] + 1) * 8;
		}
		*kind = head[0];
	}
	return start;
}

#endif /* KERNEL_H */
