/* SPDX-License-Identifier: GPL-2.0-only */
/* Read the clocks of this machine. */
#ifndef NETSYNC_NOW_H
#define NETSYNC_NOW_H

#include <stdint.h>
#include <time.h>

#define NS_PER_S INT64_C(1000000000)

int64_t clock_ns(clockid_t clock);
/* Return the current time of a clock that is never stepped. */
int64_t now_ns(void);

#endif
