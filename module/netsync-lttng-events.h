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

/*
 * LTTng includes this file many times, and each time makes something else of
 * the fields: types, filters, sizes, and code that writes them, one call for
 * each, which costs more than all the rest. As records are packed in the order
 * of the fields, the code need only write the record. LTTng defines
 * _TP_SESSION_CHECK just before it makes that code and not for what comes
 * before; where it does not, fields are written one by one.
 */
#undef netsync_integer_of
#undef netsync_hex_of
#undef netsync_addresses
#undef netsync_end
#if defined(_TP_SESSION_CHECK) && !defined(RING_BUFFER_ALIGN)
#define netsync_integer_of(type, name, source)
#define netsync_hex_of(type, name, source)
#define netsync_addresses(rec, addrs)					\
	ctf_array(uint8_t, record, (const uint8_t *)(rec),		\
		  NETSYNC_RECORD_SIZE(rec, addrs))
#define netsync_end(rec)						\
	ctf_array(uint8_t, record, (const uint8_t *)(rec), sizeof(*(rec)))
#else
#define netsync_integer_of(type, name, source)				\
	ctf_integer(type, name, rec->source)
#define netsync_hex_of(type, name, source)				\
	ctf_integer_hex(type, name, rec->source)
#define netsync_addresses(rec, addrs)					\
	ctf_sequence(uint8_t, saddr, netsync_saddr(&(rec)->addrs),	\
		     uint8_t, netsync_addr_len(&(rec)->addrs))		\
	ctf_sequence(uint8_t, daddr, netsync_daddr(&(rec)->addrs),	\
		     uint8_t, netsync_addr_len(&(rec)->addrs))
#define netsync_end(rec)
#endif

#undef netsync_integer
#undef netsync_hex
#define netsync_integer(type, name) netsync_integer_of(type, name, name)
#define netsync_hex(type, name) netsync_hex_of(type, name, name)

LTTNG_TRACEPOINT_EVENT_CLASS(inet_sock_local,
	TP_PROTO(const struct netsync_tcp *rec),
	TP_ARGS(rec),
	TP_FIELDS(
		netsync_hex(uint64_t, sk)
		netsync_integer(uint32_t, seq)
		netsync_integer(uint32_t, ack_seq)
		netsync_integer(uint32_t, len)
		netsync_integer(uint32_t, netns)
		netsync_integer(uint32_t, tsval)
		netsync_integer(uint32_t, tsecr)
		netsync_hex(uint16_t, check)
		netsync_integer(uint16_t, window)
		netsync_hex(uint16_t, flags)
		netsync_integer(uint16_t, sport)
		netsync_integer(uint16_t, dport)
		netsync_integer(uint16_t, id)
		netsync_integer(uint16_t, gso_segs)
		netsync_integer(uint16_t, gso_size)
		netsync_integer(uint8_t, family)
		netsync_integer(uint8_t, has_ts)
		netsync_integer(uint8_t, sampling)
		netsync_addresses(rec, addrs)
	)
)

LTTNG_TRACEPOINT_EVENT_INSTANCE(inet_sock_local, inet_sock_local_in,
	TP_PROTO(const struct netsync_tcp *rec),
	TP_ARGS(rec)
)

LTTNG_TRACEPOINT_EVENT_INSTANCE(inet_sock_local, inet_sock_local_out,
	TP_PROTO(const struct netsync_tcp *rec),
	TP_ARGS(rec)
)

LTTNG_TRACEPOINT_EVENT_CLASS(inet_udp_local,
	TP_PROTO(const struct netsync_udp *rec),
	TP_ARGS(rec),
	TP_FIELDS(
		netsync_hex(uint64_t, sk)
		netsync_integer(uint16_t, sport)
		netsync_integer(uint16_t, dport)
		netsync_integer(uint8_t, family)
		netsync_integer(uint16_t, id)
		netsync_integer(uint32_t, len)
		netsync_integer(uint16_t, gso_segs)
		netsync_integer(uint16_t, gso_size)
		netsync_integer(uint32_t, netns)
		netsync_hex(uint16_t, check)
		netsync_integer(uint8_t, check_final)
		netsync_hex(uint64_t, digest)
		netsync_integer(uint8_t, sampling)
		netsync_addresses(rec, addrs)
	)
)

LTTNG_TRACEPOINT_EVENT_INSTANCE(inet_udp_local, inet_udp_local_in,
	TP_PROTO(const struct netsync_udp *rec),
	TP_ARGS(rec)
)

LTTNG_TRACEPOINT_EVENT_INSTANCE(inet_udp_local, inet_udp_local_out,
	TP_PROTO(const struct netsync_udp *rec),
	TP_ARGS(rec)
)

LTTNG_TRACEPOINT_EVENT_CLASS(inet_icmp_local,
	TP_PROTO(const struct netsync_icmp *rec),
	TP_ARGS(rec),
	TP_FIELDS(
		netsync_hex(uint64_t, sk)
		netsync_integer(uint8_t, type)
		netsync_integer(uint16_t, echo_id)
		netsync_integer(uint16_t, echo_seq)
		netsync_integer(uint8_t, family)
		netsync_integer(uint16_t, id)
		netsync_integer(uint32_t, len)
		netsync_integer(uint32_t, netns)
		netsync_integer(uint8_t, sampling)
		netsync_addresses(rec, addrs)
	)
)

LTTNG_TRACEPOINT_EVENT_INSTANCE(inet_icmp_local, inet_icmp_local_in,
	TP_PROTO(const struct netsync_icmp *rec),
	TP_ARGS(rec)
)

LTTNG_TRACEPOINT_EVENT_INSTANCE(inet_icmp_local, inet_icmp_local_out,
	TP_PROTO(const struct netsync_icmp *rec),
	TP_ARGS(rec)
)

LTTNG_TRACEPOINT_EVENT_CLASS(inet_sctp_local,
	TP_PROTO(const struct netsync_sctp *rec),
	TP_ARGS(rec),
	TP_FIELDS(
		netsync_hex(uint64_t, sk)
		netsync_integer(uint16_t, sport)
		netsync_integer(uint16_t, dport)
		netsync_hex(uint32_t, vtag)
		netsync_integer(uint8_t, chunk)
		netsync_integer(uint8_t, has_tsn)
		netsync_integer(uint32_t, tsn)
		netsync_integer(uint8_t, family)
		netsync_integer(uint16_t, id)
		netsync_integer(uint32_t, len)
		netsync_integer(uint16_t, gso_segs)
		netsync_integer(uint16_t, gso_size)
		netsync_integer(uint32_t, netns)
		netsync_integer(uint8_t, sampling)
		netsync_addresses(rec, addrs)
	)
)

LTTNG_TRACEPOINT_EVENT_INSTANCE(inet_sctp_local, inet_sctp_local_in,
	TP_PROTO(const struct netsync_sctp *rec),
	TP_ARGS(rec)
)

LTTNG_TRACEPOINT_EVENT_INSTANCE(inet_sctp_local, inet_sctp_local_out,
	TP_PROTO(const struct netsync_sctp *rec),
	TP_ARGS(rec)
)

LTTNG_TRACEPOINT_EVENT_CLASS(inet_sock_life,
	TP_PROTO(const struct netsync_sock *rec),
	TP_ARGS(rec),
	TP_FIELDS(
		netsync_hex(uint64_t, sk)
		netsync_integer(uint8_t, family)
		netsync_integer(uint16_t, protocol)
		netsync_integer(uint32_t, netns)
		netsync_end(rec)
	)
)

LTTNG_TRACEPOINT_EVENT_INSTANCE(inet_sock_life, inet_sock_create,
	TP_PROTO(const struct netsync_sock *rec),
	TP_ARGS(rec)
)

LTTNG_TRACEPOINT_EVENT_INSTANCE(inet_sock_life, inet_sock_delete,
	TP_PROTO(const struct netsync_sock *rec),
	TP_ARGS(rec)
)

LTTNG_TRACEPOINT_EVENT_CLASS(inet_sock_copy,
	TP_PROTO(const struct netsync_clone *rec),
	TP_ARGS(rec),
	TP_FIELDS(
		netsync_hex(uint64_t, osk)
		netsync_hex(uint64_t, nsk)
		netsync_integer(uint8_t, family)
		netsync_integer(uint16_t, protocol)
		netsync_integer(uint32_t, netns)
		netsync_end(rec)
	)
)

LTTNG_TRACEPOINT_EVENT_INSTANCE(inet_sock_copy, inet_sock_clone,
	TP_PROTO(const struct netsync_clone *rec),
	TP_ARGS(rec)
)

LTTNG_TRACEPOINT_EVENT_CLASS(inet_flow,
	TP_PROTO(const struct netsync_flow *rec),
	TP_ARGS(rec),
	TP_FIELDS(
		netsync_hex(uint64_t, sk)
		netsync_integer(uint16_t, sport)
		netsync_integer(uint16_t, dport)
		netsync_integer(uint8_t, family)
		netsync_integer(uint16_t, protocol)
		netsync_integer(uint32_t, netns)
		netsync_addresses(rec, addrs)
	)
)

LTTNG_TRACEPOINT_EVENT_INSTANCE(inet_flow, inet_connect,
	TP_PROTO(const struct netsync_flow *rec),
	TP_ARGS(rec)
)

LTTNG_TRACEPOINT_EVENT_INSTANCE(inet_flow, inet_accept,
	TP_PROTO(const struct netsync_flow *rec),
	TP_ARGS(rec)
)

LTTNG_TRACEPOINT_EVENT_CLASS(inet_dev,
	TP_PROTO(const struct netsync_dev *rec),
	TP_ARGS(rec),
	TP_FIELDS(
		netsync_integer(uint64_t, hwtstamp)
		netsync_integer(uint32_t, ifindex)
		netsync_integer(uint16_t, vlan)
		netsync_integer(uint8_t, protocol)
		netsync_hex_of(uint64_t, skb, packet.tcp.sk)
		netsync_integer_of(uint32_t, seq, packet.tcp.seq)
		netsync_integer_of(uint32_t, ack_seq, packet.tcp.ack_seq)
		netsync_integer_of(uint32_t, len, packet.tcp.len)
		netsync_integer_of(uint32_t, netns, packet.tcp.netns)
		netsync_integer_of(uint32_t, tsval, packet.tcp.tsval)
		netsync_integer_of(uint32_t, tsecr, packet.tcp.tsecr)
		netsync_hex_of(uint16_t, check, packet.tcp.check)
		netsync_integer_of(uint16_t, window, packet.tcp.window)
		netsync_hex_of(uint16_t, flags, packet.tcp.flags)
		netsync_integer_of(uint16_t, sport, packet.tcp.sport)
		netsync_integer_of(uint16_t, dport, packet.tcp.dport)
		netsync_integer_of(uint16_t, id, packet.tcp.id)
		netsync_integer_of(uint16_t, gso_segs, packet.tcp.gso_segs)
		netsync_integer_of(uint16_t, gso_size, packet.tcp.gso_size)
		netsync_integer_of(uint8_t, family, packet.tcp.family)
		netsync_integer_of(uint8_t, has_ts, packet.tcp.has_ts)
		netsync_integer_of(uint8_t, sampling, packet.tcp.sampling)
		netsync_addresses(rec, packet.tcp.addrs)
	)
)

LTTNG_TRACEPOINT_EVENT_INSTANCE(inet_dev, inet_dev_xmit,
	TP_PROTO(const struct netsync_dev *rec),
	TP_ARGS(rec)
)

LTTNG_TRACEPOINT_EVENT_INSTANCE(inet_dev, inet_dev_receive,
	TP_PROTO(const struct netsync_dev *rec),
	TP_ARGS(rec)
)

#endif /* NETSYNC_LTTNG_EVENTS_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE netsync-lttng-events
#include <lttng/define_trace.h>
