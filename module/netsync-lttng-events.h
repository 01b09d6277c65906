/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The events as LTTng records them: the same names and fields as in
 * netsync-events.h, which documents them. LTTng wants TRACE_SYSTEM to be how
 * the event names begin.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM inet

#if !defined(NETSYNC_LTTNG_EVENTS_H) || defined(TRACE_HEADER_MULTI_READ)
#define NETSYNC_LTTNG_EVENTS_H

#include <lttng/tracepoint-event.h>

LTTNG_TRACEPOINT_EVENT_CLASS(inet_sock_local,
	TP_PROTO(const struct netsync_tcp *seg),
	TP_ARGS(seg),
	TP_FIELDS(
		ctf_integer_hex(uint64_t, sk, seg->sk)
		ctf_integer(uint32_t, seq, seg->seq)
		ctf_integer(uint32_t, ack_seq, seg->ack_seq)
		ctf_integer_hex(uint16_t, check, seg->check)
		ctf_integer(uint16_t, window, seg->window)
		ctf_integer_hex(uint16_t, flags, seg->flags)
		ctf_array(uint8_t, saddr, seg->saddr.s6_addr, 16)
		ctf_array(uint8_t, daddr, seg->daddr.s6_addr, 16)
		ctf_integer(uint16_t, sport, seg->sport)
		ctf_integer(uint16_t, dport, seg->dport)
		ctf_integer(uint8_t, family, seg->family)
		ctf_integer(uint16_t, id, seg->id)
		ctf_integer(uint32_t, len, seg->len)
		ctf_integer(uint16_t, gso_segs, seg->gso_segs)
		ctf_integer(uint16_t, gso_size, seg->gso_size)
		ctf_integer(uint32_t, netns, seg->netns)
		ctf_integer(uint8_t, has_ts, seg->has_ts)
		ctf_integer(uint32_t, tsval, seg->tsval)
		ctf_integer(uint32_t, tsecr, seg->tsecr)
	)
)

LTTNG_TRACEPOINT_EVENT_INSTANCE(inet_sock_local, inet_sock_local_in,
	TP_PROTO(const struct netsync_tcp *seg),
	TP_ARGS(seg)
)

LTTNG_TRACEPOINT_EVENT_INSTANCE(inet_sock_local, inet_sock_local_out,
	TP_PROTO(const struct netsync_tcp *seg),
	TP_ARGS(seg)
)

#endif /* NETSYNC_LTTNG_EVENTS_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE netsync-lttng-events
#include <lttng/define_trace.h>
