/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The events, as the kernel's own tracers (ftrace, perf, BPF) see them, and
 * the tracepoints that LTTng's probe uses.
 *
 * inet_sock_local_in: a TCP segment that is handed to the local stack.
 *	First at netfilter's LOCAL_IN, IPv4 and IPv6, every network namespace.
 *	After routing, and after what is done at PRE_ROUTING: destination NAT
 *	and the answers to source NAT are translated already, packets dropped
 *	there give no event. Before the filter rules of INPUT and source NAT
 *	there: packets that these drop do give an event, addresses are not yet
 *	translated. Fragments of IPv4 are put together before, those of IPv6
 *	after it (unless connection tracking is in use): of these, the first
 *	one gives the event. Forwarded packets give none.
 *
 * inet_sock_local_out: a TCP segment that the local stack sends.
 *	Last at netfilter's LOCAL_OUT. After the rules of OUTPUT: packets that
 *	these drop give no event, destination NAT of OUTPUT is done. Before
 *	POST_ROUTING: source NAT is still to come, and packets dropped there or
 *	later (queueing discipline, device) do give an event. Before
 *	fragmentation and segmentation: with segmentation offload one event
 *	stands for up to gso_segs packets on the wire. Forwarded packets give
 *	none.
 *
 * Packets on a loopback device are seen going out and coming in. A packet
 * whose headers are cut short, or are no TCP, gives no event.
 *
 * Fields, all integers as numbers in host byte order:
 *
 *  sk        address of the socket (skb->sk) as found, which ties segments of
 *            one connection together; 0 where there is none yet, as for the
 *            first segment of a connection that comes in. It can be a request
 *            or time-wait socket
 *  seq       sequence number as in the header, not relative
 *  ack_seq   acknowledgment number as in the header; meaningful if the ACK
 *            flag is set
 *  check     TCP checksum; with checksum offload, at local_out it is that of
 *            the pseudo-header only, thus different at both ends
 *  window    as in the header, not scaled
 *  flags     the 16 bits after ack_seq: data offset in 32-bit words (4 bits),
 *            reserved and AE (4), CWR ECE URG ACK PSH RST SYN FIN
 *  saddr     source address, 16 bytes in network order; IPv4 as ::ffff:a.b.c.d
 *  daddr     destination address, likewise. With an IPv6 routing header both
 *            are those of the IPv6 header
 *  sport     source port
 *  dport     destination port
 *  family    2 IPv4, 10 IPv6
 *  id        identification of the IPv4 header; 0 for IPv6
 *  len       payload in bytes: no headers, no padding (in the first fragment
 *            where fragments are not put together)
 *  gso_segs  packets that this one stands for (segmentation or receive
 *            offload), as found; 0 or 1 for a single one
 *  gso_size  payload in bytes of each but the last of these; 0: a single one
 *  netns     inode number of the network namespace (stat -L -c %i
 *            /proc/PID/ns/net)
 *  has_ts    1: the segment has TCP's timestamps option; 0: it has not
 *  tsval     timestamp value of that option, in units of its sender; or 0
 *  tsecr     timestamp echo reply; or 0
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM netsync

#if !defined(NETSYNC_EVENTS_H) || defined(TRACE_HEADER_MULTI_READ)
#define NETSYNC_EVENTS_H

#include <linux/tracepoint.h>

#include "hooks.h"
#include "parse.h"

DECLARE_EVENT_CLASS(inet_sock_local,
	TP_PROTO(const struct netsync_tcp *seg),
	TP_ARGS(seg),
	TP_STRUCT__entry(
		__field(u64, sk)
		__field(u32, seq)
		__field(u32, ack_seq)
		__field(u16, check)
		__field(u16, window)
		__field(u16, flags)
		__array(u8, saddr, 16)
		__array(u8, daddr, 16)
		__field(u16, sport)
		__field(u16, dport)
		__field(u8, family)
		__field(u16, id)
		__field(u32, len)
		__field(u16, gso_segs)
		__field(u16, gso_size)
		__field(u32, netns)
		__field(u8, has_ts)
		__field(u32, tsval)
		__field(u32, tsecr)
	),
	TP_fast_assign(
		__entry->sk = seg->sk;
		__entry->seq = seg->seq;
		__entry->ack_seq = seg->ack_seq;
		__entry->check = seg->check;
		__entry->window = seg->window;
		__entry->flags = seg->flags;
		memcpy(__entry->saddr, &seg->saddr, 16);
		memcpy(__entry->daddr, &seg->daddr, 16);
		__entry->sport = seg->sport;
		__entry->dport = seg->dport;
		__entry->family = seg->family;
		__entry->id = seg->id;
		__entry->len = seg->len;
		__entry->gso_segs = seg->gso_segs;
		__entry->gso_size = seg->gso_size;
		__entry->netns = seg->netns;
		__entry->has_ts = seg->has_ts;
		__entry->tsval = seg->tsval;
		__entry->tsecr = seg->tsecr;
	),
	TP_printk("sk=0x%llx seq=%u ack_seq=%u check=0x%04x window=%u flags=0x%04x saddr=%pI6c daddr=%pI6c sport=%u dport=%u family=%u id=%u len=%u gso_segs=%u gso_size=%u netns=%u has_ts=%u tsval=%u tsecr=%u",
		  __entry->sk, __entry->seq, __entry->ack_seq, __entry->check,
		  __entry->window, __entry->flags, __entry->saddr,
		  __entry->daddr, __entry->sport, __entry->dport,
		  __entry->family, __entry->id, __entry->len, __entry->gso_segs,
		  __entry->gso_size, __entry->netns, __entry->has_ts,
		  __entry->tsval, __entry->tsecr)
);

DEFINE_EVENT_FN(inet_sock_local, inet_sock_local_in,
	TP_PROTO(const struct netsync_tcp *seg),
	TP_ARGS(seg),
	netsync_reg_sock_local_in, netsync_unreg_sock_local_in
);

DEFINE_EVENT_FN(inet_sock_local, inet_sock_local_out,
	TP_PROTO(const struct netsync_tcp *seg),
	TP_ARGS(seg),
	netsync_reg_sock_local_out, netsync_unreg_sock_local_out
);

#endif /* NETSYNC_EVENTS_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE netsync-events
#include <trace/define_trace.h>
