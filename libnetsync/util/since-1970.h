/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef NETSYNC_SINCE_1970_H
#define NETSYNC_SINCE_1970_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Return whether the time counts from 1970. Other clocks count from the start of the machine, and
 * no machine has been running for thirty years.
 */
static inline bool is_since_1970(int64_t time_ns)
{
	return time_ns >= INT64_C(30) * 365 * 86400 * 1000000000;
}

#endif
