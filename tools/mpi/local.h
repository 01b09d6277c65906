/* SPDX-License-Identifier: GPL-2.0-only */
/* Traces that are on the disks of each machine, instead of a file system that all ranks see. */
#ifndef NETSYNC_MPI_LOCAL_H
#define NETSYNC_MPI_LOCAL_H

#include <stdbool.h>
#include <sys/types.h>

#include <netsync-io.h>

struct input;

/* Servers of traces. The first rank of each machine that was given the same traces serves them. */
struct local_traces {
	int *server; /* ranks that serve traces, in the order of servers */
	int servers;
	int own;     /* index of the server that is this rank; -1 if none */
	pid_t child; /* process that serves the traces of this rank */
	int fd;	     /* socket that is connected to the process */
};

/*
 * Add the traces of all machines to a reader. The traces of this machine are read, @jobs at a
 * time, if this rank serves them; the others are only described. Call this in all ranks at
 * once. On failure, print a message and return false.
 */
bool local_open(struct local_traces *local, const struct input *input, unsigned int jobs,
		struct netsync_io *io);

/* Return the number of the part that this rank reads, which is less than the number of ranks. */
int local_compute_part(const struct local_traces *local, int rank);

/*
 * Was every trace read completely? If not, print a message. Call this after the traces
 * were read.
 */
bool local_check_read(const struct local_traces *local, const struct netsync_io *io);

void local_close(struct local_traces *local);

#endif
