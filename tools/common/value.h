/* SPDX-License-Identifier: GPL-2.0-only */
/* Convert times, durations and sizes to text and back. */
#ifndef NETSYNC_VALUE_H
#define NETSYNC_VALUE_H

#include <stdbool.h>
#include <stdint.h>

/* Times of clocks that count from 1970 are at least this, ns: 2001-09-09. Chosen. */
#define EPOCH_TIME INT64_C(1000000000000000000)

/* Parse a duration, which may be 0, such as "50us", "1.5 ms", "2s" or "100" (ns). */
bool parse_duration(const char *text, int64_t *ns);
/* Parse a fraction of a second with at most nine decimals, such as "" or ".25". */
bool parse_fraction(const char *text, int64_t *ns);
/* Parse a size, which must be positive, such as "500 MB", "2GB", "1.5G" or "1000" (bytes). */
bool parse_bytes(const char *text, uint64_t *bytes);
/* Parse a time, such as "1700000000123456789" (ns) or "1700000000.123456789" (s). */
bool parse_time(const char *text, int64_t *ns, bool *is_seconds);
/* Return the middle between two times. The first time must not be later than the second. */
static inline int64_t compute_middle_time(int64_t from_ns, int64_t to_ns)
{
	return from_ns + (int64_t)(((uint64_t)to_ns - (uint64_t)from_ns) / 2);
}

/* Size of the buffers that the functions below write to. Chosen. */
#define VALUE_SIZE 48

/* Format a time in the form that parse_time() reads. Return @buffer. */
char *format_time(char *buffer, int64_t ns, bool is_seconds);

/*
 * Format a time since 1970 as "2023-11-14 22:13:20 UTC". In local time, the format is that of
 * babeltrace2 --clock-date: "2023-11-14 23:13:20.000000000". Return @buffer.
 */
char *format_date(char *buffer, int64_t ns, bool is_utc);
/* Format a size as "12.3 MB". Return @buffer. */
char *format_bytes(char *buffer, uint64_t bytes);
/* Format a number of events as "12.3 M events". Return @buffer. */
char *format_events(char *buffer, uint64_t events);
/* Format a duration in a suitable unit. NETSYNC_UNKNOWN becomes "unknown". Return @buffer. */
char *format_duration(char *buffer, int64_t ns);

#endif
