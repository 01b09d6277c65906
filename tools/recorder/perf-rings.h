/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads the events of tracepoints from perf's rings of all processors, ordered by time. */
#ifndef NETSYNC_RECORDER_PERF_RINGS_H
#define NETSYNC_RECORDER_PERF_RINGS_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

/* An event. @data is the data that the "format" file of the tracepoint describes. */
struct perf_event {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	const uint8_t *data;
	size_t size;
};

typedef void (*take_event_fn)(void *data, unsigned int tracepoint, const struct perf_event *event);

/*
 * Record @num tracepoints, whose numbers are in @ids, with a filter in the language of
 * Documentation/trace/events.rst, or "". The rings of all processors have about @buffer bytes
 * together. Return 0 or a negative errno value.
 */
int perf_rings_open(const uint32_t *ids, unsigned int num, const char *filter, size_t buffer);
/* Wait for events for at most @timeout_ms, or until a signal that is not in @mask arrives. */
int perf_rings_wait(int timeout_ms, const sigset_t *mask);
/*
 * Call @take for at most @most events, with the index of each one's number in @ids. Return the
 * number of events.
 */
unsigned int perf_rings_read(unsigned int most, take_event_fn take, void *data);
/* Record no further events. Events that were recorded before can still be read. */
void perf_rings_stop(void);
/*
 * Return the number of events that were lost because a ring was full. Call this after perf_rings_stop(),
 * when all events were read.
 */
uint64_t perf_rings_count_lost(void);
void perf_rings_close(void);

#endif
