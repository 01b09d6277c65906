/* SPDX-License-Identifier: GPL-2.0-only */
/* Estimate clocks from traces, for other programs and commands. */
#ifndef NETSYNC_SYNC_H
#define NETSYNC_SYNC_H

#include <stdbool.h>

struct input_share;
struct remote_traces;

/*
 * Run netsync sync as one of several processes, each of which reads a part of the traces.
 * @argv[0] is the name of the program and of the sub-command. Return the exit status.
 */
int sync_shared(int argc, char **argv, struct input_share *share);

/*
 * Run netsync sync on the @num @traces of netsync record, and on the traces of @remote, unless it
 * is NULL. The order of @traces may be changed. @beacon means that they were recorded with
 * --beacon. Write the result to the file @path, and print the table. Return the exit status.
 */
int sync_recorded(char **traces, int num, struct remote_traces *remote, const char *path,
		  bool beacon);

#endif
