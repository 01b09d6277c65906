/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Properties of processor caches that threads respect for speed. */
#ifndef NETSYNC_UTIL_CACHE_H
#define NETSYNC_UTIL_CACHE_H

/*
 * Bytes of a cache line of most processors. Members that are this far apart can be
 * written without delaying processors that use the others.
 */
#define CACHE_LINE 64

#endif
