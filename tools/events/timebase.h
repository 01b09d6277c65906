/* SPDX-License-Identifier: GPL-2.0-only */
/* What a command has read, and how times of its hosts are corrected. */
#ifndef NETSYNC_EVENTS_TIMEBASE_H
#define NETSYNC_EVENTS_TIMEBASE_H

#include "common/input.h"
#include "common/result-file.h"
#include "common/window.h"

struct timebase_host {
	const char *name;
	const struct netsync_clock *clock; /* NULL: it could not be corrected */
	struct netsync_clock *own; /* the same, if it is to be released */
	int64_t shift_ns;	   /* to be added to times before */
};

struct timebase {
	struct netsync *ns;
	struct netsync_io *io;
	struct model model;	     /* the result that was given, if any */
	struct timebase_host *hosts; /* by number */
	uint32_t num_hosts;
	const char *reference; /* whose clock is the time base */

	/* Only what is of this time, corrected; both are within it. */
	int64_t begin_ns; /* INT64_MIN: from the begin on */
	int64_t end_ns;	  /* INT64_MAX: up to the end */
};

/* Before anything is read, to be closed in every case. False: that was said. */
bool timebase_open(struct timebase *base, const struct input *input);
void timebase_close(struct timebase *base);

/* Read all, and find the clocks. Return: exit status; what is wrong was said. */
int timebase_find(struct timebase *base, const struct input *input);

/*
 * Which times are wanted. @with_events: also of traces without packets. False: there
 * is nothing in between, and that was said.
 */
bool timebase_limit(struct timebase *base, const struct time_window *window,
		    bool with_events);

/* Return: the exit status for what was corrected; what is not was said. */
int timebase_explain(const struct timebase *base, const struct input *input,
		     int status);

/* A time of a host, corrected. False: that is not known, or does not fit. */
bool timebase_time(const struct timebase_host *host, int64_t time_ns,
		   int64_t *time_ref);

/* Is a corrected time within the window? */
static inline bool timebase_shows(const struct timebase *base, int64_t time_ref)
{
	return time_ref >= base->begin_ns && time_ref <= base->end_ns;
}

/* From when to when the traces are, corrected. False: that is not known. */
bool timebase_span(const struct timebase *base, int64_t *first_ns,
		   int64_t *last_ns);

/*
 * What makes corrected times those of the wall clock, about: no bound covers that. False:
 * no trace tells it.
 */
bool timebase_wall(const struct timebase *base, int64_t *shift_ns);

/* The full second in which what is shown begins; 0: that is not known. */
int64_t timebase_second(const struct timebase *base);

#endif
