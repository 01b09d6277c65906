/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Properties of processor caches that affect the speed of threads. */
#ifndef NETSYNC_UTIL_CACHE_H
#define NETSYNC_UTIL_CACHE_H

/*
 * Size of a cache line on most processors, in bytes. If two members are at least this far apart,
 * writing to one of them does not delay processors that use the other one.
 */
#define CACHE_LINE 64

#endif
