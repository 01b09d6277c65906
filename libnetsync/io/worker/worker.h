/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Child processes for libraries that may call abort(), use up all memory, or never return, and
 * for work in parallel with the caller. A worker sends records over a socket to the process that
 * started it. These files know only the sizes of the records. A worker ends when nobody reads its
 * records, or when it exceeds its limits.
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

/* The header of a record, encoded in WORKER_HEAD_SIZE bytes. The payload follows. */
struct worker_head {
	uint32_t size;	 /* size of the payload (bytes) */
	uint16_t what;	 /* kind of record, defined by the caller */
	uint16_t number; /* index or sub-kind, defined by the caller */
};

/* Maximum size of a payload (bytes). Chosen: paths (PATH_MAX is 4096) and sentences fit. */
#define WORKER_MAX_SIZE 4096
#define WORKER_HEAD_SIZE 8

/* Exit status of a worker that exceeds its memory. Chosen. */
#define WORKER_NO_MEMORY 3

/* Interval at which the caller checks whether a worker makes progress (ms). Chosen. */
#define WORKER_TICK_MS 1000
/* Time within which a killed worker ends unless it is stuck in the kernel (ms). Chosen. */
#define WORKER_END_MS 2000

/* ---- worker.c ---------------------------------------------------------- */

/*
 * Progress of a worker, in memory shared with the caller. All members are accessed atomically.
 */
struct worker_life {
	uint64_t beats;	  /* signs of progress so far */
	uint32_t is_idle; /* the worker waits for a command */
	/* The worker waits for its own worker, so that its processor time shows no progress. */
	uint32_t is_waiting;
	uint64_t doing; /* argument of the last worker_begin_part() */
};

struct worker {
	pid_t pid;
	int fd;		   /* socket to the worker; -1 if there is no worker */
	size_t used;	   /* number of bytes in the buffer */
	char *buffer;	   /* received data, possibly with a part of a record */
	char *unsent;	   /* commands that the socket did not accept yet */
	size_t num_unsent; /* bytes */
	struct worker_life *life;
	uint64_t seen_beats; /* value of @life->beats at the caller's last check */
	int64_t seen_cpu_ns; /* processor time used by the worker until then (ns) */
	int64_t silent_ms;   /* time for which the caller has waited without progress (ms) */
	bool is_stuck;	     /* the caller has given it up */
};

struct worker_limits {
	int timer; /* for setitimer(): wall-clock or processor time */
	/* Maximum time between calls of worker_is_alive() or worker_flush(). */
	unsigned int seconds;
	uint64_t memory; /* limit of memory beyond what the caller uses (bytes) */
};

/* A task of a worker, which runs on a copy of the caller's memory. */
struct worker_task {
	void (*run)(const void *data);
	struct worker_limits limits;
	const int *keep; /* the caller's files that run() reads; others are closed */
	size_t num_keep;
};

/*
 * Start a worker. Return 0, or a negative errno value, after which @worker is as after
 * worker_stop().
 */
int worker_start(struct worker *worker, const struct worker_task *task, const void *data);
/*
 * Kill a worker, if it has not ended. Return its status, as by waitpid(), or -ETIMEDOUT if it
 * was given up or does not end: a process that waits for a failed disk cannot be killed.
 */
int worker_stop(struct worker *worker);
/* Release a worker of the process from which this process was forked. */
void worker_forget(struct worker *worker);
/*
 * Does a status of worker_stop() mean that another process killed the worker, for example because
 * memory ran out?
 */
bool worker_was_killed(int status);
/* A clause for messages about a process that was killed. */
#define WORKER_WAS_KILLED \
	"the process that read it was killed; check whether the system ran out of memory"

/* A clause for messages about a process that made no progress. */
#define WORKER_WAS_STUCK "the process that read it made no progress and was abandoned"

/* Encode the header of a record, whose numbers are little-endian. */
void worker_encode_head(uint8_t bytes[WORKER_HEAD_SIZE], const struct worker_head *head);
/*
 * Decode a record, and add a zero byte to its payload. Return its size; 0 if it is incomplete;
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

/* Return the part of its task that a worker began last, or 0. */
uint64_t worker_get_part(const struct worker *worker);

/* How long a caller waits for a worker that makes no progress. */
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
 * Reserve @most bytes in the last record if it has this kind, number and enough space, and
 * otherwise in a new record. After writing them, call worker_commit_bytes() with the end of the
 * written bytes. Committed bytes are sent even if a signal ends the process.
 */
uint8_t *worker_reserve_bytes(uint16_t what, uint16_t number, size_t most);
void worker_commit_bytes(const uint8_t *end);
/* Put a text with its terminating NUL, truncated to WORKER_MAX_SIZE. */
void worker_put_text(uint16_t what, uint16_t number, const char *text);
/* Send all collected records, and wait until the socket accepts them. */
void worker_flush(void);
/* Restart the timer, and show progress. Call this if no record is put for a long time. */
void worker_is_alive(void);
/* Report which part of its task the worker begins, by a number that the caller defines. */
void worker_begin_part(uint64_t part);
/* Mark the start and the end of a wait for a worker that this worker started. */
void worker_begin_waiting(void);
void worker_end_waiting(bool has_progress);
/*
 * Wait up to @timeout_ms for the caller to close its end of the socket. Return true if it is
 * closed.
 */
bool worker_is_alone(int timeout_ms);
/*
 * Wait for a command of @size bytes, after flushing output if none is available yet. Exit if
 * the caller is gone.
 */
void worker_read_command(void *data, size_t size);
/* Is there a command for worker_read_command(), without waiting? */
bool worker_has_command(void);

#endif
