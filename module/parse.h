/* SPDX-License-Identifier: GPL-2.0-only */
/* Parse a packet (skb) into a flat record of its headers. Parsing does not change the packet. */
#ifndef NETSYNC_PARSE_H
#define NETSYNC_PARSE_H

#include <linux/string.h>
#include <linux/types.h>

struct sk_buff;

/*
 * Source and destination address, as two sequences of bytes in LTTng's buffers:
 *
 *	| 4 or 16 | source address | 4 or 16 | destination address |
 */
struct netsync_addrs {
	u8 bytes[2 * (1 + 16)];
	u8 size;		/* number of bytes used */
} __packed;

static inline u8 netsync_get_addr_len(const struct netsync_addrs *addrs)
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

static __always_inline void netsync_write_addrs(struct netsync_addrs *addrs,
						const void *saddr,
						const void *daddr, size_t len)
{
	addrs->bytes[0] = len;
	memcpy(addrs->bytes + 1, saddr, len);
	addrs->bytes[1 + len] = len;
	memcpy(addrs->bytes + 2 + len, daddr, len);
	addrs->size = 2 * (1 + len);
}

/*
 * Tables of the fields of records: FIELD(type, format, name). The tables define the structs and the
 * events of all tracers. netsync-events.h documents the fields. Integers are in host byte order.
 * Records are packed, so that a tracer can copy a record as a whole. Addresses come last, because
 * their length varies.
 */
#define NETSYNC_IP_FIELDS(FIELD)	\
	FIELD(u32, dec, len)		\
	FIELD(u32, dec, netns)		\
	FIELD(u16, dec, id)		\
	FIELD(u8, dec, family)		\
	FIELD(u8, dec, sampling)

#define NETSYNC_PORT_FIELDS(FIELD)	\
	FIELD(u16, dec, sport)		\
	FIELD(u16, dec, dport)		\
	FIELD(u16, dec, gso_segs)	\
	FIELD(u16, dec, gso_size)

#define NETSYNC_SEGMENT_FIELDS(FIELD)	\
	FIELD(u32, dec, seq)		\
	FIELD(u32, dec, ack_seq)	\
	FIELD(u32, dec, tsval)		\
	FIELD(u32, dec, tsecr)		\
	FIELD(u16, hex, check)		\
	FIELD(u16, dec, window)		\
	FIELD(u16, hex, flags)		\
	FIELD(u8, dec, has_ts)

#define NETSYNC_TCP_FIELDS(FIELD)	\
	FIELD(u64, hex, sk)		\
	NETSYNC_IP_FIELDS(FIELD)	\
	NETSYNC_PORT_FIELDS(FIELD)	\
	NETSYNC_SEGMENT_FIELDS(FIELD)

#define NETSYNC_UDP_FIELDS(FIELD)	\
	FIELD(u64, hex, sk)		\
	NETSYNC_IP_FIELDS(FIELD)	\
	NETSYNC_PORT_FIELDS(FIELD)	\
	FIELD(u16, hex, check)		\
	FIELD(u8, dec, check_final)	\
	FIELD(u64, hex, digest)

#define NETSYNC_ICMP_FIELDS(FIELD)	\
	FIELD(u64, hex, sk)		\
	NETSYNC_IP_FIELDS(FIELD)	\
	FIELD(u16, dec, echo_id)	\
	FIELD(u16, dec, echo_seq)	\
	FIELD(u8, dec, type)

#define NETSYNC_SCTP_FIELDS(FIELD)	\
	FIELD(u64, hex, sk)		\
	NETSYNC_IP_FIELDS(FIELD)	\
	NETSYNC_PORT_FIELDS(FIELD)	\
	FIELD(u32, hex, vtag)		\
	FIELD(u32, dec, tsn)		\
	FIELD(u8, dec, chunk)		\
	FIELD(u8, dec, has_tsn)

/* Fields about a device. The packet's fields follow, which are named as in TCP's table. */
#define NETSYNC_LINK_FIELDS(FIELD)	\
	FIELD(u64, dec, hwtstamp)	\
	FIELD(u32, dec, ifindex)	\
	FIELD(u16, dec, vlan)		\
	FIELD(u8, dec, protocol)

#define NETSYNC_DEV_FIELDS(FIELD)	\
	NETSYNC_LINK_FIELDS(FIELD)	\
	FIELD(u64, hex, skb)		\
	NETSYNC_IP_FIELDS(FIELD)	\
	NETSYNC_PORT_FIELDS(FIELD)	\
	NETSYNC_SEGMENT_FIELDS(FIELD)

/*
 * Fields about a socket. The next tables are for a socket, a cloned socket, and the ends of a
 * connection.
 */
#define NETSYNC_OWNER_FIELDS(FIELD)	\
	FIELD(u32, dec, netns)		\
	FIELD(u16, dec, protocol)	\
	FIELD(u8, dec, family)

#define NETSYNC_SOCK_FIELDS(FIELD)	\
	FIELD(u64, hex, sk)		\
	NETSYNC_OWNER_FIELDS(FIELD)

#define NETSYNC_CLONE_FIELDS(FIELD)	\
	FIELD(u64, hex, osk)		\
	FIELD(u64, hex, nsk)		\
	NETSYNC_OWNER_FIELDS(FIELD)

#define NETSYNC_FLOW_FIELDS(FIELD)	\
	FIELD(u64, hex, sk)		\
	NETSYNC_OWNER_FIELDS(FIELD)	\
	FIELD(u16, dec, sport)		\
	FIELD(u16, dec, dport)

#define NETSYNC_MEMBER(type, format, name) type name;

struct netsync_tcp {
	NETSYNC_TCP_FIELDS(NETSYNC_MEMBER)
	struct netsync_addrs addrs;
} __packed;

struct netsync_udp {
	NETSYNC_UDP_FIELDS(NETSYNC_MEMBER)
	struct netsync_addrs addrs;
} __packed;

struct netsync_icmp {
	NETSYNC_ICMP_FIELDS(NETSYNC_MEMBER)
	struct netsync_addrs addrs;
} __packed;

struct netsync_sctp {
	NETSYNC_SCTP_FIELDS(NETSYNC_MEMBER)
	struct netsync_addrs addrs;
} __packed;

struct netsync_sock {
	NETSYNC_SOCK_FIELDS(NETSYNC_MEMBER)
} __packed;

struct netsync_clone {
	NETSYNC_CLONE_FIELDS(NETSYNC_MEMBER)
} __packed;

struct netsync_flow {
	NETSYNC_FLOW_FIELDS(NETSYNC_MEMBER)
	struct netsync_addrs addrs;
} __packed;

/* The first fields of all packet records, and of all records of packets with ports. */
struct netsync_ip {
	NETSYNC_MEMBER(u64, hex, sk)
	NETSYNC_IP_FIELDS(NETSYNC_MEMBER)
} __packed;

struct netsync_ports {
	NETSYNC_MEMBER(u64, hex, sk)
	NETSYNC_IP_FIELDS(NETSYNC_MEMBER)
	NETSYNC_PORT_FIELDS(NETSYNC_MEMBER)
} __packed;

/* A bit for each protocol. NETSYNC_ICMP stands for ICMP and ICMPv6. */
enum {
	NETSYNC_TCP = 1 << 0,
	NETSYNC_UDP = 1 << 1,
	NETSYNC_ICMP = 1 << 2,
	NETSYNC_SCTP = 1 << 3,
	NETSYNC_ALL = (1 << 4) - 1,
};

union netsync_record {
	struct netsync_ip ip;
	struct netsync_ports ports;
	struct netsync_tcp tcp;
	struct netsync_udp udp;
	struct netsync_icmp icmp;
	struct netsync_sctp sctp;
};

/*
 * Fields that other protocols have in place of NETSYNC_SEGMENT_FIELDS, because device events have
 * the same fields for all protocols. Each struct is a column of the table in netsync-events.h.
 */
struct netsync_dev_udp {
	u32 none[2];
	u32 digest_high;
	u32 digest_low;
	u16 check;
	u16 none_either;
	u16 check_final;
} __packed;

struct netsync_dev_icmp {
	u32 echo_seq;
	u32 echo_id;
	u32 none[3];
	u16 type;
} __packed;

struct netsync_dev_sctp {
	u32 tsn;
	u32 vtag;
	u32 none[3];
	u16 chunk;		/* chunk type + 256 * has_tsn */
} __packed;

/*
 * Record of a device event. netsync_parse() fills in the union. The record is then changed in
 * place: skb replaces the socket, and the protocol determines the meaning of the other fields.
 */
struct netsync_dev {
	NETSYNC_LINK_FIELDS(NETSYNC_MEMBER)
	union {
		union netsync_record packet;
		struct {
			NETSYNC_MEMBER(u64, hex, skb)
			NETSYNC_IP_FIELDS(NETSYNC_MEMBER)
			NETSYNC_PORT_FIELDS(NETSYNC_MEMBER)
			union {
				struct {
					NETSYNC_SEGMENT_FIELDS(NETSYNC_MEMBER)
				} __packed;
				struct netsync_dev_udp udp;
				struct netsync_dev_icmp icmp;
				struct netsync_dev_sctp sctp;
			} __packed;
			struct netsync_addrs addrs;
		} __packed;
	};
} __packed;

/**
 * netsync_parse() - read the headers of a packet
 * @skb: the packet; its data may lie anywhere
 * @nhoff: offset of the IP header in the skb
 * @family: AF_INET or AF_INET6
 * @wanted: bits of the protocols whose packets are recorded
 * @netns: inode number of the network namespace, for the record
 * @rec: filled in, without the socket
 *
 * Return: the bit of the protocol of the record in @rec. 0 means another protocol, headers
 * that are malformed or truncated, or a packet that the parameter sampling excludes; the
 * contents of @rec are then undefined.
 */
unsigned int netsync_parse(const struct sk_buff *skb, unsigned int nhoff,
			   u8 family, unsigned int wanted, u32 netns,
			   union netsync_record *rec);

/* Module parameters, which can change at any time. */
/* If this is n, record one of 2^n packets, the same ones on all hosts. */
extern u8 netsync_sampling;
/* Maximum, which is one packet in 65,536; chosen. */
#define NETSYNC_MAX_SAMPLING 16
extern bool netsync_digest;	/* record digests of UDP payloads */

#endif /* NETSYNC_PARSE_H */
