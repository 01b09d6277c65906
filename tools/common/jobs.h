/* SPDX-License-Identifier: GPL-2.0-only */
/* --jobs: how much is done at the same time. */
#ifndef NETSYNC_JOBS_H
#define NETSYNC_JOBS_H

#include <stdbool.h>

/* The most of --jobs: Linux supports 8192 processors at most. */
#define MAX_JOBS 8192
/* What says it if the option does not. */
#define JOBS_VARIABLE "NETSYNC_JOBS"

/* By @given, from --jobs, unless that is 0; else by the environment; 0: neither says it. */
bool jobs_find(unsigned int given, unsigned int *jobs);

/* Processors that this process may use. */
unsigned int count_processors(void);

#endif
