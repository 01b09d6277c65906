/* SPDX-License-Identifier: GPL-2.0-only */
/* Measure time and memory of code, also in a separate process. */
#ifndef MEASURE_H
#define MEASURE_H

#include <stdbool.h>
#include <stddef.h>

/* Return the elapsed time from an arbitrary start, ns. */
double measure_time(void);

/* Return the processor time of this process, ns. */
double measure_processor_time(void);

/*
 * Return the peak of the memory since measure_memory_start(), in bytes above the memory in
 * use at that time. In the process of measure_in_child(), nothing else contributes.
 */
void measure_memory_start(void);
double measure_memory(void);

/*
 * Call @run in a child process, and copy the @size bytes that it writes to @result. Return
 * false if the child did not finish.
 */
bool measure_in_child(void (*run)(const void *arg, void *result), const void *arg, void *result,
		      size_t size);

#endif
