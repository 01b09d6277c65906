/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Independent calls of one function -> several threads. */
#ifndef NETSYNC_UTIL_PARALLEL_H
#define NETSYNC_UTIL_PARALLEL_H

#include <stddef.h>
#include <stdint.h>

/*
 * Call @run(@arg, i) for each i below @num, in any order, by at most @threads threads, of
 * which the caller's is one; by fewer if no more can be created. Returns 0, or the error
 * of a call that failed, after which not all may have been made.
 */
int parallel_run(uint32_t threads, size_t num, int (*run)(void *arg, size_t i),
		 void *arg);

#endif
