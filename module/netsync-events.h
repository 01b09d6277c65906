/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The events, as the kernel's own tracers (ftrace, perf, BPF) see them, and
 * the tracepoints that LTTng's probe uses.
 *
 * inet_sock_local_in, inet_udp_local_in, inet_icmp_local_in,
 * inet_sctp_local_in: a packet of TCP, UDP, ICMP echo or SCTP that is handed
 *	to the local stack. First at netfilter's LOCAL_IN, IPv4 and IPv6, every
 *	network namespace. After routing, and after what is done at PRE_ROUTING:
 *	destination NAT and the answers to source NAT are translated already,
 *	packets dropped there give no event. Before the filter rules of INPUT
 *	and source NAT there: packets that these drop do give an event,
 *	addresses are not yet translated. Fragments of IPv4 are put together
 *	before, those of IPv6 after it (unless connection tracking is in use):
 *	of these, the first one gives the event. Forwarded packets give none.
 *
 * inet_sock_local_out, inet_udp_local_out, inet_icmp_local_out,
 * inet_sctp_local_out: a packet that the local stack sends. Last at
 *	netfilter's LOCAL_OUT. After the rules of OUTPUT: packets that these
 *	drop give no event, destination NAT of OUTPUT is done. Before
 *	POST_ROUTING: source NAT is still to come, and packets dropped there or
 *	later (queueing discipline, device) do give an event. Before
 *	fragmentation and segmentation: with segmentation offload one event
 *	stands for up to gso_segs packets on the wire. Forwarded packets give
 *	none.
 *
 * Packets on a loopback device are seen going out and coming in, as are
 * broadcasts, and multicasts that are looped, by their sender. A packet whose
 * headers are cut short, or make no sense, gives no event.
 *
 * inet_dev_xmit: a packet of any of these protocols that a device is given to
 *	send, in tracepoint net_dev_start_xmit: after the queueing discipline
 *	and after segmentation and checksums in software. One that the device
 *	has no room for at the moment is seen again.
 *
 * inet_dev_receive: a packet that a device has received, as its driver hands
 *	it over: before receive offload in software (GRO), address translation
 *	and defragmentation.
 *
 * There is one event for each packet and device: on stacked devices (VLAN,
 * bridge, bond, veth, tunnel) one packet is sent by several, and the last is
 * nearest to the wire; it is received by the lowest one, and again by those
 * that hand it over anew (bridge, veth, tunnel) but not by VLAN and bond. So
 * does a router see the packets that it forwards. Of fragments the first one
 * gives the event. Packets inside of tunnels are seen at the tunnel's device.
 *
 * inet_sock_create: a TCP or UDP socket was created, by socket() as a rule, in
 *	the context of the task that wants it.
 *
 * inet_sock_clone: a TCP socket was made from a listening one, for a connection
 *	that comes in. In the context of whatever was interrupted.
 *
 * inet_sock_delete: a TCP or UDP socket, from either, is given back to memory:
 *	its address can be that of another one from now on. Long after close()
 *	where data are still to be sent.
 *
 * inet_connect: connect() of a TCP socket is about to send its first segment,
 *	in the context of the task, whether a peer answers or not; or that of a
 *	UDP socket succeeded.
 *
 * inet_accept: the handshake of a TCP connection that came in is complete; it
 *	waits for accept(), or is given to one that waits. In the context of
 *	whatever was interrupted.
 *
 * Fields, all integers as numbers in host byte order:
 *
 *  sk        address of the socket (skb->sk) as found, which ties packets of
 *            one connection together; 0 where there is none yet, as for
 *            datagrams and the first segment of a connection that come in. It
 *            can be a request or time-wait socket
 *  saddr     source address, in network order: 16 bytes, IPv4 as
 *            ::ffff:a.b.c.d; LTTng: a sequence of 4 or 16 bytes. With an IPv6
 *            routing header both are those of the IPv6 header
 *  daddr     destination address, likewise
 *  sport     source port
 *  dport     destination port
 *  family    2 IPv4, 10 IPv6
 *  id        identification of the IPv4 header; 0 for IPv6
 *  len       payload in bytes: no headers, no padding. In the first of several
 *            fragments: what there is of it, but for UDP all of it
 *  gso_segs  packets that this one stands for (segmentation or receive
 *            offload), as found; 0 or 1 for a single one
 *  gso_size  payload in bytes of each but the last of these; 0: a single one
 *  netns     inode number of the network namespace (stat -L -c %i
 *            /proc/PID/ns/net)
 *  sampling  the module's parameter of this name when the event was made: of
 *            2^sampling packets, one was recorded (see below)
 *
 * of TCP:
 *
 *  seq       sequence number as in the header, not relative
 *  ack_seq   acknowledgment number as in the header; meaningful if the ACK
 *            flag is set
 *  check     TCP checksum; with checksum offload, at local_out it is that of
 *            the pseudo-header only, thus different at both ends
 *  window    as in the header, not scaled
 *  flags     the 16 bits after ack_seq: data offset in 32-bit words (4 bits),
 *            reserved and AE (4), CWR ECE URG ACK PSH RST SYN FIN
 *  has_ts    1: the segment has TCP's timestamps option; 0: it has not
 *  tsval     timestamp value of that option, in units of its sender; or 0
 *  tsecr     timestamp echo reply; or 0
 *
 * of UDP:
 *
 *  check     UDP checksum; 0: none
 *  check_final  1: it is what goes over the wire; 0: it is still to be made
 *            (checksum offload, segmentation)
 *  digest    of the first min(64, len, gso_size if not 0) bytes of the
 *            payload: SipHash-2-4, with the bytes 0 to 15 as the key, thus
 *            equal on all hosts. Who can guess a payload can confirm it by
 *            this; the module's parameter digest=N turns it off. 0: none
 *
 * of ICMP, of which echo requests and replies give events:
 *
 *  type      8 request, 0 reply; of ICMPv6 128 request, 129 reply
 *  echo_id   identifier
 *  echo_seq  sequence number
 *
 * of SCTP:
 *
 *  vtag      verification tag
 *  chunk     type of the first chunk (0 DATA, 3 SACK); 255: there is none
 *  has_tsn   1: there is a DATA or I-DATA chunk; 0: there is none
 *  tsn       transmission sequence number of the first of these; or 0
 *
 * of a device, for all protocols:
 *
 *  skb       address of the packet in memory, which ties the events of one
 *            packet together while it is on its way through a host
 *  hwtstamp  inet_dev_receive: when the device received it, in nanoseconds of
 *            the device's clock; 0: it does not say
 *  ifindex   number of the device in its network namespace
 *  vlan      priority (3 bits), DEI (1) and number (12) of the outermost VLAN
 *            tag, which may be in the packet or beside it; 0: none
 *  protocol  6 TCP, 17 UDP, 1 ICMP, 58 ICMPv6, 132 SCTP; it says what the
 *            following mean:
 *
 *            TCP       UDP                    ICMP      SCTP
 *  sport     sport     sport                  0         sport
 *  dport     dport     dport                  0         dport
 *  seq       seq       0                      echo_seq  tsn
 *  ack_seq   ack_seq   0                      echo_id   vtag
 *  check     check     check                  0         0
 *  flags     flags     check_final            type      chunk + 256 * has_tsn
 *  window    window    0                      0         0
 *  has_ts    has_ts    0                      0         0
 *  tsval     tsval     digest, upper 32 bits  0         0
 *  tsecr     tsecr     digest, lower 32 bits  0         0
 *
 * of sockets:
 *
 *  sk        address of the socket, as in the events of packets
 *  osk       that of the listening socket
 *  nsk       that of the new one
 *  protocol  6 TCP, 17 UDP
 *  family    of the socket; of inet_connect and inet_accept, of the packets:
 *            an IPv6 socket may talk IPv4
 *  saddr, sport  the local end
 *  daddr, dport  the other end
 *
 * Sampling records the same packets on all hosts, whatever segmentation and
 * address translation they go through. A number is chosen if the upper
 * sampling bits of number * 0x9e3779b1 (modulo 2^32) are 0. Of these packets
 * the number must be chosen, and all others are recorded:
 *
 *  TCP segments with data: of any block of 64 KiB of sequence space (seq / 2^16)
 *            of which they hold a byte; without data: the block of ack_seq.
 *            SYN and FIN are always recorded
 *  UDP       the lower 32 bits of the digest, recorded or not
 *  ICMP      echo_seq
 *  SCTP      tsn; without DATA the cumulative one of SACK
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM netsync

#if !defined(NETSYNC_EVENTS_H) || defined(TRACE_HEADER_MULTI_READ)
#define NETSYNC_EVENTS_H

#include <linux/tracepoint.h>

#include "events.h"
#include "parse.h"

#ifndef NETSYNC_COPY_ADDRS
#define NETSYNC_COPY_ADDRS
/* Both with 16 bytes, IPv4 as ::ffff:a.b.c.d. */
static __always_inline void netsync_copy_addrs(u8 *saddr, u8 *daddr,
					       const struct netsync_addrs *addrs)
{
	if (netsync_addr_len(addrs) == 16) {
		memcpy(saddr, netsync_saddr(addrs), 16);
		memcpy(daddr, netsync_daddr(addrs), 16);
	} else {
		static const u8 mapped[12] = { [10] = 0xff, 0xff };

		memcpy(saddr, mapped, 12);
		memcpy(saddr + 12, netsync_saddr(addrs), 4);
		memcpy(daddr, mapped, 12);
		memcpy(daddr + 12, netsync_daddr(addrs), 4);
	}
}
#endif

DECLARE_EVENT_CLASS(inet_sock_local,
	TP_PROTO(const struct netsync_tcp *rec),
	TP_ARGS(rec),
	TP_STRUCT__entry(
		__field(u64, sk)
		__field(u32, seq)
		__field(u32, ack_seq)
		__field(u32, len)
		__field(u32, netns)
		__field(u32, tsval)
		__field(u32, tsecr)
		__field(u16, check)
		__field(u16, window)
		__field(u16, flags)
		__field(u16, sport)
		__field(u16, dport)
		__field(u16, id)
		__field(u16, gso_segs)
		__field(u16, gso_size)
		__field(u8, family)
		__field(u8, has_ts)
		__field(u8, sampling)
		__array(u8, saddr, 16)
		__array(u8, daddr, 16)
	),
	TP_fast_assign(
		__entry->sk = rec->sk;
		__entry->seq = rec->seq;
		__entry->ack_seq = rec->ack_seq;
		__entry->len = rec->len;
		__entry->netns = rec->netns;
		__entry->tsval = rec->tsval;
		__entry->tsecr = rec->tsecr;
		__entry->check = rec->check;
		__entry->window = rec->window;
		__entry->flags = rec->flags;
		__entry->sport = rec->sport;
		__entry->dport = rec->dport;
		__entry->id = rec->id;
		__entry->gso_segs = rec->gso_segs;
		__entry->gso_size = rec->gso_size;
		__entry->family = rec->family;
		__entry->has_ts = rec->has_ts;
		__entry->sampling = rec->sampling;
		netsync_copy_addrs(__entry->saddr, __entry->daddr, &rec->addrs);
	),
	TP_printk("sk=0x%llx seq=%u ack_seq=%u len=%u netns=%u tsval=%u tsecr=%u check=0x%04x window=%u flags=0x%04x sport=%u dport=%u id=%u gso_segs=%u gso_size=%u family=%u has_ts=%u sampling=%u saddr=%pI6c daddr=%pI6c",
		  __entry->sk, __entry->seq, __entry->ack_seq, __entry->len,
		  __entry->netns, __entry->tsval, __entry->tsecr,
		  __entry->check, __entry->window, __entry->flags,
		  __entry->sport, __entry->dport, __entry->id,
		  __entry->gso_segs, __entry->gso_size, __entry->family,
		  __entry->has_ts, __entry->sampling, __entry->saddr,
		  __entry->daddr)
);

DEFINE_EVENT_FN(inet_sock_local, inet_sock_local_in,
	TP_PROTO(const struct netsync_tcp *rec),
	TP_ARGS(rec),
	netsync_reg_inet_sock_local_in, netsync_unreg_inet_sock_local_in
);

DEFINE_EVENT_FN(inet_sock_local, inet_sock_local_out,
	TP_PROTO(const struct netsync_tcp *rec),
	TP_ARGS(rec),
	netsync_reg_inet_sock_local_out, netsync_unreg_inet_sock_local_out
);

DECLARE_EVENT_CLASS(inet_udp_local,
	TP_PROTO(const struct netsync_udp *rec),
	TP_ARGS(rec),
	TP_STRUCT__entry(
		__field(u64, sk)
		__field(u16, sport)
		__field(u16, dport)
		__field(u8, family)
		__field(u16, id)
		__field(u32, len)
		__field(u16, gso_segs)
		__field(u16, gso_size)
		__field(u32, netns)
		__field(u16, check)
		__field(u8, check_final)
		__field(u64, digest)
		__field(u8, sampling)
		__array(u8, saddr, 16)
		__array(u8, daddr, 16)
	),
	TP_fast_assign(
		__entry->sk = rec->sk;
		__entry->sport = rec->sport;
		__entry->dport = rec->dport;
		__entry->family = rec->family;
		__entry->id = rec->id;
		__entry->len = rec->len;
		__entry->gso_segs = rec->gso_segs;
		__entry->gso_size = rec->gso_size;
		__entry->netns = rec->netns;
		__entry->check = rec->check;
		__entry->check_final = rec->check_final;
		__entry->digest = rec->digest;
		__entry->sampling = rec->sampling;
		netsync_copy_addrs(__entry->saddr, __entry->daddr, &rec->addrs);
	),
	TP_printk("sk=0x%llx sport=%u dport=%u family=%u id=%u len=%u gso_segs=%u gso_size=%u netns=%u check=0x%04x check_final=%u digest=0x%llx sampling=%u saddr=%pI6c daddr=%pI6c",
		  __entry->sk, __entry->sport, __entry->dport, __entry->family,
		  __entry->id, __entry->len, __entry->gso_segs,
		  __entry->gso_size, __entry->netns, __entry->check,
		  __entry->check_final, __entry->digest, __entry->sampling,
		  __entry->saddr, __entry->daddr)
);

DEFINE_EVENT_FN(inet_udp_local, inet_udp_local_in,
	TP_PROTO(const struct netsync_udp *rec),
	TP_ARGS(rec),
	netsync_reg_inet_udp_local_in, netsync_unreg_inet_udp_local_in
);

DEFINE_EVENT_FN(inet_udp_local, inet_udp_local_out,
	TP_PROTO(const struct netsync_udp *rec),
	TP_ARGS(rec),
	netsync_reg_inet_udp_local_out, netsync_unreg_inet_udp_local_out
);

DECLARE_EVENT_CLASS(inet_icmp_local,
	TP_PROTO(const struct netsync_icmp *rec),
	TP_ARGS(rec),
	TP_STRUCT__entry(
		__field(u64, sk)
		__field(u8, type)
		__field(u16, echo_id)
		__field(u16, echo_seq)
		__field(u8, family)
		__field(u16, id)
		__field(u32, len)
		__field(u32, netns)
		__field(u8, sampling)
		__array(u8, saddr, 16)
		__array(u8, daddr, 16)
	),
	TP_fast_assign(
		__entry->sk = rec->sk;
		__entry->type = rec->type;
		__entry->echo_id = rec->echo_id;
		__entry->echo_seq = rec->echo_seq;
		__entry->family = rec->family;
		__entry->id = rec->id;
		__entry->len = rec->len;
		__entry->netns = rec->netns;
		__entry->sampling = rec->sampling;
		netsync_copy_addrs(__entry->saddr, __entry->daddr, &rec->addrs);
	),
	TP_printk("sk=0x%llx type=%u echo_id=%u echo_seq=%u family=%u id=%u len=%u netns=%u sampling=%u saddr=%pI6c daddr=%pI6c",
		  __entry->sk, __entry->type, __entry->echo_id,
		  __entry->echo_seq, __entry->family, __entry->id, __entry->len,
		  __entry->netns, __entry->sampling, __entry->saddr,
		  __entry->daddr)
);

DEFINE_EVENT_FN(inet_icmp_local, inet_icmp_local_in,
	TP_PROTO(const struct netsync_icmp *rec),
	TP_ARGS(rec),
	netsync_reg_inet_icmp_local_in, netsync_unreg_inet_icmp_local_in
);

DEFINE_EVENT_FN(inet_icmp_local, inet_icmp_local_out,
	TP_PROTO(const struct netsync_icmp *rec),
	TP_ARGS(rec),
	netsync_reg_inet_icmp_local_out, netsync_unreg_inet_icmp_local_out
);

DECLARE_EVENT_CLASS(inet_sctp_local,
	TP_PROTO(const struct netsync_sctp *rec),
	TP_ARGS(rec),
	TP_STRUCT__entry(
		__field(u64, sk)
		__field(u16, sport)
		__field(u16, dport)
		__field(u32, vtag)
		__field(u8, chunk)
		__field(u8, has_tsn)
		__field(u32, tsn)
		__field(u8, family)
		__field(u16, id)
		__field(u32, len)
		__field(u16, gso_segs)
		__field(u16, gso_size)
		__field(u32, netns)
		__field(u8, sampling)
		__array(u8, saddr, 16)
		__array(u8, daddr, 16)
	),
	TP_fast_assign(
		__entry->sk = rec->sk;
		__entry->sport = rec->sport;
		__entry->dport = rec->dport;
		__entry->vtag = rec->vtag;
		__entry->chunk = rec->chunk;
		__entry->has_tsn = rec->has_tsn;
		__entry->tsn = rec->tsn;
		__entry->family = rec->family;
		__entry->id = rec->id;
		__entry->len = rec->len;
		__entry->gso_segs = rec->gso_segs;
		__entry->gso_size = rec->gso_size;
		__entry->netns = rec->netns;
		__entry->sampling = rec->sampling;
		netsync_copy_addrs(__entry->saddr, __entry->daddr, &rec->addrs);
	),
	TP_printk("sk=0x%llx sport=%u dport=%u vtag=0x%08x chunk=%u has_tsn=%u tsn=%u family=%u id=%u len=%u gso_segs=%u gso_size=%u netns=%u sampling=%u saddr=%pI6c daddr=%pI6c",
		  __entry->sk, __entry->sport, __entry->dport, __entry->vtag,
		  __entry->chunk, __entry->has_tsn, __entry->tsn,
		  __entry->family, __entry->id, __entry->len, __entry->gso_segs,
		  __entry->gso_size, __entry->netns, __entry->sampling,
		  __entry->saddr, __entry->daddr)
);

DEFINE_EVENT_FN(inet_sctp_local, inet_sctp_local_in,
	TP_PROTO(const struct netsync_sctp *rec),
	TP_ARGS(rec),
	netsync_reg_inet_sctp_local_in, netsync_unreg_inet_sctp_local_in
);

DEFINE_EVENT_FN(inet_sctp_local, inet_sctp_local_out,
	TP_PROTO(const struct netsync_sctp *rec),
	TP_ARGS(rec),
	netsync_reg_inet_sctp_local_out, netsync_unreg_inet_sctp_local_out
);

DECLARE_EVENT_CLASS(inet_sock_life,
	TP_PROTO(const struct netsync_sock *rec),
	TP_ARGS(rec),
	TP_STRUCT__entry(
		__field(u64, sk)
		__field(u8, family)
		__field(u16, protocol)
		__field(u32, netns)
	),
	TP_fast_assign(
		__entry->sk = rec->sk;
		__entry->family = rec->family;
		__entry->protocol = rec->protocol;
		__entry->netns = rec->netns;
	),
	TP_printk("sk=0x%llx family=%u protocol=%u netns=%u",
		  __entry->sk, __entry->family, __entry->protocol,
		  __entry->netns)
);

DEFINE_EVENT_FN(inet_sock_life, inet_sock_create,
	TP_PROTO(const struct netsync_sock *rec),
	TP_ARGS(rec),
	netsync_reg_inet_sock_create, netsync_unreg_inet_sock_create
);

DEFINE_EVENT_FN(inet_sock_life, inet_sock_delete,
	TP_PROTO(const struct netsync_sock *rec),
	TP_ARGS(rec),
	netsync_reg_inet_sock_delete, netsync_unreg_inet_sock_delete
);

DECLARE_EVENT_CLASS(inet_sock_copy,
	TP_PROTO(const struct netsync_clone *rec),
	TP_ARGS(rec),
	TP_STRUCT__entry(
		__field(u64, osk)
		__field(u64, nsk)
		__field(u8, family)
		__field(u16, protocol)
		__field(u32, netns)
	),
	TP_fast_assign(
		__entry->osk = rec->osk;
		__entry->nsk = rec->nsk;
		__entry->family = rec->family;
		__entry->protocol = rec->protocol;
		__entry->netns = rec->netns;
	),
	TP_printk("osk=0x%llx nsk=0x%llx family=%u protocol=%u netns=%u",
		  __entry->osk, __entry->nsk, __entry->family,
		  __entry->protocol, __entry->netns)
);

DEFINE_EVENT_FN(inet_sock_copy, inet_sock_clone,
	TP_PROTO(const struct netsync_clone *rec),
	TP_ARGS(rec),
	netsync_reg_inet_sock_clone, netsync_unreg_inet_sock_clone
);

DECLARE_EVENT_CLASS(inet_flow,
	TP_PROTO(const struct netsync_flow *rec),
	TP_ARGS(rec),
	TP_STRUCT__entry(
		__field(u64, sk)
		__field(u16, sport)
		__field(u16, dport)
		__field(u8, family)
		__field(u16, protocol)
		__field(u32, netns)
		__array(u8, saddr, 16)
		__array(u8, daddr, 16)
	),
	TP_fast_assign(
		__entry->sk = rec->sk;
		__entry->sport = rec->sport;
		__entry->dport = rec->dport;
		__entry->family = rec->family;
		__entry->protocol = rec->protocol;
		__entry->netns = rec->netns;
		netsync_copy_addrs(__entry->saddr, __entry->daddr, &rec->addrs);
	),
	TP_printk("sk=0x%llx sport=%u dport=%u family=%u protocol=%u netns=%u saddr=%pI6c daddr=%pI6c",
		  __entry->sk, __entry->sport, __entry->dport, __entry->family,
		  __entry->protocol, __entry->netns, __entry->saddr,
		  __entry->daddr)
);

DEFINE_EVENT_FN(inet_flow, inet_connect,
	TP_PROTO(const struct netsync_flow *rec),
	TP_ARGS(rec),
	netsync_reg_inet_connect, netsync_unreg_inet_connect
);

DEFINE_EVENT_FN(inet_flow, inet_accept,
	TP_PROTO(const struct netsync_flow *rec),
	TP_ARGS(rec),
	netsync_reg_inet_accept, netsync_unreg_inet_accept
);

DECLARE_EVENT_CLASS(inet_dev,
	TP_PROTO(const struct netsync_dev *rec),
	TP_ARGS(rec),
	TP_STRUCT__entry(
		__field(u64, hwtstamp)
		__field(u32, ifindex)
		__field(u16, vlan)
		__field(u8, protocol)
		__field(u64, skb)
		__field(u32, seq)
		__field(u32, ack_seq)
		__field(u32, len)
		__field(u32, netns)
		__field(u32, tsval)
		__field(u32, tsecr)
		__field(u16, check)
		__field(u16, window)
		__field(u16, flags)
		__field(u16, sport)
		__field(u16, dport)
		__field(u16, id)
		__field(u16, gso_segs)
		__field(u16, gso_size)
		__field(u8, family)
		__field(u8, has_ts)
		__field(u8, sampling)
		__array(u8, saddr, 16)
		__array(u8, daddr, 16)
	),
	TP_fast_assign(
		__entry->hwtstamp = rec->hwtstamp;
		__entry->ifindex = rec->ifindex;
		__entry->vlan = rec->vlan;
		__entry->protocol = rec->protocol;
		__entry->skb = rec->packet.tcp.sk;
		__entry->seq = rec->packet.tcp.seq;
		__entry->ack_seq = rec->packet.tcp.ack_seq;
		__entry->len = rec->packet.tcp.len;
		__entry->netns = rec->packet.tcp.netns;
		__entry->tsval = rec->packet.tcp.tsval;
		__entry->tsecr = rec->packet.tcp.tsecr;
		__entry->check = rec->packet.tcp.check;
		__entry->window = rec->packet.tcp.window;
		__entry->flags = rec->packet.tcp.flags;
		__entry->sport = rec->packet.tcp.sport;
		__entry->dport = rec->packet.tcp.dport;
		__entry->id = rec->packet.tcp.id;
		__entry->gso_segs = rec->packet.tcp.gso_segs;
		__entry->gso_size = rec->packet.tcp.gso_size;
		__entry->family = rec->packet.tcp.family;
		__entry->has_ts = rec->packet.tcp.has_ts;
		__entry->sampling = rec->packet.tcp.sampling;
		netsync_copy_addrs(__entry->saddr, __entry->daddr,
				   &rec->packet.tcp.addrs);
	),
	TP_printk("hwtstamp=%llu ifindex=%u vlan=%u protocol=%u skb=0x%llx seq=%u ack_seq=%u len=%u netns=%u tsval=%u tsecr=%u check=0x%04x window=%u flags=0x%04x sport=%u dport=%u id=%u gso_segs=%u gso_size=%u family=%u has_ts=%u sampling=%u saddr=%pI6c daddr=%pI6c",
		  __entry->hwtstamp, __entry->ifindex, __entry->vlan,
		  __entry->protocol, __entry->skb, __entry->seq,
		  __entry->ack_seq, __entry->len, __entry->netns,
		  __entry->tsval, __entry->tsecr, __entry->check,
		  __entry->window, __entry->flags, __entry->sport,
		  __entry->dport, __entry->id, __entry->gso_segs,
		  __entry->gso_size, __entry->family, __entry->has_ts,
		  __entry->sampling, __entry->saddr, __entry->daddr)
);

DEFINE_EVENT_FN(inet_dev, inet_dev_xmit,
	TP_PROTO(const struct netsync_dev *rec),
	TP_ARGS(rec),
	netsync_reg_inet_dev_xmit, netsync_unreg_inet_dev_xmit
);

DEFINE_EVENT_FN(inet_dev, inet_dev_receive,
	TP_PROTO(const struct netsync_dev *rec),
	TP_ARGS(rec),
	netsync_reg_inet_dev_receive, netsync_unreg_inet_dev_receive
);

#endif /* NETSYNC_EVENTS_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE netsync-events
#include <trace/define_trace.h>
