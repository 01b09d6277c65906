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

/* The header of a record. The header is encoded in WORKER_HEAD_SIZE bytes, and the payload follows.
 * */
struct worker_head {
	uint32_t size;	 /* size of the payload (bytes) */
	uint16_t what;	 /* kind of record, which the caller defines */
	uint16_t number; /* index or sub-kind, which the caller defines */
};

/* Maximum size of a payload (bytes). Chosen so that paths (PATH_MAX is 4096) and sentences fit. */
#define WORKER_MAX_SIZE 4096
#define WORKER_HEAD_SIZE 8

/* Exit status of a worker that exceeds its memory limit. Chosen. */
#define WORKER_NO_MEMORY 3

/* Time between two checks by the caller whether a worker makes progress (ms). Chosen. */
#define WORKER_TICK_MS 1000
/* A killed worker ends within this time, unless it is stuck in the kernel (ms). Chosen. */
#define WORKER_END_MS 2000

/* ---- worker.c ---------------------------------------------------------- */

/* Progress of a worker, in memory that the caller shares. All members are accessed atomically. */
struct worker_life {
	uint64_t beats;	  /* number of signs of progress */
	uint32_t is_idle; /* whether the worker waits for a command */
	/*
	 * Whether the worker waits for a worker of its own, so that its processor time does not
	 * show progress.
	 */
	uint32_t is_waiting;
	uint64_t doing; /* argument of the last worker_begin_part() */
};

struct worker {
	pid_t pid;
	int fd;		   /* socket that leads to the worker, or -1 without a worker */
	size_t used;	   /* number of bytes in the buffer */
	char *buffer;	   /* received data, which may end with a part of a record */
	char *unsent;	   /* commands that the socket has not accepted yet */
	size_t num_unsent; /* bytes */
	struct worker_life *life;
	uint64_t seen_beats; /* value of @life->beats when the caller last checked it */
	int64_t seen_cpu_ns; /* processor time that the worker had used by then (ns) */
	int64_t silent_ms;   /* how long the caller has waited without any progress (ms) */
	bool is_stuck;	     /* whether the caller has given up the worker */
};

struct worker_limits {
	int timer; /* for setitimer(): wall-clock or processor time */
	/* Maximum time between two calls of worker_is_alive() or worker_flush(). */
	unsigned int seconds;
	uint64_t memory; /* memory limit, beyond what the caller uses (bytes) */
};

/* The task of a worker. The task runs on a copy of the caller's memory. */
struct worker_task {
	void (*run)(const void *data);
	struct worker_limits limits;
	const int *keep; /* those files of the caller that run() reads; all others are closed */
	size_t num_keep;
};

/*
 * Start a worker. Return 0 or a negative errno value. After a failure, @worker is as after
 * worker_stop().
 */
int worker_start(struct worker *worker, const struct worker_task *task, const void *data);
/*
 * If a worker has not ended, kill it. Return its status as from waitpid(). Return -ETIMEDOUT if it
 * was given up or does not end: a process that waits for a failed disk cannot be killed.
 */
int worker_stop(struct worker *worker);
/* Release a worker that belongs to the process from which this process was forked. */
void worker_forget(struct worker *worker);
/*
 * Return whether a status of worker_stop() means that another process killed the worker, for
 * example because memory was exhausted.
 */
bool worker_was_killed(int status);
/* Part of messages about a process that was killed. */
#define WORKER_WAS_KILLED \
	"the process that read it was killed; check whether the system ran out of memory"

/* Part of messages about a process that made no progress. */
#define WORKER_WAS_STUCK "the process that read it made no progress and was abandoned"

/* Encode the header of a record. Numbers in the header are little-endian. */
void worker_encode_head(uint8_t bytes[WORKER_HEAD_SIZE], const struct worker_head *head);
/*
 * Decode a record, and add a zero byte to its payload. Return its size, 0 if it is incomplete, or
 * -EPROTO if it is too large.
 */
ssize_t worker_decode_record(const void *bytes, size_t num, struct worker_head *head,
			     char payload[WORKER_MAX_SIZE + 1]);

/*
 * Called for each record. Returns 0, 1 to receive no more records for now, or a negative value on
 * failure.
 */
typedef int (*worker_use)(void *data, const struct worker_head *head, const void *payload);

/*
 * Call @use for the records that are available, without waiting. Return 1 if the worker continues,
 * 0 if it has ended, or a negative value from @use.
 */
int worker_receive(struct worker *worker, worker_use use, void *data);

/*
 * Send a command for worker_read_command(). Bytes that the socket does not accept immediately are
 * sent later, during receiving or waiting. If the worker has ended, worker_receive() reports this.
 */
void worker_send_command(struct worker *worker, const void *data, size_t size);

/* Return whether the socket has data for worker_receive(). */
bool worker_has_more(const struct worker *worker);

/*
 * Wait until the socket has data for worker_receive(), a signal arrives, or WORKER_TICK_MS have
 * passed. Update worker.silent_ms. A worker makes progress if it uses processor time, sends
 * records, calls worker_is_alive(), or waits for a command.
 */
void worker_wait(struct worker *worker);
/* Return whether a worker has made progress since the last call of this function, or is idle. */
bool worker_made_progress(struct worker *worker);

/* Return the part of its task that the worker began last, or 0. */
uint64_t worker_get_part(const struct worker *worker);

/* How long a caller waits for a worker without progress. */
struct worker_patience {
	/* Called after each tick without progress. Returns true to give up the worker. */
	bool (*is_over)(void *data, int64_t silent_ms);
	void *data;
};

/*
 * Receive records until @use has set *@waiting to false and so returns 1. Return 1, 0 if the worker
 * does not exist, has ended before, or was given up, or a negative value from @use.
 */
int worker_receive_while(struct worker *worker, const bool *waiting, worker_use use, void *data,
			 const struct worker_patience *patience);

/*
 * Start a worker, use all of its records, and stop it. Return 0, the worker's status (positive), a
 * negative errno value (-ETIMEDOUT if it was given up), or a negative value from @use.
 */
int worker_run(const struct worker_task *task, const void *data, worker_use use, void *use_data,
	       const struct worker_patience *patience);

/* ---- send.c: called in the worker --------------------------------------- */

void worker_begin(int fd, const struct worker_limits *limits, struct worker_life *life);
void worker_put(uint16_t what, uint16_t number, const void *data, size_t size);
/*
 * Reserve @most bytes. The bytes are in the last record if it has this kind and number and enough
 * space; otherwise, they are in a new record. Write the bytes, and then call worker_commit_bytes()
 * with their end. Committed bytes are sent even if a signal ends the process.
 */
uint8_t *worker_reserve_bytes(uint16_t what, uint16_t number, size_t most);
void worker_commit_bytes(const uint8_t *end);
/* Put a text with its terminating NUL, truncated to WORKER_MAX_SIZE. */
void worker_put_text(uint16_t what, uint16_t number, const char *text);
/* Send all collected records, and wait until the socket accepts them. */
void worker_flush(void);
/* Restart the timer, and show progress. Call this function if no record is put for a long time. */
void worker_is_alive(void);
/* Report which part of its task the worker begins. The caller defines the numbers of parts. */
void worker_begin_part(uint64_t part);
/*
 * Call these functions at the start and at the end of a wait for a worker that this worker has
 * started.
 */
void worker_begin_waiting(void);
void worker_end_waiting(bool has_progress);
/*
 * Wait at most @timeout_ms until the caller closes its end of the socket. Return true if it is
 * closed.
 */
bool worker_is_alone(int timeout_ms);
/*
 * Wait for a command of @size bytes. If no command is available yet, flush the output first. If the
 * caller is gone, exit.
 */
void worker_read_command(void *data, size_t size);
/* Return whether there is a command for worker_read_command(). Do not wait. */
bool worker_has_command(void);

#endif
