/* SPDX-License-Identifier: GPL-2.0-only */
/* Log how CLOCK_REALTIME, which is the clock of captures, is steered while packets are recorded. */
#ifndef NETSYNC_RECORDER_CLOCK_LOG_H
#define NETSYNC_RECORDER_CLOCK_LOG_H

#include <stdbool.h>
#include <stdio.h>

/*
 * Start writing readings to @file, in the format of netsync-clocks(5). @host is the host in the
 * readings, or CLOCK_READINGS_WORD on standard error. Return 0 or a negative errno value. Blocked
 * signals do not interrupt the log.
 */
int clock_log_start(FILE *file, const char *host);
/*
 * End the log with a last reading, and close the file unless it is standard error. Return 0, or
 * a negative errno value if not all readings were written.
 */
int clock_log_end(void);

#endif
