/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Properties of processor caches that threads respect for speed. */
#ifndef NETSYNC_UTIL_CACHE_H
#define NETSYNC_UTIL_CACHE_H

/*
 * Bytes that caches exchange at a time, of most processors. What is so far apart can be
 * changed by one without delaying those that use the other.
 */
#define CACHE_LINE 64

#endif
