/* SPDX-License-Identifier: GPL-2.0-only */
/* Between the files that write what viewers show. */
#ifndef NETSYNC_EXPORT_PERFETTO_H
#define NETSYNC_EXPORT_PERFETTO_H

#include "export.h"
#include "events/thread-state.h"
#include "timeline/timeline.h"

/* ---- events.c: all events of all traces --------------------------------- */

/* False: errno says why they cannot be written. */
bool perfetto_events(struct timeline *timeline, const struct export *export);

/* ---- perfetto.c ---------------------------------------------------------- */

/* The lower bits of the word with the flags of TCP: "SYN|ACK". Return: @text. */
#define TCP_FLAGS_SIZE 64
char *tcp_flags(uint16_t word, char text[TCP_FLAGS_SIZE]);

/* ---- threads.c: tracks of the threads and CPUs of a host ---------------- */

struct threads {
	struct timeline *timeline;
	const struct export *export;
	struct sched *sched;
	uint32_t host;
	bool show_states;
	int64_t first_ns;	/* of the first event */
	int64_t now_ns;		/* of the last one so far */
	uint32_t num_more;	/* tracks with numbers from TRACK_MORE_THREADS on */
	bool failed;		/* there is not enough memory */
	uint8_t cpus_named[EVENT_MAX_CPUS / 8];
};

/* False: there is not enough memory. */
bool threads_open(struct threads *threads);
/* Everything ends with the last event. False: not enough memory. */
bool threads_close(struct threads *threads);

/* An instant of a thread, or where that is NULL of a CPU. */
void threads_instant(struct threads *threads, struct sched_thread *thread,
		     uint32_t cpu, const char *name, const struct args *args);

/* The begin and end of a system call; the names, and what is known by then.
 * False: it is shown as an instant, rather, as its begin is not known. */
void threads_enter(struct threads *threads, struct sched_thread *thread,
		   const char *name, const struct args *args);
bool threads_leave(struct threads *threads, struct sched_thread *thread,
		   const char *name, const struct args *args);
/* A thread that was made now, which is inside of the call that made it. */
void threads_fork(struct threads *threads, struct event_task child);

#endif
