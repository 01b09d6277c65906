/* SPDX-License-Identifier: GPL-2.0-only */
/* Times, durations and sizes, as text. */
#ifndef NETSYNC_VALUE_H
#define NETSYNC_VALUE_H

#include <stdbool.h>
#include <stdint.h>

/* "50us", "1.5 ms", "2s", "100" (ns): 0 or more. */
bool parse_duration(const char *text, int64_t *ns);
/* "" or ".25": a fraction of a second with at most nine decimals. */
bool parse_fraction(const char *text, int64_t *ns);
/* "500 MB", "2GB", "1.5G", "1000" (B): above 0. */
bool parse_bytes(const char *text, uint64_t *bytes);
/* "1700000000123456789" (ns) or "1700000000.123456789" (s). */
bool parse_time(const char *text, int64_t *ns, bool *is_seconds);
/* The middle between two times, in ascending order. */
static inline int64_t compute_middle_time(int64_t from_ns, int64_t to_ns)
{
	return from_ns + (int64_t)(((uint64_t)to_ns - (uint64_t)from_ns) / 2);
}

/* Size of the buffers that the functions below write to. Chosen. */
#define VALUE_SIZE 48

/* A time in the form that parse_time() reads. Return @buffer. */
char *format_time(char *buffer, int64_t ns, bool is_seconds);

/*
 * A time since 1970: "2023-11-14 22:13:20 UTC"; or in local time, as babeltrace2 --clock-date
 * prints it, "2023-11-14 23:13:20.000000000". Return @buffer.
 */
char *format_date(char *buffer, int64_t ns, bool is_utc);
/* "12.3 MB" */
char *format_bytes(char *buffer, uint64_t bytes);
/* "12.3 M events" */
char *format_events(char *buffer, uint64_t events);
/* A duration in a suitable unit; "unknown" for NETSYNC_UNKNOWN. */
char *format_duration(char *buffer, int64_t ns);

#endif
