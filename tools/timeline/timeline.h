/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What files for viewers are made of, whatever their format: tracks of hosts, and on
 * these slices, instants, packets, and messages between them. All times are corrected.
 */
#ifndef NETSYNC_TIMELINE_H
#define NETSYNC_TIMELINE_H

#include <stdio.h>

#include "common/options.h"
#include "events/args.h"
#include "events/timebase.h"

enum track_kind {
	TRACK_HOST,
	TRACK_OUT,		/* packets that leave it */
	TRACK_IN,
	TRACK_SENT,		/* ends of messages, where packets cannot be these */
	TRACK_RECEIVED,
	TRACK_CPU,
	TRACK_THREAD,		/* what happens in it */
	TRACK_STATE,		/* of the thread of the same number */
	TRACK_OBJECT,		/* whatever netsync states is asked for */
};

struct track {
	uint32_t host;
	enum track_kind kind;
	uint32_t number;	/* of the CPU, thread or object, else 0 */
};

/* Threads have their own numbers; others, such as a later one of the same number,
 * have those from here on. */
#define TRACK_MORE_THREADS (1U << 23)

struct timeline_event {
	struct track track;
	int64_t time_ns;
	const char *category;
	const char *name;
	const struct arg *args;
	size_t num_args;
};

struct timeline_message {
	uint64_t id;
	const char *name;
	struct track sent, received;
	int64_t sent_ns, received_ns;
	const char *from, *to;	/* names of hosts */
};

struct timeline;

struct timeline_format {
	/* False: there is not enough memory. */
	bool (*begin)(struct timeline *timeline, const char *reference);
	/*
	 * What follows is written by a process of its own; @number is not 0, and
	 * another one for each. False: there is not enough memory.
	 */
	bool (*begin_part)(struct timeline *timeline, uint32_t number);
	/* Before anything else of the track. */
	void (*name)(struct timeline *timeline, struct track track,
		     const char *name);
	/* On one track, each ends before the next one begins, and comes after it. */
	void (*slice)(struct timeline *timeline,
		      const struct timeline_event *event, int64_t end_ns);
	void (*instant)(struct timeline *timeline,
			const struct timeline_event *event);
	/* On TRACK_OUT and TRACK_IN, in any order. */
	void (*packet)(struct timeline *timeline,
		       const struct timeline_event *event);
	void (*message)(struct timeline *timeline,
			const struct timeline_message *message);
	/* Before another process writes, and before this one ends. */
	void (*flush)(struct timeline *timeline);
	void (*end)(struct timeline *timeline);
	void (*release)(struct timeline *timeline);
};

struct timeline {
	const struct timeline_format *format;
	FILE *out;
	int64_t base_ns;	/* a full second not long before what is shown */
	void *own;		/* the format's */
	uint64_t num_early;	/* so many before 1970 it could not hold */
	bool failed;		/* there was not enough memory */
};

/* A file of what is on that base, which begins with the names of hosts. False: there is
 * not enough memory; it is to be closed in any case. */
bool timeline_open(struct timeline *timeline, const struct timeline_format *format,
		   FILE *out, const struct timebase *base);
/* @ok: all @things ("slices") were put into it, or tried. False: they were not, and errno
 * says why. */
bool timeline_close(struct timeline *timeline, bool ok, const char *things);

/* Trace Event Format, JSON; and Perfetto's own, protocol buffers. */
extern const struct timeline_format trace_event_format, protobuf_format;

/* --format, for its number, an unsigned int. */
#define TIMELINE_NOT_SAID 2
extern const struct option_row timeline_options[];
/* False: it has no meaning without --perfetto, and that was said. */
bool timeline_check(unsigned int number, bool is_perfetto);
/* TIMELINE_NOT_SAID: as a file of this name is to be; NULL: it has none. */
const struct timeline_format *timeline_format(unsigned int number,
					      const char *path);

#endif
