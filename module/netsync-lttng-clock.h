/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The event netsync_clock for LTTng. netsync-events.h documents its fields. LTTng requires that the
 * event's name begins with TRACE_SYSTEM. The event is therefore not in netsync-lttng-events.h.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM netsync

#if !defined(NETSYNC_LTTNG_CLOCK_H) || defined(TRACE_HEADER_MULTI_READ)
#define NETSYNC_LTTNG_CLOCK_H

#include <lttng/tracepoint-event.h>

#undef NETSYNC_CTF_CLOCK
#define NETSYNC_CTF_CLOCK(type, format, name) ctf_integer(type, name, rec->name)

LTTNG_TRACEPOINT_EVENT(netsync_clock,
	TP_PROTO(const struct netsync_clock_record *rec),
	TP_ARGS(rec),
	TP_FIELDS(
		NETSYNC_CLOCK_FIELDS(NETSYNC_CTF_CLOCK)
		ctf_array_text(char, clocksource, rec->clocksource,
			       NETSYNC_CLOCKSOURCE_LEN)
	)
)

#endif /* NETSYNC_LTTNG_CLOCK_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE netsync-lttng-clock
#include <lttng/define_trace.h>
