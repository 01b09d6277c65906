/* SPDX-License-Identifier: GPL-2.0-only */
/* Include this header from its location in LTTng 2.12. */
#include <probes/lttng-tracepoint-event.h>
