/* SPDX-License-Identifier: GPL-2.0-only */
/* Between the files that write what viewers show. */
#ifndef NETSYNC_EXPORT_PERFETTO_H
#define NETSYNC_EXPORT_PERFETTO_H

#include "common/now.h"
#include "events/thread-state.h"
#include "export.h"
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
	uint8_t *tids_used;	/* a bit for each id of a thread: a track has its number */

	/* scheduling.c's. */
	uint32_t first_cpu;	/* number of CPU 0 in the file */
	uint32_t num_cpus;	/* seen so far; those between are counted, too */
};

/* False: there is not enough memory. */
bool threads_open(struct threads *threads);
/* Everything ends with the last event. False: not enough memory. */
bool threads_close(struct threads *threads);

/* The number that a format's tables know a thread by; 0: there is not enough memory. */
uint32_t threads_number(struct threads *threads, struct sched_thread *thread);

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

/* ---- scheduling.c: events for a format that has tables of scheduling ---- */

/* Does it have room for threads of this host? Then their states are in these only. */
bool scheduling_has_room(const struct threads *threads);
/* A thread is in its state since then, of which no event is in the file. */
void scheduling_imply(struct threads *threads, struct sched_thread *thread,
		      int64_t since_ns);
/* Before a switch is taken into account, and after. */
void scheduling_missed(struct threads *threads, uint32_t cpu,
		       const struct task_switch *change);
void scheduling_switch(struct threads *threads, uint32_t cpu,
		       const struct task_switch *change);
/* After a thread became runnable by an event of that CPU. */
void scheduling_waking(struct threads *threads, uint32_t cpu, struct event_task task);
/* Before a loss is taken into account. */
void scheduling_lost(struct threads *threads, uint32_t cpu);

#endif
