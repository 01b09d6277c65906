/* SPDX-License-Identifier: GPL-2.0-only */
/* Declarations that the files of the viewers' formats share. */
#ifndef NETSYNC_EXPORT_PERFETTO_H
#define NETSYNC_EXPORT_PERFETTO_H

#include "common/now.h"
#include "events/thread-state.h"
#include "export.h"
#include "timeline/timeline.h"

/* ---- events.c: all events of all traces --------------------------------- */

/*
 * Export all events of one host, or of all hosts with GROUPS_ALL_HOSTS. On failure, set errno and
 * return false.
 */
bool perfetto_write_events(struct timeline *timeline, const struct export *export, uint32_t host);

/* ---- perfetto.c ---------------------------------------------------------- */

/*
 * Write packets and messages of all hosts to @timeline, which is open. On failure, set errno and
 * return false.
 */
bool perfetto_write_messages(struct timeline *timeline, const struct export *export);
/* Format TCP flags, which are the lower bits of a header word, as "SYN|ACK". Return @text. */
#define TCP_FLAGS_SIZE 64
char *format_tcp_flags(uint16_t word, char text[TCP_FLAGS_SIZE]);

/* ---- threads.c: tracks of the threads and CPUs of a host ---------------- */

struct threads {
	struct timeline *timeline;
	const struct export *export;
	struct sched *sched;
	uint32_t host;
	bool show_states;
	int64_t first_ns;  /* time of the first event */
	int64_t now_ns;	   /* time of the last event so far */
	uint32_t num_more; /* number of tracks with numbers from TRACK_MORE_THREADS on */
	bool failed;	   /* memory is exhausted */
	uint8_t cpus_named[EVENT_MAX_CPUS / 8];
	uint8_t *tids_used; /* bit mask of the thread ids that are used as numbers of tracks */

	/* scheduling.c uses the following members. */
	uint32_t first_cpu; /* number of CPU 0 of this host in the file */
	uint32_t num_cpus;  /* number of CPUs so far, including those without events */
};

/* Open the tracks of a host. Return false if out of memory. */
bool threads_open(struct threads *threads);
/* End everything at the time of the last event. Return false if out of memory. */
bool threads_close(struct threads *threads);

/* Return the number of a thread in the format's tables, or 0 if out of memory. */
uint32_t threads_get_number(struct threads *threads, struct sched_thread *thread);

/* Put an instant on the track of a thread or, if @thread is NULL, of a CPU. */
void threads_put_instant(struct threads *threads, struct sched_thread *thread, uint32_t cpu,
			 const char *name, const struct args *args);

/*
 * Begin or end a system call, with its name and known arguments. If the begin is not known,
 * threads_leave_call() returns false, and the caller should put an instant in place of the call.
 */
void threads_enter_call(struct threads *threads, struct sched_thread *thread, const char *name,
			const struct args *args);
bool threads_leave_call(struct threads *threads, struct sched_thread *thread, const char *name,
			const struct args *args);
/* Add a new thread. The new thread is inside of the system call that created it. */
void threads_add_forked(struct threads *threads, struct event_task child);

/*
 * Return whether the format's tables have capacity for threads of this host. If so, only the tables
 * contain the threads' states.
 */
bool scheduling_can_add_host(const struct threads *threads);
/* Put the state that a thread has had since a time, if no event in the file implies this state. */
void scheduling_put_implied(struct threads *threads, struct sched_thread *thread, int64_t since_ns);
/* Call these functions before and after a switch is applied. */
void scheduling_put_missed_switch(struct threads *threads, uint32_t cpu,
				  const struct task_switch *change);
void scheduling_put_switch(struct threads *threads, uint32_t cpu, const struct task_switch *change);
/* Call this function after an event on this CPU made a thread runnable. */
void scheduling_put_waking(struct threads *threads, uint32_t cpu, struct event_task task);
/* Call this function before a loss is applied. */
void scheduling_put_loss(struct threads *threads, uint32_t cpu);

#endif
