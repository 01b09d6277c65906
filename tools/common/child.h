/* SPDX-License-Identifier: GPL-2.0-only */
/* Wait for child processes, and read the output of programs that may hang. */
#ifndef NETSYNC_CHILD_H
#define NETSYNC_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Wait until a child process ends, even if signals arrive. Return its status as from waitpid(), or
 * -1 if there is no such process.
 */
int child_wait(pid_t pid);

/* A program, and the limits for its output. */
struct child_program {
	char *const *argv; /* the program is searched in PATH */
	int64_t limit_ns;  /* time limit */
	size_t most;	   /* maximum size of the output, bytes */
	bool reads_errors; /* the output includes standard error, which is otherwise discarded */
	void (*prepare)(void); /* called in the child before the program is executed; may be NULL */
};

/*
 * Run a program with its children, and return its output with a terminating NUL, to be freed. Set
 * *@status to the exit status, or to -1 if a signal killed the program. Return NULL and set errno if
 * the program cannot be executed, exceeds the time limit (ETIMEDOUT), or writes too much (EFBIG).
 */
char *child_read_output(const struct child_program *program, int *status);

#endif
