/* SPDX-License-Identifier: GPL-2.0-only */
/* Number of tasks that run at the same time (--jobs). */
#ifndef NETSYNC_JOBS_H
#define NETSYNC_JOBS_H

#include <stdbool.h>

/* Maximum value of --jobs. Linux supports at most 8192 processors. */
#define MAX_JOBS 8192
/* Environment variable that is used if the option is not given. */
#define JOBS_VARIABLE "NETSYNC_JOBS"

/*
 * Set @jobs to @given, the value of --jobs. If @given is 0, use the value in the environment. If
 * neither is given, set @jobs to 0. If the value in the environment is invalid, print a message and
 * return false.
 */
bool jobs_find(unsigned int given, unsigned int *jobs);

/* Return the number of processors that this process may use. */
unsigned int count_processors(void);

#endif
