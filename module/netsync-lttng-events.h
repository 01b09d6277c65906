/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The events inet_* for LTTng; netsync-events.h documents their fields. LTTng requires
 * TRACE_SYSTEM to be the beginning of the events' names.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM inet

#if !defined(NETSYNC_LTTNG_EVENTS_H) || defined(TRACE_HEADER_MULTI_READ)
#define NETSYNC_LTTNG_EVENTS_H

#include <lttng/tracepoint-event.h>

/*
 * LTTng includes this file many times, to generate types, filters, sizes, and the code that
 * writes events. That code has a call for each field, which costs more than the rest of an
 * event. Records are packed in the order of the fields, so that one call can write the whole
 * record. LTTng defines _TP_SESSION_CHECK just before it generates the writing code. With
 * versions that do not define it, fields are written one by one.
 */
#undef netsync_dec
#undef netsync_hex
#undef netsync_addresses
#undef netsync_end
#if defined(_TP_SESSION_CHECK) && !defined(RING_BUFFER_ALIGN)
#define netsync_dec(type, name)
#define netsync_hex(type, name)
#define netsync_addresses						\
	ctf_array(uint8_t, record, (const uint8_t *)rec,		\
		  offsetof(typeof(*rec), addrs.bytes) + rec->addrs.size)
#define netsync_end							\
	ctf_array(uint8_t, record, (const uint8_t *)rec, sizeof(*rec))
#else
#define netsync_dec(type, name) ctf_integer(type, name, rec->name)
#define netsync_hex(type, name) ctf_integer_hex(type, name, rec->name)
#define netsync_addresses						\
	ctf_sequence(uint8_t, saddr, netsync_saddr(&rec->addrs),	\
		     uint8_t, netsync_get_addr_len(&rec->addrs))		\
	ctf_sequence(uint8_t, daddr, netsync_daddr(&rec->addrs),	\
		     uint8_t, netsync_get_addr_len(&rec->addrs))
#define netsync_end
#endif

#undef NETSYNC_CTF
#undef NETSYNC_CLASS
#undef NETSYNC_EVENT
#define NETSYNC_CTF(type, format, name) netsync_##format(type, name)
#define NETSYNC_CLASS(class, record, FIELDS, end)			\
	LTTNG_TRACEPOINT_EVENT_CLASS(class,				\
		TP_PROTO(const struct record *rec),			\
		TP_ARGS(rec),						\
		TP_FIELDS(						\
			FIELDS(NETSYNC_CTF)				\
			end						\
		)							\
	)
#define NETSYNC_EVENT(class, name, record)				\
	LTTNG_TRACEPOINT_EVENT_INSTANCE(class, name,			\
		TP_PROTO(const struct record *rec),			\
		TP_ARGS(rec)						\
	)

NETSYNC_CLASS(inet_sock_local, netsync_tcp, NETSYNC_TCP_FIELDS,
	      netsync_addresses)
NETSYNC_EVENT(inet_sock_local, inet_sock_local_in, netsync_tcp)
NETSYNC_EVENT(inet_sock_local, inet_sock_local_out, netsync_tcp)

NETSYNC_CLASS(inet_udp_local, netsync_udp, NETSYNC_UDP_FIELDS,
	      netsync_addresses)
NETSYNC_EVENT(inet_udp_local, inet_udp_local_in, netsync_udp)
NETSYNC_EVENT(inet_udp_local, inet_udp_local_out, netsync_udp)

NETSYNC_CLASS(inet_icmp_local, netsync_icmp, NETSYNC_ICMP_FIELDS,
	      netsync_addresses)
NETSYNC_EVENT(inet_icmp_local, inet_icmp_local_in, netsync_icmp)
NETSYNC_EVENT(inet_icmp_local, inet_icmp_local_out, netsync_icmp)

NETSYNC_CLASS(inet_sctp_local, netsync_sctp, NETSYNC_SCTP_FIELDS,
	      netsync_addresses)
NETSYNC_EVENT(inet_sctp_local, inet_sctp_local_in, netsync_sctp)
NETSYNC_EVENT(inet_sctp_local, inet_sctp_local_out, netsync_sctp)

NETSYNC_CLASS(inet_dev, netsync_dev, NETSYNC_DEV_FIELDS, netsync_addresses)
NETSYNC_EVENT(inet_dev, inet_dev_xmit, netsync_dev)
NETSYNC_EVENT(inet_dev, inet_dev_receive, netsync_dev)

NETSYNC_CLASS(inet_flow, netsync_flow, NETSYNC_FLOW_FIELDS, netsync_addresses)
NETSYNC_EVENT(inet_flow, inet_connect, netsync_flow)
NETSYNC_EVENT(inet_flow, inet_accept, netsync_flow)

NETSYNC_CLASS(inet_sock_life, netsync_sock, NETSYNC_SOCK_FIELDS, netsync_end)
NETSYNC_EVENT(inet_sock_life, inet_sock_create, netsync_sock)
NETSYNC_EVENT(inet_sock_life, inet_sock_delete, netsync_sock)

NETSYNC_CLASS(inet_sock_copy, netsync_clone, NETSYNC_CLONE_FIELDS, netsync_end)
NETSYNC_EVENT(inet_sock_copy, inet_sock_clone, netsync_clone)

#endif /* NETSYNC_LTTNG_EVENTS_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE netsync-lttng-events
#include <lttng/define_trace.h>
