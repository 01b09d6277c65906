/* SPDX-License-Identifier: GPL-2.0-only */
/* Between the files that write what viewers show. */
#ifndef NETSYNC_EXPORT_PERFETTO_H
#define NETSYNC_EXPORT_PERFETTO_H

#include <babeltrace2/babeltrace.h>

#include "export.h"
#include "thread-state.h"
#include "timeline.h"

/* ---- groups.c: all events of all CTF traces ------------------------------ */

/* The traces of a host. */
struct group {
	uint32_t host;
	struct ctf_input *inputs;
	uint32_t num;
	uint64_t bytes;		/* of their files */
	int64_t first_ns;	/* from when to when they are read */
	int64_t last_ns;
};

/* Of the process that reads them. */
struct group_state {
	int64_t now_ns;		/* it has come so far */
	uint64_t num_early;	/* as in struct timeline */
};

/* False: errno says why they cannot be written. */
bool perfetto_events(struct timeline *timeline, const struct export *export);

/* ---- events.c ----------------------------------------------------------- */

/* Those of one host, in a process of its own. False: they cannot be read to the end,
 * or not be written. */
bool perfetto_read(struct timeline *timeline, const struct export *export,
		   const struct group *group, struct group_state *state);

/* ---- args.c: fields of events ------------------------------------------- */

/* The lower bits of the word with the flags of TCP: "SYN|ACK". Return: @text. */
#define TCP_FLAGS_SIZE 64
char *tcp_flags(uint16_t word, char text[TCP_FLAGS_SIZE]);

struct args {
	struct arg *list;
	size_t num;
	size_t room;
	char flags[TCP_FLAGS_SIZE];	/* of TCP, in words */
};

/* The members of a structure (NULL: none) that have no parts. @has_flags: "flags"
 * is that word of a TCP header. False: there is not enough memory. */
bool args_read(struct args *args, const bt_field *structure, bool has_flags);
bool args_add(struct args *args, struct arg arg);
void args_release(struct args *args);

/* A member that is an integer of any kind. False: there is none. */
bool field_integer(const bt_field *structure, const char *name, int64_t *value);
/* A member that is a string; NULL: there is none. */
const char *field_text(const bt_field *structure, const char *name);

/* ---- threads.c: tracks of the threads and CPUs of a host ---------------- */

#define NO_CPU UINT32_MAX

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
	uint8_t cpus_named[SCHED_MAX_CPUS / 8];
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
void threads_fork(struct threads *threads, struct sched_task child);

#endif
