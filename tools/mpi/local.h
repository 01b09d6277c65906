/* SPDX-License-Identifier: GPL-2.0-only */
/* Traces that are not in a file system that all ranks see, but on each machine's disks. */
#ifndef NETSYNC_MPI_LOCAL_H
#define NETSYNC_MPI_LOCAL_H

#include <stdbool.h>
#include <sys/types.h>

#include <netsync-io.h>

struct input;

/* The first rank of each machine that was given the same traces serves them. */
struct local_traces {
	int *server; /* ranks that serve, in their order */
	int servers;
	int own;     /* which of them is this rank; -1 if none */
	pid_t child; /* that serves, and */
	int fd;	     /* leads to it */
};

/*
 * Add the traces of all machines to a reader. The traces of this machine are read, @jobs at a
 * time, if this rank serves them; the others are only described. Call this in all ranks at
 * once. On failure, print a message and return false.
 */
bool local_open(struct local_traces *local, const struct input *input, unsigned int jobs,
		struct netsync_io *io);

/* The part that this rank reads, below the number of ranks. */
int local_part(const struct local_traces *local, int rank);

/*
 * Call this after the traces were read: was every trace read completely? If not, print a
 * message.
 */
bool local_was_read(const struct local_traces *local, const struct netsync_io *io);

void local_close(struct local_traces *local);

#endif
