/* SPDX-License-Identifier: GPL-2.0-only */
/* A bound on the difference of CLOCK_REALTIME from UTC, as a time daemon reports it. */
#ifndef NETSYNC_TOOLS_UTC_SOURCE_H
#define NETSYNC_TOOLS_UTC_SOURCE_H

#include <stdint.h>

/* The program that reports the bound. */
enum utc_source { UTC_SOURCE_NONE, UTC_SOURCE_CHRONY, UTC_SOURCE_KERNEL };

/* Value for a bound that is not known. */
#define UTC_WITHIN_UNKNOWN 0

/* Number of reasons why a bound is not known; each is a different string. */
#define UTC_SOURCE_REASONS 8

/*
 * Return a bound on the difference of CLOCK_REALTIME from UTC at the end of the call, in ns, or
 * UTC_WITHIN_UNKNOWN. The call takes at most 50 ms. *@why is set to the reason if the bound is not
 * known, and is otherwise unchanged.
 */
int64_t utc_source_read(enum utc_source source, const char **why);

#endif
