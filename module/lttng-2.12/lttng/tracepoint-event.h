/* SPDX-License-Identifier: GPL-2.0-only */
/* Where LTTng 2.12 has this header. */
#include <probes/lttng-tracepoint-event.h>
