/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Processes that do what may end them: a library that they call may abort(), take
 * all memory, or never come back. They write records, of which nothing is known
 * here but their sizes, to whoever started them; they end when nobody reads these,
 * and where they need more than they are given.
 *
 *	worker.c	those who start them, and use what comes from them
 *	send.c		what they themselves call
 */
#ifndef NETSYNC_IO_WORKER_H
#define NETSYNC_IO_WORKER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What comes from a worker: this, and then what belongs to it. */
struct worker_head {
	uint32_t size;		/* of what follows */
	uint16_t what;
	uint16_t number;	/* which, or how */
};

/* What follows a head: at most so much (bytes). Chosen: paths and sentences fit. */
#define WORKER_MAX_SIZE 4096

/* The exit status of one that needs more memory than it may take. */
#define WORKER_NO_MEMORY 3

/* ---- worker.c ---------------------------------------------------------- */

struct worker {
	pid_t pid;
	int fd;			/* -1: there is none */
	size_t used;
	char *buffer;
};

struct worker_limits {
	int timer;		/* setitimer(): how it is counted, */
	unsigned int seconds;	/* how long it may be busy between signs of life */
	uint64_t memory;	/* how much it may take, bytes */
};

/* What a worker does, with its own copy of all memory. */
struct worker_task {
	void (*run)(const void *data);
	struct worker_limits limits;
};

/* 0, or negative errno. @worker is as if it had ended then. */
int worker_start(struct worker *worker, const struct worker_task *task,
		 const void *data);
/* It has ended, or shall. Return: its status, as waitpid() gives it. */
int worker_stop(struct worker *worker);

/* For each record. 0; 1: no more for now; negative: it failed. */
typedef int (*worker_use)(void *data, const struct worker_head *head,
			 const void *payload);

/*
 * Use what is left of last time, and what there is, without waiting. 1: it goes
 * on; 0: it has ended; negative: what @use failed with.
 */
int worker_receive(struct worker *worker, worker_use use, void *data);

/* What worker_hear() gives; whether it comes there, worker_receive() shows. */
void worker_tell(struct worker *worker, const void *data, size_t size);

/* The same, but of it only what is taken at once: so many bytes. */
size_t worker_offer(struct worker *worker, const void *data, size_t size);
/* Is there more for worker_receive() already? */
bool worker_has_more(const struct worker *worker);

/* Wait until there is more for worker_receive(), or a signal comes. */
void worker_wait(const struct worker *worker);

/* All of it: 0 or the status of the worker; negative: an errno, or of @use. */
int worker_run(const struct worker_task *task, const void *data, worker_use use,
	       void *use_data);

/* ---- send.c: in the worker --------------------------------------------- */

void worker_begin(int fd, const struct worker_limits *limits);
void worker_put(uint16_t what, uint16_t number, const void *data, size_t size);
/* With its 0 at the end; where it is too long, as much as fits. */
void worker_put_text(uint16_t what, uint16_t number, const char *text);
/* Let it be read all that was put. */
void worker_flush(void);
/* It makes progress, even where nothing is to be put. */
void worker_is_alive(void);
/* Wait a little: is whoever started us gone? */
bool worker_is_alone(int timeout_ms);
/*
 * Wait until told, with all flushed that was put; where nobody will, this process
 * ends. What was told already is given at once.
 */
void worker_hear(void *data, size_t size);
/* Is there something to hear already? */
bool worker_was_told(void);

#endif
