/* SPDX-License-Identifier: GPL-2.0-only */
/* --jobs: how many tasks run at the same time. */
#ifndef NETSYNC_JOBS_H
#define NETSYNC_JOBS_H

#include <stdbool.h>

/* Maximum of --jobs: Linux supports at most 8192 processors. */
#define MAX_JOBS 8192
/* The environment variable that is used if the option is missing. */
#define JOBS_VARIABLE "NETSYNC_JOBS"

/*
 * Use @given, from --jobs, unless it is 0, and otherwise the environment. Return 0 if neither
 * is set.
 */
bool jobs_find(unsigned int given, unsigned int *jobs);

/* Processors that this process may use. */
unsigned int count_processors(void);

#endif
