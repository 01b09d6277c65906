// SPDX-License-Identifier: GPL-2.0-only
/*
 * Make the events of netsync-probes available to LTTng. This module describes the events' fields to
 * LTTng.
 */
#include <linux/module.h>

#include <lttng/tracer.h>

#include "netsync-events.h"

/*
 * LTTng finds tracepoints by name. If the tracepoints do not exist, LTTng records nothing and
 * reports no error. This reference makes modprobe load netsync-probes first, and keeps
 * netsync-probes loaded as long as this module is loaded.
 */
static const struct tracepoint *const netsync_probes __used =
	&__tracepoint_inet_sock_local_in;

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define LTTNG_PACKAGE_BUILD
#define TP_MODULE_NOAUTOLOAD
#define CREATE_TRACE_POINTS
#include "netsync-lttng-events.h"

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define CREATE_TRACE_POINTS
#include "netsync-lttng-clock.h"

static int __init netsync_lttng_init(void)
{
	int err = __lttng_events_init__inet();

	if (err)
		return err;
	err = __lttng_events_init__netsync();
	if (err)
		__lttng_events_exit__inet();
	return err;
}

static void __exit netsync_lttng_exit(void)
{
	__lttng_events_exit__netsync();
	__lttng_events_exit__inet();
}

module_init(netsync_lttng_init);
module_exit(netsync_lttng_exit);

MODULE_LICENSE("GPL");
MODULE_AUTHOR("The netsync authors");
MODULE_DESCRIPTION("LTTng probe of the netsync events");
