/* SPDX-License-Identifier: GPL-2.0-only */
/* Read traces from the disks of each machine, in place of a file system that all ranks share. */
#ifndef NETSYNC_MPI_LOCAL_H
#define NETSYNC_MPI_LOCAL_H

#include <stdbool.h>
#include <sys/types.h>

#include <netsync-io.h>

struct input;

/*
 * Servers of traces. If several ranks of a machine have the same traces, the first of these ranks
 * serves them.
 */
struct local_traces {
	int *server; /* the ranks that serve traces, in the order of servers */
	int servers;
	int own;     /* index of the server that is this rank, or -1 */
	pid_t child; /* process that serves the traces of this rank */
	int fd;	     /* socket that is connected to this process */
};

/*
 * Add the traces of all machines to a reader. If this rank serves the traces of its machine, it
 * reads them, @jobs at a time. All other traces are only described. All ranks must call this
 * function at the same time. On failure, print a message and return false.
 */
bool local_open(struct local_traces *local, const struct input *input, unsigned int jobs,
		struct netsync_io *io);

/* Return the number of the part that this rank reads, which is less than the number of ranks. */
int local_compute_part(const struct local_traces *local, int rank);

/*
 * Return whether every trace was read completely. If not, print a message. Call this function after
 * the traces were read.
 */
bool local_check_read(const struct local_traces *local, const struct netsync_io *io);

void local_close(struct local_traces *local);

#endif
