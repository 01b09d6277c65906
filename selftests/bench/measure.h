/* SPDX-License-Identifier: GPL-2.0-only */
/* Time and memory of what runs in a process of its own. */
#ifndef MEASURE_H
#define MEASURE_H

#include <stdbool.h>
#include <stddef.h>

/* In ns, of no particular start. */
double measure_time(void);

/* Time of processors that this process used, ns. */
double measure_processors(void);

/*
 * Bytes that were used at most since measure_memory_start(), more than then.
 * In the process of measure_apart() nothing else adds to it.
 */
void measure_memory_start(void);
double measure_memory(void);

/*
 * Call @run in a child process; what it puts into @result, of @size bytes, is
 * there afterwards. False if the child did not get to its end.
 */
bool measure_apart(void (*run)(const void *arg, void *result), const void *arg,
		   void *result, size_t size);

#endif
