/* SPDX-License-Identifier: GPL-2.0-only */
/* Time and memory of code in a separate process. */
#ifndef MEASURE_H
#define MEASURE_H

#include <stdbool.h>
#include <stddef.h>

/* In ns, from an arbitrary start. */
double measure_time(void);

/* Processor time of this process, ns. */
double measure_processors(void);

/*
 * Peak of memory since measure_memory_start(), in bytes above its use then. In the
 * process of measure_apart(), nothing else contributes.
 */
void measure_memory_start(void);
double measure_memory(void);

/*
 * Call @run in a child process, and copy what it writes to @result, of @size bytes.
 * False: the child did not finish.
 */
bool measure_apart(void (*run)(const void *arg, void *result), const void *arg, void *result,
		   size_t size);

#endif
