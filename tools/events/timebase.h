/* SPDX-License-Identifier: GPL-2.0-only */
/* The input of a command, and the corrections for its hosts' times. */
#ifndef NETSYNC_EVENTS_TIMEBASE_H
#define NETSYNC_EVENTS_TIMEBASE_H

#include "common/input.h"
#include "common/result-file.h"
#include "common/window.h"

struct timebase_host {
	const char *name;
	const struct netsync_clock *clock; /* NULL if the host is not corrected */
	/* the same clock if this struct must release it, otherwise NULL */
	struct netsync_clock *own;
	int64_t shift_ns; /* value to add to times before they are corrected */
};

struct timebase {
	struct netsync *ns;
	struct netsync_io *io;
	struct model model;	     /* the result that was given, or empty */
	struct timebase_host *hosts; /* indexed by the number of the host */
	uint32_t num_hosts;
	const char *reference; /* name of the host whose clock is the time base */

	/* Window in corrected time. Both ends are included. */
	int64_t begin_ns; /* INT64_MIN if there is no begin */
	int64_t end_ns;	  /* INT64_MAX if there is no end */
};

/*
 * Open a time base before reading. On failure, print a message and return false. Close the time
 * base even then.
 */
bool timebase_open(struct timebase *base, const struct input *input);
void timebase_close(struct timebase *base);

/* Read all input, and estimate the clocks. Return the exit status. Problems are reported. */
int timebase_find(struct timebase *base, const struct input *input);

/*
 * Set the window. With @with_events, it must also apply to traces without packets. If the window is
 * empty, print a message and return false.
 */
bool timebase_set_window(struct timebase *base, const struct time_window *window, bool with_events);

/* Report hosts that were not corrected, and return the exit status. */
int timebase_explain(const struct timebase *base, const struct input *input, int status);

/*
 * Correct a time of a host. Return false if the corrected time is not known or does not fit into 64
 * bits.
 */
bool timebase_correct_time(const struct timebase_host *host, int64_t time_ns, int64_t *time_ref);

/*
 * Find the time of a host whose corrected time is @time_ref, within a few ns. Return false if it
 * does not fit into 64 bits.
 */
bool timebase_find_host_time(const struct timebase_host *host, int64_t time_ref, int64_t *time_ns);

/* Return whether a corrected time is within the window. */
static inline bool timebase_contains(const struct timebase *base, int64_t time_ref)
{
	return time_ref >= base->begin_ns && time_ref <= base->end_ns;
}

/* Get the corrected span of the traces. Return false if it is unknown. */
bool timebase_find_span(const struct timebase *base, int64_t *first_ns, int64_t *last_ns);

/*
 * Get the approximate difference between wall-clock time and corrected time. No error bound applies
 * to this difference. Return false if no trace reports it.
 */
bool timebase_find_wall_shift(const struct timebase *base, int64_t *shift_ns);

/* Return the full second in which the displayed window begins, or 0 if it is not known. */
int64_t timebase_find_second(const struct timebase *base);

#endif
