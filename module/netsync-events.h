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
 * netsync_clock: the kernel's clocks at an instant: when a tracer begins to use
 *	the event, whenever the kernel or a daemon changes a clock (its rate, its
 *	offset, or the clocksource), and at the first update of the time in each
 *	second. From the instant of one event to that of the next, clocks are
 *	straight to 50 ns. An event is recorded a little after its instant.
 *
 * Fields, all integers as numbers in host byte order:
 *
 *  sk        number of the socket (skb->sk) as found, which ties packets of
 *            one connection together; 0 where there is none yet, as for
 *            datagrams and the first segment of a connection that come in. It
 *            can be a request or time-wait socket. A hash of its address, with
 *            a secret key that is the same until the machine is started anew;
 *            with the module's parameter raw_addresses=Y the address
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
 *            payload: SipHash-1-3, with the bytes 0 to 15 as the key, thus
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
 *  skb       number of the packet's buffer, made of its address as sk is, which
 *            ties the events of one packet together while it is on its way
 *            through a host
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
 *  sk        number of the socket, as in the events of packets
 *  osk       that of the listening socket
 *  nsk       that of the new one
 *  netns     as in the events of packets; of inet_sock_delete 0 where it is a
 *            socket of the kernel's own, whose namespace may have ended before
 *  protocol  6 TCP, 17 UDP
 *  family    of the socket; of inet_connect and inet_accept, of the packets:
 *            an IPv6 socket may talk IPv4
 *  saddr, sport  the local end
 *  daddr, dport  the other end
 *
 * of clocks:
 *
 *  mono      CLOCK_MONOTONIC at the instant, in nanoseconds: LTTng's clock, and
 *            that of ftrace and perf where they are told so
 *  raw       CLOCK_MONOTONIC_RAW at the same instant, which nobody steers
 *  offs_real CLOCK_REALTIME - mono, in nanoseconds
 *  offs_boot CLOCK_BOOTTIME - mono, in nanoseconds: time that the machine was
 *            suspended
 *  offs_tai  CLOCK_TAI - mono, in nanoseconds
 *  mult      rate of CLOCK_MONOTONIC from here on: mult / 2^shift nanoseconds for
 *            each tick of the clocksource
 *  raw_mult  rate of CLOCK_MONOTONIC_RAW, likewise: CLOCK_MONOTONIC runs at
 *            mult / raw_mult of its rate
 *  steps     how often CLOCK_REALTIME was set since the machine was started,
 *            leap seconds included
 *  seq       number of the event since the module is loaded: where one is
 *            missing, it was lost, or nobody traced for a while
 *  clocksource  its name, up to 31 characters
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

#include "clock.h"
#include "events.h"
#include "parse.h"

#ifndef NETSYNC_COPY_ADDRS
#define NETSYNC_COPY_ADDRS
/* Copy both addresses to 16 bytes each, IPv4 as ::ffff:a.b.c.d (RFC 4291, 2.5.5.2). */
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

#define NETSYNC_FORMAT_u8_dec "%u"
#define NETSYNC_FORMAT_u16_dec "%u"
#define NETSYNC_FORMAT_u32_dec "%u"
#define NETSYNC_FORMAT_u64_dec "%llu"
#define NETSYNC_FORMAT_s64_dec "%lld"
#define NETSYNC_FORMAT_u16_hex "0x%04x"
#define NETSYNC_FORMAT_u32_hex "0x%08x"
#define NETSYNC_FORMAT_u64_hex "0x%llx"

/* A field of a record in the parts of a TRACE_EVENT. */
#define NETSYNC_ENTRY(type, format, name) __field(type, name)
#define NETSYNC_ASSIGN(type, format, name) __entry->name = rec->name;
#define NETSYNC_PRINT(type, format, name) \
	#name "=" NETSYNC_FORMAT_##type##_##format " "
#define NETSYNC_VALUE(type, format, name) __entry->name,

/* Define a class of events that end with addresses; below: an event of a class. */
#define NETSYNC_CLASS(class, record, FIELDS)				\
	DECLARE_EVENT_CLASS(class,					\
		TP_PROTO(const struct record *rec),			\
		TP_ARGS(rec),						\
		TP_STRUCT__entry(					\
			FIELDS(NETSYNC_ENTRY)				\
			__array(u8, saddr, 16)				\
			__array(u8, daddr, 16)				\
		),							\
		TP_fast_assign(						\
			FIELDS(NETSYNC_ASSIGN)				\
			netsync_copy_addrs(__entry->saddr,		\
					   __entry->daddr,		\
					   &rec->addrs);		\
		),							\
		TP_printk(FIELDS(NETSYNC_PRINT)				\
			  "saddr=%pI6c daddr=%pI6c",			\
			  FIELDS(NETSYNC_VALUE)				\
			  __entry->saddr, __entry->daddr)		\
	)

#define NETSYNC_EVENT(class, name, record)				\
	DEFINE_EVENT_FN(class, name,					\
		TP_PROTO(const struct record *rec),			\
		TP_ARGS(rec),						\
		netsync_reg_##name, netsync_unreg_##name		\
	)

NETSYNC_CLASS(inet_sock_local, netsync_tcp, NETSYNC_TCP_FIELDS);
NETSYNC_EVENT(inet_sock_local, inet_sock_local_in, netsync_tcp);
NETSYNC_EVENT(inet_sock_local, inet_sock_local_out, netsync_tcp);

NETSYNC_CLASS(inet_udp_local, netsync_udp, NETSYNC_UDP_FIELDS);
NETSYNC_EVENT(inet_udp_local, inet_udp_local_in, netsync_udp);
NETSYNC_EVENT(inet_udp_local, inet_udp_local_out, netsync_udp);

NETSYNC_CLASS(inet_icmp_local, netsync_icmp, NETSYNC_ICMP_FIELDS);
NETSYNC_EVENT(inet_icmp_local, inet_icmp_local_in, netsync_icmp);
NETSYNC_EVENT(inet_icmp_local, inet_icmp_local_out, netsync_icmp);

NETSYNC_CLASS(inet_sctp_local, netsync_sctp, NETSYNC_SCTP_FIELDS);
NETSYNC_EVENT(inet_sctp_local, inet_sctp_local_in, netsync_sctp);
NETSYNC_EVENT(inet_sctp_local, inet_sctp_local_out, netsync_sctp);

NETSYNC_CLASS(inet_dev, netsync_dev, NETSYNC_DEV_FIELDS);
NETSYNC_EVENT(inet_dev, inet_dev_xmit, netsync_dev);
NETSYNC_EVENT(inet_dev, inet_dev_receive, netsync_dev);

NETSYNC_CLASS(inet_flow, netsync_flow, NETSYNC_FLOW_FIELDS);
NETSYNC_EVENT(inet_flow, inet_connect, netsync_flow);
NETSYNC_EVENT(inet_flow, inet_accept, netsync_flow);

DECLARE_EVENT_CLASS(inet_sock_life,
	TP_PROTO(const struct netsync_sock *rec),
	TP_ARGS(rec),
	TP_STRUCT__entry(
		NETSYNC_SOCK_FIELDS(NETSYNC_ENTRY)
	),
	TP_fast_assign(
		NETSYNC_SOCK_FIELDS(NETSYNC_ASSIGN)
	),
	TP_printk(NETSYNC_OWNER_FIELDS(NETSYNC_PRINT) "sk=0x%llx",
		  NETSYNC_OWNER_FIELDS(NETSYNC_VALUE) __entry->sk)
);
NETSYNC_EVENT(inet_sock_life, inet_sock_create, netsync_sock);
NETSYNC_EVENT(inet_sock_life, inet_sock_delete, netsync_sock);

DECLARE_EVENT_CLASS(inet_sock_copy,
	TP_PROTO(const struct netsync_clone *rec),
	TP_ARGS(rec),
	TP_STRUCT__entry(
		NETSYNC_CLONE_FIELDS(NETSYNC_ENTRY)
	),
	TP_fast_assign(
		NETSYNC_CLONE_FIELDS(NETSYNC_ASSIGN)
	),
	TP_printk(NETSYNC_OWNER_FIELDS(NETSYNC_PRINT) "osk=0x%llx nsk=0x%llx",
		  NETSYNC_OWNER_FIELDS(NETSYNC_VALUE)
		  __entry->osk, __entry->nsk)
);
NETSYNC_EVENT(inet_sock_copy, inet_sock_clone, netsync_clone);

TRACE_EVENT_FN(netsync_clock,
	TP_PROTO(const struct netsync_clock_record *rec),
	TP_ARGS(rec),
	TP_STRUCT__entry(
		NETSYNC_CLOCK_FIELDS(NETSYNC_ENTRY)
		__array(char, clocksource, NETSYNC_CLOCKSOURCE_LEN)
	),
	TP_fast_assign(
		NETSYNC_CLOCK_FIELDS(NETSYNC_ASSIGN)
		memcpy(__entry->clocksource, rec->clocksource,
		       NETSYNC_CLOCKSOURCE_LEN);
	),
	TP_printk(NETSYNC_CLOCK_FIELDS(NETSYNC_PRINT) "clocksource=%s",
		  NETSYNC_CLOCK_FIELDS(NETSYNC_VALUE)
		  __entry->clocksource),
	netsync_reg_netsync_clock, netsync_unreg_netsync_clock
);

#endif /* NETSYNC_EVENTS_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE netsync-events
#include <trace/define_trace.h>
