/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Child processes for libraries that may abort(), take all memory, or never return, and
 * for work in parallel with the caller. A worker writes records to the process that
 * started it, over a socket; here only their sizes are known. It ends when nobody reads,
 * and when it exceeds its limits.
 *
 *	caller (worker.c)		worker (send.c)
 *	worker_start() ---- fork() ---->  run()
 *	worker_receive() <-- records ---  worker_put()
 *	worker_send_command() ---- commands --->  worker_read_command()
 */
#ifndef NETSYNC_IO_WORKER_H
#define NETSYNC_IO_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The head of a record, of WORKER_HEAD_SIZE bytes; the payload follows. */
struct worker_head {
	uint32_t size;	 /* of the payload, bytes */
	uint16_t what;	 /* kind of record; the user's */
	uint16_t number; /* index or sub-kind; the user's */
};

/* Maximum size of a payload, bytes. Chosen: paths (PATH_MAX is 4096) and sentences fit. */
#define WORKER_MAX_SIZE 4096
#define WORKER_HEAD_SIZE 8

/* Exit status of a worker that exceeds its memory. Chosen. */
#define WORKER_NO_MEMORY 3

/* The caller looks so often whether a worker makes progress, ms. Chosen. */
#define WORKER_TICK_MS 1000
/* A killed worker ends within this time, ms, or is stuck in the kernel. Chosen. */
#define WORKER_END_MS 2000

/* ---- worker.c ---------------------------------------------------------- */

/*
 * Progress of a worker, in memory shared with the caller. All members are accessed atomically.
 */
struct worker_life {
	uint64_t beats;	  /* signs of progress so far */
	uint32_t is_idle; /* it waits for a command */
	/* It waits for a worker of its own, so that its processor time shows no progress. */
	uint32_t is_waiting;
	uint64_t doing; /* worker_begin_part() */
};

struct worker {
	pid_t pid;
	int fd;		   /* socket to the worker; -1: there is no worker */
	size_t used;	   /* bytes in the buffer */
	char *buffer;	   /* received, of which a part of a record may be left */
	char *unsent;	   /* commands that the socket did not take yet */
	size_t num_unsent; /* bytes */
	struct worker_life *life;
	uint64_t seen_beats; /* when the caller looked last, as the next member */
	int64_t seen_cpu_ns; /* processor time that it took */
	int64_t silent_ms;   /* that the caller waited for it without progress */
	bool is_stuck;	     /* the caller has given it up */
};

struct worker_limits {
	int timer;	      /* for setitimer(): wall-clock or processor time */
	unsigned int seconds; /* between signs of life (worker_is_alive(), _flush()) */
	uint64_t memory;      /* bytes beyond what the caller has */
};

/* A task of a worker, which runs on a copy of the caller's memory. */
struct worker_task {
	void (*run)(const void *data);
	struct worker_limits limits;
	const int *keep; /* the caller's files that run() reads; others are closed */
	size_t num_keep;
};

/* Start a worker. Return 0, or a negative errno value: @worker is as after worker_stop(). */
int worker_start(struct worker *worker, const struct worker_task *task, const void *data);
/*
 * Kill a worker, if it has not ended. Return its status, as by waitpid(), or -ETIMEDOUT if it
 * was given up or does not end: a process that waits for a failed disk cannot be killed.
 */
int worker_stop(struct worker *worker);
/* Release a worker of the process from which this process was forked. */
void worker_forget(struct worker *worker);
/*
 * Does such a status mean that another process killed the worker, for example because memory
 * ran out?
 */
bool worker_was_killed(int status);
/* A clause for messages about a process that was killed. */
#define WORKER_WAS_KILLED \
	"the process that read it was killed; check whether the system ran out of memory"

/* A clause for messages about a process that made no progress. */
#define WORKER_WAS_STUCK "the process that read it made no progress and was abandoned"

/* Write the head of a record, whose numbers are little-endian. */
void worker_encode_head(uint8_t bytes[WORKER_HEAD_SIZE], const struct worker_head *head);
/*
 * Consume a record, with a zero byte after its payload. Return its size; 0 if it is incomplete;
 * -EPROTO if it is too large.
 */
ssize_t worker_decode_record(const void *bytes, size_t num, struct worker_head *head,
			     char payload[WORKER_MAX_SIZE + 1]);

/*
 * Called for each record. Return 0; 1 to stop receiving records for now; or a negative value on
 * failure.
 */
typedef int (*worker_use)(void *data, const struct worker_head *head, const void *payload);

/*
 * Call @use for the available records, without waiting. Return 1 if the worker continues; 0 if
 * it has ended; or a negative value from @use.
 */
int worker_receive(struct worker *worker, worker_use use, void *data);

/*
 * Send a command for worker_read_command(). Bytes that the socket does not accept immediately are
 * sent while receiving or waiting. If the worker has ended, worker_receive() reports this.
 */
void worker_send_command(struct worker *worker, const void *data, size_t size);

/* Is there data in the socket for worker_receive()? */
bool worker_has_more(const struct worker *worker);

/*
 * Wait until there is data for worker_receive(), a signal arrives, or WORKER_TICK_MS have
 * elapsed. Update worker.silent_ms: a worker makes progress if it uses processor time, sends
 * records, calls worker_is_alive(), or waits for a command.
 */
void worker_wait(struct worker *worker);
/* Has a worker made progress, or is it idle, since the last call of this function? */
bool worker_made_progress(struct worker *worker);

/* The part of its task that a worker has begun last, or 0. */
uint64_t worker_get_part(const struct worker *worker);

/* The patience of a caller with a worker that makes no progress. */
struct worker_patience {
	/* Called after each tick without progress. Return true to give up the worker. */
	bool (*is_over)(void *data, int64_t silent_ms);
	void *data;
};

/*
 * Receive until @use, which then returns 1, has set *@waiting to false. Return 1; 0 if the
 * worker has ended before, does not exist, or was given up; or a negative value from @use.
 */
int worker_receive_while(struct worker *worker, const bool *waiting, worker_use use, void *data,
			 const struct worker_patience *patience);

/*
 * Start a worker, use all its records, and stop it. Return 0, the worker's status (positive), a
 * negative errno value (-ETIMEDOUT if it was given up), or a negative value from @use.
 */
int worker_run(const struct worker_task *task, const void *data, worker_use use, void *use_data,
	       const struct worker_patience *patience);

/* ---- send.c: called in the worker --------------------------------------- */

void worker_begin(int fd, const struct worker_limits *limits, struct worker_life *life);
void worker_put(uint16_t what, uint16_t number, const void *data, size_t size);
/*
 * Append to the record that was put last, if it is of this kind and number and has room for
 * @most bytes, or to a new one, and then say up to where that was written. What was put so is
 * sent even if a signal ends the process.
 */
uint8_t *worker_reserve_bytes(uint16_t what, uint16_t number, size_t most);
void worker_commit_bytes(const uint8_t *end);
/* Put a text with its 0, cut to WORKER_MAX_SIZE. */
void worker_put_text(uint16_t what, uint16_t number, const char *text);
/* Send all records that were put; wait until the socket takes them. */
void worker_flush(void);
/* Restart the timer, and show progress, if nothing is to be put for long. */
void worker_is_alive(void);
/* Show which part of its task it begins, by a number of the caller's. */
void worker_begin_part(uint64_t part);
/* Mark the start and the end of a wait for a worker that this worker started. */
void worker_begin_waiting(void);
void worker_end_waiting(bool has_progress);
/* Is the caller's end of the socket closed? Wait for that up to @timeout_ms. */
bool worker_is_alone(int timeout_ms);
/*
 * Wait for a command of @size bytes, after flushing output if none is available yet. Exit if
 * the caller is gone.
 */
void worker_read_command(void *data, size_t size);
/* Is there a command for worker_read_command(), without waiting? */
bool worker_has_command(void);

#endif
