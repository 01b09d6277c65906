/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Work on many things that do not depend on each other, by several threads. */
#ifndef NETSYNC_UTIL_PARALLEL_H
#define NETSYNC_UTIL_PARALLEL_H

#include <stddef.h>
#include <stdint.h>

/*
 * Call @run for each number below @num, in any order, by at most @threads threads,
 * of which the caller's is one. Where no more can be made, these do it.
 * Return: 0, or what a call returned that failed; some may not have been called
 * then.
 */
int parallel_run(uint32_t threads, size_t num, int (*run)(void *arg, size_t i),
		 void *arg);

#endif
