/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Trace events for the kernel's own tracers (ftrace, perf, BPF), and the
 * tracepoints that LTTng's probe uses.
 *
 * inet_sock_local_in, inet_udp_local_in, inet_icmp_local_in,
 * inet_sctp_local_in: A TCP, UDP, ICMP echo or SCTP packet is passed to the
 *	local stack. The hook is the first one at netfilter's LOCAL_IN, for IPv4
 *	and IPv6, in every network namespace.
 *	- The hook follows routing and PRE_ROUTING. Destination NAT, and the
 *	  replies to source NAT, are already translated. Packets that are
 *	  dropped earlier cause no event.
 *	- The hook precedes the filter rules of INPUT, and source NAT there.
 *	  Packets that are dropped later cause an event, and source NAT of INPUT
 *	  has not changed addresses yet.
 *	- IPv4 fragments are reassembled before the hook. IPv6 fragments are
 *	  reassembled after it (unless connection tracking is in use), and the
 *	  first fragment causes the event.
 *	Forwarded packets cause no event.
 *
 * inet_sock_local_out, inet_udp_local_out, inet_icmp_local_out,
 * inet_sctp_local_out: The local stack sends a packet. The hook is the last one
 *	at netfilter's LOCAL_OUT.
 *	- The hook follows the rules of OUTPUT. Packets that are dropped there
 *	  cause no event, and destination NAT of OUTPUT is done.
 *	- The hook precedes POST_ROUTING and its source NAT. Packets that are
 *	  dropped there or later (queueing discipline, device) cause an event.
 *	- The hook precedes fragmentation and segmentation. With segmentation
 *	  offload, one event stands for up to gso_segs packets on the wire.
 *	Forwarded packets cause no event.
 *
 * Packets on a loopback device cause both events. Broadcasts, and looped
 * multicasts, cause both events on their sender. Packets with truncated or
 * invalid headers cause no event.
 *
 * inet_dev_xmit: A device is given a packet of one of these protocols to send
 *	(tracepoint net_dev_start_xmit). This is after the queueing discipline,
 *	and after software segmentation and checksums. A packet is reported
 *	again if the device had no capacity for it at first.
 *
 * inet_dev_receive: A driver passes on a packet that its device has received.
 *	This is before software receive offload (GRO), address translation and
 *	defragmentation.
 *
 * Each packet and device causes one event. On stacked devices (VLAN, bridge,
 * bond, veth, tunnel), several devices send a packet, and the last one is
 * nearest to the wire. The lowest device receives the packet, followed by
 * devices that pass it on again (bridge, veth, tunnel), but not by VLAN and
 * bond. A router therefore reports the packets that it forwards. The first
 * fragment of a packet causes the event. Packets inside tunnels are reported at
 * the tunnel's device.
 *
 * inet_sock_create: A TCP or UDP socket was created, normally by socket(), in
 *	the context of the task.
 *
 * inet_sock_clone: A TCP socket was created from a listening socket, for an
 *	incoming connection. The context is that of whatever was interrupted.
 *
 * inet_sock_delete: A TCP or UDP socket, created in either way, is freed. Its
 *	address may be reused from now on. This is long after close() if data
 *	remained to be sent.
 *
 * inet_connect: connect() of a TCP socket is about to send its first segment,
 *	in the context of the task. The event does not mean that a peer replies.
 *	For a UDP socket, connect() succeeded.
 *
 * inet_accept: The handshake of an incoming TCP connection is complete. The
 *	connection waits for accept(), or is passed to a waiting accept(). The
 *	context is that of whatever was interrupted.
 *
 * netsync_clock: A reading of the kernel's clocks. It is recorded when a tracer
 *	enables the event, when the kernel or a daemon changes a clock (its
 *	rate, its offset, or the clocksource), and at the first update of the
 *	time in each second. Between the instants of two events, clocks are
 *	linear to 50 ns. An event is recorded shortly after its instant.
 *
 * Fields (integers are in host byte order):
 *
 *  sk        number of the socket (skb->sk), which identifies the packets of a
 *            connection. It is 0 if there is no socket yet, as for incoming
 *            datagrams and the first segment of an incoming connection. The
 *            socket may be a request or time-wait socket. The number is a hash
 *            of the socket's address, with a secret key that is the same until
 *            the next boot. With the module parameter raw_addresses=Y, it is
 *            the address itself
 *  saddr     source address in network byte order. It has 16 bytes, with IPv4
 *            as ::ffff:a.b.c.d; in LTTng, it is a sequence of 4 or 16 bytes.
 *            With an IPv6 routing header, both addresses are those of the IPv6
 *            header
 *  daddr     destination address, in the same form as saddr
 *  sport     source port
 *  dport     destination port
 *  family    2 for IPv4, 10 for IPv6
 *  id        IPv4 identification field; 0 for IPv6
 *  len       size of the payload in bytes, without headers and padding. In the
 *            first of several fragments, this is the payload in that fragment,
 *            but for UDP it is the whole payload
 *  gso_segs  number of packets that this one stands for (segmentation or
 *            receive offload), as in the skb; 0 or 1 for a single packet
 *  gso_size  size of the payload in bytes of each of these packets except the
 *            last one; 0 for a single packet
 *  netns     inode number of the network namespace (stat -L -c %i
 *            /proc/PID/ns/net)
 *  sampling  value of the module parameter at the time of the event: one of
 *            2^sampling packets is recorded (see below)
 *
 * TCP:
 *
 *  seq       sequence number as in the header, not relative
 *  ack_seq   acknowledgment number as in the header; meaningful if the ACK
 *            flag is set
 *  check     TCP checksum. With checksum offload, this is the checksum of only
 *            the pseudo-header at local_out, so that both ends differ
 *  window    window as in the header, not scaled
 *  flags     the 16 bits after ack_seq: data offset in 32-bit words (4 bits),
 *            reserved and AE (4), CWR ECE URG ACK PSH RST SYN FIN
 *  has_ts    1 if the segment has the TCP timestamps option, otherwise 0
 *  tsval     timestamp value of that option, in units of its sender; or 0
 *  tsecr     timestamp echo reply of that option; or 0
 *
 * UDP:
 *
 *  check     UDP checksum; 0 if there is none
 *  check_final  1 if check is the checksum on the wire, 0 if it is still to be
 *            computed (checksum offload, segmentation)
 *  digest    hash of the first min(64, len, gso_size if not 0) bytes of the
 *            payload by SipHash-1-3, or 0 if there is none. The key consists of
 *            the bytes 0 to 15, so that the hash is equal on all hosts. It can
 *            confirm a guess of the payload. The module parameter digest=N
 *            turns it off
 *
 * ICMP echo requests and replies (other types cause no event):
 *
 *  type      8 for a request, 0 for a reply; ICMPv6: 128 or 129
 *  echo_id   identifier
 *  echo_seq  sequence number
 *
 * SCTP:
 *
 *  vtag      verification tag
 *  chunk     type of the first chunk, such as 0 (DATA) or 3 (SACK); 255 if
 *            there is no chunk
 *  has_tsn   1 if the packet has a DATA or I-DATA chunk, otherwise 0
 *  tsn       transmission sequence number of the first such chunk; or 0
 *
 * Devices, for all protocols:
 *
 *  skb       number of the packet's buffer, which identifies the events of a
 *            packet on its path through a host. Like sk, it is a hash of the
 *            address
 *  hwtstamp  time at which the device received the packet (inet_dev_receive),
 *            in nanoseconds of the device's clock; 0 if unknown
 *  ifindex   number of the device in its network namespace
 *  vlan      priority (3 bits), DEI (1) and number (12) of the outermost VLAN
 *            tag, inside the packet or offloaded; 0 if there is none
 *  protocol  6 TCP, 17 UDP, 1 ICMP, 58 ICMPv6, 132 SCTP. The protocol
 *            determines the meaning of these fields:
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
 * Sockets:
 *
 *  sk        number of the socket, as in the events of packets
 *  osk       number of the listening socket
 *  nsk       number of the new socket
 *  netns     inode number of the network namespace. In inet_sock_delete, it is
 *            0 for the kernel's own sockets, whose namespace may have ended
 *            before
 *  protocol  6 TCP, 17 UDP
 *  family    family of the socket. In inet_connect and inet_accept, family of
 *            the packets, because an IPv6 socket may use IPv4
 *  saddr, sport  address and port of the local end
 *  daddr, dport  address and port of the remote end
 *
 * Clocks:
 *
 *  mono      CLOCK_MONOTONIC at the instant, in nanoseconds. This is the clock
 *            of LTTng, and, on request, of ftrace and perf
 *  raw       CLOCK_MONOTONIC_RAW at the same instant, which is never steered
 *  offs_real CLOCK_REALTIME - mono, in nanoseconds
 *  offs_boot CLOCK_BOOTTIME - mono, in nanoseconds, which is the time for which
 *            the machine was suspended
 *  offs_tai  CLOCK_TAI - mono, in nanoseconds
 *  mult      rate of CLOCK_MONOTONIC from the instant on: mult / 2^shift
 *            nanoseconds for each tick of the clocksource
 *  raw_mult  rate of CLOCK_MONOTONIC_RAW, in the same unit. CLOCK_MONOTONIC
 *            runs at mult / raw_mult of its rate
 *  steps     number of steps of CLOCK_REALTIME since the boot, including leap
 *            seconds
 *  seq       number of the event since the module was loaded. A gap means that
 *            events were lost, or that the event was not traced for a while
 *  clocksource  name of the clocksource, up to 31 characters
 *
 * Sampling records the same packets on all hosts, whatever segmentation and
 * address translation they undergo. A number is selected if the upper sampling
 * bits of number * 0x9e3779b1 (modulo 2^32) are 0. A packet is recorded if one
 * of the following numbers is selected. Other packets are always recorded.
 *
 *  TCP       with data, the number of any 64 KiB block of sequence space
 *            (seq / 2^16) of which the segment contains a byte; without data,
 *            the block of ack_seq. SYN and FIN are always recorded
 *  UDP       the lower 32 bits of the digest, even if it is not recorded
 *  ICMP      echo_seq
 *  SCTP      tsn; without DATA, the cumulative tsn of SACK
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
	if (netsync_get_addr_len(addrs) == 16) {
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

/* Expand a record's field in the parts of a TRACE_EVENT. */
#define NETSYNC_ENTRY(type, format, name) __field(type, name)
#define NETSYNC_ASSIGN(type, format, name) __entry->name = rec->name;
#define NETSYNC_PRINT(type, format, name) \
	#name "=" NETSYNC_FORMAT_##type##_##format " "
#define NETSYNC_VALUE(type, format, name) __entry->name,

/*
 * Define a class of events that end with addresses. NETSYNC_EVENT() defines an
 * event of a class.
 */
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
