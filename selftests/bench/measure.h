/* SPDX-License-Identifier: GPL-2.0-only */
/* Measure the time and memory that code needs. Code can also run in a separate process. */
#ifndef MEASURE_H
#define MEASURE_H

#include <stdbool.h>
#include <stddef.h>

/* Return the time since an arbitrary start, ns. */
double measure_time(void);

/* Return the processor time of this process, ns. */
double measure_processor_time(void);

/*
 * Return the peak of the memory use since measure_memory_start(), in bytes above the memory use at
 * that time. In the child process of measure_in_child(), nothing else adds to it.
 */
void measure_memory_start(void);
double measure_memory(void);

/*
 * Call @run in a child process. Copy the @size bytes that @run writes to @result. Return false if
 * the child process failed.
 */
bool measure_in_child(void (*run)(const void *arg, void *result), const void *arg, void *result,
		      size_t size);

#endif
