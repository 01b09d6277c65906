/* SPDX-License-Identifier: GPL-2.0-only */
/* One packet -> one flat record. Reads memory only, changes nothing. */
#ifndef NETSYNC_PARSE_H
#define NETSYNC_PARSE_H

#include <linux/types.h>

struct sk_buff;

/*
 * Source and destination as they stand in LTTng's channel: the length of an
 * address (4 or 16), the address, and the same again.
 */
struct netsync_addrs {
	u8 bytes[2 * (1 + 16)];
	u8 size;		/* of these two */
} __packed;

static inline u8 netsync_addr_len(const struct netsync_addrs *addrs)
{
	return addrs->bytes[0];
}

static inline const u8 *netsync_saddr(const struct netsync_addrs *addrs)
{
	return addrs->bytes + 1;
}

static inline const u8 *netsync_daddr(const struct netsync_addrs *addrs)
{
	return addrs->bytes + 2 + addrs->bytes[0];
}

/*
 * Records, all integers in host byte order. netsync-events.h says what each
 * field means. They are packed in the order of the tracers' fields, so that
 * these take them in one piece; the addresses, being of two lengths, come last.
 */
#define NETSYNC_RECORD_SIZE(rec, addrs) \
	(offsetof(typeof(*(rec)), addrs.bytes) + (rec)->addrs.size)

struct netsync_tcp {
	u64 sk;
	u32 seq;
	u32 ack_seq;
	u32 len;
	u32 netns;
	u32 tsval;
	u32 tsecr;
	u16 check;
	u16 window;
	u16 flags;
	u16 sport;
	u16 dport;
	u16 id;
	u16 gso_segs;
	u16 gso_size;
	u8 family;
	u8 has_ts;
	u8 sampling;
	struct netsync_addrs addrs;
} __packed;

struct netsync_udp {
	u64 sk;
	u16 sport;
	u16 dport;
	u8 family;
	u16 id;
	u32 len;
	u16 gso_segs;
	u16 gso_size;
	u32 netns;
	u16 check;
	u8 check_final;
	u64 digest;
	u8 sampling;
	struct netsync_addrs addrs;
} __packed;

struct netsync_icmp {
	u64 sk;
	u8 type;
	u16 echo_id;
	u16 echo_seq;
	u8 family;
	u16 id;
	u32 len;
	u32 netns;
	u8 sampling;
	struct netsync_addrs addrs;
} __packed;

struct netsync_sctp {
	u64 sk;
	u16 sport;
	u16 dport;
	u32 vtag;
	u8 chunk;
	u8 has_tsn;
	u32 tsn;
	u8 family;
	u16 id;
	u32 len;
	u16 gso_segs;
	u16 gso_size;
	u32 netns;
	u8 sampling;
	struct netsync_addrs addrs;
} __packed;

/* A socket; one that is made from another; the ends of a connection. */
struct netsync_sock {
	u64 sk;
	u8 family;
	u16 protocol;
	u32 netns;
} __packed;

struct netsync_clone {
	u64 osk;
	u64 nsk;
	u8 family;
	u16 protocol;
	u32 netns;
} __packed;

struct netsync_flow {
	u64 sk;
	u16 sport;
	u16 dport;
	u8 family;
	u16 protocol;
	u32 netns;
	struct netsync_addrs addrs;
} __packed;

/* Protocols as bits. ICMP stands for both of its versions. */
enum {
	NETSYNC_TCP = 1 << 0,
	NETSYNC_UDP = 1 << 1,
	NETSYNC_ICMP = 1 << 2,
	NETSYNC_SCTP = 1 << 3,
	NETSYNC_ALL = (1 << 4) - 1,
};

union netsync_record {
	struct netsync_tcp tcp;
	struct netsync_udp udp;
	struct netsync_icmp icmp;
	struct netsync_sctp sctp;
};

/*
 * Any of these, with what the device knows. In the end all are in the shape of
 * TCP, with the address of the packet for that of the socket.
 */
struct netsync_dev {
	u64 hwtstamp;
	u32 ifindex;
	u16 vlan;
	u8 protocol;
	union netsync_record packet;
} __packed;

/**
 * netsync_parse() - read the headers of a packet
 * @skb: the packet; its data may lie anywhere
 * @nhoff: where the IP header begins, as an skb offset
 * @family: AF_INET or AF_INET6
 * @wanted: the protocols of which there is a record to be made
 * @netns: inode number of the network namespace, for the record
 * @rec: filled in
 *
 * Return: the protocol, of which @rec then holds the record. 0: none of these,
 * or the packet's headers make no sense or are cut short, or the packet is not
 * to be recorded (see the parameter sampling); what @rec holds is undefined.
 */
unsigned int netsync_parse(const struct sk_buff *skb, unsigned int nhoff,
			   u8 family, unsigned int wanted, u32 netns,
			   union netsync_record *rec);

/*
 * Of all packets one in 2^n is recorded, the same ones on all hosts; and
 * whether digests of payloads are recorded. They can change at any time.
 */
extern u8 netsync_sampling;
#define NETSYNC_MAX_SAMPLING 16
extern bool netsync_digest;

#endif /* NETSYNC_PARSE_H */
