/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Processor cache properties that affect the speed of threads. */
#ifndef NETSYNC_UTIL_CACHE_H
#define NETSYNC_UTIL_CACHE_H

/*
 * Size of a cache line on most processors, in bytes. If two members are at least this far
 * apart, writing one of them does not delay processors that use the other.
 */
#define CACHE_LINE 64

#endif
