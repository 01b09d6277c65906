/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Processes that read with libbabeltrace2 what it may not stand: it calls abort()
 * for what it does not expect, takes as much memory as a number in a trace says,
 * and waits for its sockets as long as it takes. They end when nobody reads what
 * they write, and where they need more than they are given.
 *
 *	child.c		those who start them, and use what comes from them
 *	child-send.c	what they themselves call
 */
#ifndef NETSYNC_IO_CHILD_H
#define NETSYNC_IO_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct netsync_io;

/* What comes from a child: this, and then what belongs to it. */
struct child_head {
	uint32_t size;		/* of what follows */
	uint16_t what;
	uint16_t number;	/* which, or how */
};

/* What follows a head: less than this. */
#define CHILD_MAX_SIZE 4096

/* The exit status of one that needs more memory than it may take. */
#define CHILD_NO_MEMORY 3

/* ---- child.c ----------------------------------------------------------- */

struct child {
	pid_t pid;
	int fd;			/* -1: there is none */
	size_t used;
	char *buffer;
};

struct child_limits {
	int timer;		/* setitimer(): how it is counted, */
	unsigned int seconds;	/* how long it may be busy between signs of life */
	uint64_t memory;	/* how much it may take, bytes */
};

/*
 * What a child does, with its own copy of all memory: of @io what it warns of goes
 * to who started it, as @warning with a text.
 */
struct child_work {
	void (*run)(struct netsync_io *io, const void *data);
	struct child_limits limits;
	uint16_t warning;
};

/* 0, or negative errno. @child is as if it had ended then. */
int child_start(struct child *child, const struct child_work *work,
		struct netsync_io *io, const void *data);
/* It has ended, or shall. Return: its status, as waitpid() gives it. */
int child_stop(struct child *child);

/* For each record. 0; 1: no more for now; negative: io_fail() was called. */
typedef int (*child_use)(void *data, const struct child_head *head,
			 const void *payload);

/*
 * Use what is left of last time, and what there is, without waiting. 1: it goes
 * on; 0: it has ended; negative: what @use failed with.
 */
int child_receive(struct child *child, child_use use, void *data);

/* What child_hear() gives; whether it comes there, child_receive() shows. */
void child_tell(struct child *child, const void *data, size_t size);

/* Wait until there is more for child_receive(), or a signal comes. */
void child_wait(const struct child *child);

/* All of it: 0 or the status of the child; negative: an errno, or of @use. */
int child_run(const struct child_work *work, struct netsync_io *io,
	      const void *data, child_use use, void *use_data);

/* Why it ended before it was done, in words, by what child_run() or child_stop() gave. */
const char *child_end(int status);

/* ---- child-send.c: in the child ---------------------------------------- */

void child_begin(int fd, const struct child_work *work, struct netsync_io *io);
void child_put(uint16_t what, uint16_t number, const void *data, size_t size);
/* With its 0 at the end; where it is too long, as much as fits. */
void child_put_text(uint16_t what, uint16_t number, const char *text);
/* Let it be read all that was put. */
void child_flush(void);
/* It makes progress, even where nothing is to be put. */
void child_is_alive(void);
/* Wait a little: is whoever started us gone? */
bool child_is_alone(int timeout_ms);
/* Wait until told; where nobody will, this process ends. */
void child_hear(void *data, size_t size);

#endif
