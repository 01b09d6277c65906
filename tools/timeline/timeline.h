/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Write events of hosts at corrected times to a file for a viewer (Perfetto, Chrome), in
 * one of two formats. A timeline has tracks for each host, with slices, instants and
 * packets, and messages between tracks:
 *
 *	web	CPU 0	|==slice==|  |====slice====|
 *		out	     * packet
 *	db	in	      \-> * packet		(a message)
 */
#ifndef NETSYNC_TIMELINE_H
#define NETSYNC_TIMELINE_H

#include <stdio.h>

#include "common/options.h"
#include "events/args.h"
#include "events/timebase.h"

enum track_kind {
	TRACK_HOST,
	TRACK_OUT,  /* packets that the host sends */
	TRACK_IN,   /* packets that the host receives */
	TRACK_SENT, /* sent ends of messages whose packet events are not known */
	TRACK_RECEIVED,
	TRACK_CPU,
	TRACK_THREAD, /* events of a thread */
	TRACK_STATE,  /* states of a thread; number is that of its TRACK_THREAD */
	TRACK_OBJECT, /* states of another kind of object (netsync states) */
};

struct track {
	uint32_t host;
	enum track_kind kind;
	uint32_t number; /* number of the CPU, thread or object; otherwise 0 */
};

/*
 * For a thread, track.number is the thread's id, which is below this value (in Linux, it is at most
 * 2^22). Higher numbers stand for a later thread with the id of an earlier one, or for a later name
 * of a thread. All numbers are below twice this value. The value is a round decimal number, so that
 * these numbers are readable as the last digits of Perfetto's thread ids.
 */
#define TRACK_MORE_THREADS 5000000
#define TRACK_NUMBERS (2 * TRACK_MORE_THREADS)

struct timeline_event {
	struct track track;
	int64_t time_ns;
	const char *category;
	const char *name;
	const struct arg *args;
	size_t num_args;
};

struct timeline_message {
	uint64_t id; /* id that is unique in the file */
	const char *name;
	struct track sent, received;
	int64_t sent_ns, received_ns;
	const char *from, *to; /* names of the sending and the receiving host */
};

/* A thread, or a new name of a thread. */
struct timeline_thread {
	struct track track; /* track of kind TRACK_THREAD for this name */
	uint32_t number;    /* track.number of the thread's first name */
	uint32_t tid;
	const char *name; /* name of the program; empty if unknown */
};

/* A thread on which the scheduler acts. The number 0 is the idle thread of a CPU. */
struct timeline_task {
	uint32_t number; /* number as in struct timeline_thread */
	const char *name;
};

/*
 * Perfetto rejects a file that has a CPU with this number or a higher one (ftrace_tokenizer.cc,
 * kMaxCpuCount).
 */
#define TIMELINE_MAX_CPUS 1024
/* Perfetto's thread ids are below 2^31, and each host has TRACK_NUMBERS of them. */
#define TIMELINE_MAX_THREAD_HOSTS (INT32_MAX / TRACK_NUMBERS - 1)

/* A switch or wakeup by the scheduler of a kernel, for a format with scheduling tables. */
struct timeline_sched {
	enum {
		TIMELINE_SWITCH, /* the CPU switches from the thread "from" to the thread "to" */
		TIMELINE_WAKING, /* the thread "from" wakes the thread "to" */
		TIMELINE_LOST,	 /* the tracer lost events, so that the action is not known */
	} kind;
	uint32_t host;	 /* number of the host, which is below TIMELINE_MAX_THREAD_HOSTS */
	uint32_t cpu;	 /* number of the CPU in the file, which is below TIMELINE_MAX_CPUS */
	int64_t time_ns; /* corrected time or, in a file of one machine, time of its host */
	struct timeline_task from, to;
	int64_t state; /* new state of the thread "from", as bits of the kernel */
};

struct timeline;

/* Functions of a format. */
struct timeline_format {
	/* Begin a file. Return false if out of memory. */
	bool (*begin)(struct timeline *timeline, const char *reference);
	/*
	 * Begin a part that another process writes. @number is not 0, and no other part has it.
	 * Return false if out of memory.
	 */
	bool (*begin_part)(struct timeline *timeline, uint32_t number);
	/* Name a track. Called before the track is used. */
	void (*name)(struct timeline *timeline, struct track track, const char *name);
	/* Name a track of kind TRACK_THREAD. */
	void (*thread)(struct timeline *timeline, const struct timeline_thread *thread);
	/* Write a slice. Slices of one track are in order of time and do not overlap. */
	void (*slice)(struct timeline *timeline, const struct timeline_event *event,
		      int64_t end_ns);
	void (*instant)(struct timeline *timeline, const struct timeline_event *event);
	/* Write a packet. Packets are on TRACK_OUT and TRACK_IN, in any order. */
	void (*packet)(struct timeline *timeline, const struct timeline_event *event);
	void (*message)(struct timeline *timeline, const struct timeline_message *message);
	/*
	 * Write that a CPU switched to another thread, or that a thread woke another. Called in
	 * order of time for each host, after its threads were named. NULL if the format has no
	 * scheduling tables.
	 */
	void (*sched)(struct timeline *timeline, const struct timeline_sched *event);
	/*
	 * Write buffered data. Called before another process writes, and before this process ends.
	 */
	void (*flush)(struct timeline *timeline);
	void (*end)(struct timeline *timeline);
	void (*release)(struct timeline *timeline);
};

struct timeline {
	const struct timeline_format *format;
	FILE *out;
	int64_t base_ns; /* base of times: a full second shortly before all events */
	bool has_wall;	 /* wall_shift_ns is known; wall-clock time is about time + wall_shift_ns */
	int64_t wall_shift_ns;
	/*
	 * Added to all times in Perfetto's own format. base_ns and wall_shift_ns take it into
	 * account.
	 */
	int64_t shift_ns;
	/* Whether the file describes only one machine, with its own numbers of threads and CPUs. */
	bool is_machine;
	int64_t sched_shift_ns; /* with is_machine, added to the times of struct timeline_sched */
	void *own;		/* data of the format */
	uint64_t num_early;	/* number of events before 1970, which the format cannot express */
	bool failed;		/* memory is exhausted */
};

/*
 * Begin a file that has the names of a time base's hosts. Return false if out of memory. Call
 * timeline_close() even then.
 */
bool timeline_open(struct timeline *timeline, const struct timeline_format *format, FILE *out,
		   const struct timebase *base);
/*
 * Begin a member of an archive, in Perfetto's own format. @shift_ns is added to corrected times.
 * timeline_open_messages() begins a file with the names of all hosts. timeline_open_machine()
 * begins a file of one machine whose scheduling events are at times of its own clock, to which
 * @host_shift_ns is added: Perfetto corrects these times, but takes all other times as they are.
 * Return values are those of timeline_open().
 */
bool timeline_open_messages(struct timeline *timeline, FILE *out, const struct timebase *base,
			    int64_t shift_ns);
bool timeline_open_machine(struct timeline *timeline, FILE *out, const struct timebase *base,
			   int64_t shift_ns, uint32_t host, int64_t host_shift_ns);
/*
 * End a file. @ok means that all @things ("slices", for a warning) were written without an error.
 * If @ok is false or writing fails now, set errno and return false.
 */
bool timeline_close(struct timeline *timeline, bool ok, const char *things);

/* Format the name of a thread's track as "nginx 812". */
#define TIMELINE_THREAD_NAME_SIZE 64
void timeline_format_thread_name(char name[TIMELINE_THREAD_NAME_SIZE],
				 const struct timeline_thread *thread);

/* The formats Trace Event Format (JSON), and Perfetto's own format (protocol buffers). */
extern const struct timeline_format trace_event_format, protobuf_format;

/*
 * Value if the option --format (an unsigned int) is not given. If the option is given, the value is
 * the index of the format.
 */
#define TIMELINE_NOT_SAID 2
extern const struct option_row timeline_options[];
/* Check that --format is used with --perfetto. If not, print a message and return false. */
bool timeline_check_option(unsigned int number, bool is_perfetto);
/*
 * Return the format with this number. For TIMELINE_NOT_SAID, choose the format by the file name
 * @path, which may be NULL.
 */
const struct timeline_format *timeline_find_format(unsigned int number, const char *path);

/* Numbers of the clocks of a machine in Perfetto (builtin_clock.proto). */
enum timeline_clock_id {
	TIMELINE_NO_CLOCK = 0,
	TIMELINE_REALTIME = 1,
	TIMELINE_MONOTONIC = 3,
	TIMELINE_MONOTONIC_RAW = 5,
	TIMELINE_BOOTTIME = 6,
	TIMELINE_PERF = 10, /* clock of perf without -k */
};

/* A reading of a clock of a machine. */
struct timeline_clock {
	enum timeline_clock_id id;
	int64_t time_ns; /* not negative */
};

/*
 * Open a file in Perfetto's own format that only relates clocks. Return false if out of memory.
 * Call timeline_close() even then.
 */
bool timeline_open_clocks(struct timeline *timeline, FILE *out);
/* Write readings of several clocks of a machine at one time. Machine 0 is that of the file. */
void timeline_put_clocks(struct timeline *timeline, uint32_t machine,
			 const struct timeline_clock *clocks, size_t num);
/*
 * Write that from @time_ns on, on the BOOTTIME clock of a machine other than 0, the BOOTTIME clock
 * of machine 0 differs by as much as at @time_ns, when it shows @machine_0_ns.
 */
void timeline_put_stair(struct timeline *timeline, uint32_t machine, int64_t time_ns,
			int64_t machine_0_ns);
/*
 * Find in a file in Perfetto's own format, which Perfetto recorded, how far its machine's BOOTTIME
 * clock is ahead of MONOTONIC, which is the time that the machine was suspended. Return 0; -ENODATA
 * if the file does not relate these clocks; -EILSEQ if it is not such a file; or -ENOMEM.
 */
int timeline_find_suspended(FILE *file, int64_t *suspended_ns);

#endif
