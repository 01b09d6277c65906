/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The format of saved state, which its writer (save.c) and its reader (take.c) share. */
#ifndef NETSYNC_SAVE_FORMAT_H
#define NETSYNC_SAVE_FORMAT_H

#include "handle.h"
#include "util/bytes.h"
#include "util/wide.h"

#define SAVED_MAGIC "netsync messages"
/* Version of the format. Increment it if anything in save.c changes. */
#define SAVED_VERSION 2

/*
 * Limits that keep the sums over all parts from overflowing. SAVED_MAX_COUNT limits the packets
 * and the messages of one part. SAVED_MAX_RAISED limits the magnitude of the rounding-up offset,
 * ns, and exceeds the resolution of any timestamp. SAVED_MAX_Y limits the magnitude of y, ns,
 * which is the difference of two hosts' times plus that offset.
 */
#define SAVED_MAX_COUNT (UINT64_C(1) << 56)
#define SAVED_MAX_RAISED (INT64_C(1) << 40)
#define SAVED_MAX_Y (2 * NETSYNC_MAX_SPAN + SAVED_MAX_RAISED)

/* Saved state after it was read. Hosts have the numbers of the object that was saved. */
struct saved {
	struct netsync_stats stats;
	struct host *host; /* their names have no terminating NUL (see name_length) */
	size_t *name_length;
	/* two for each host; NULL if there is no histogram */
	struct histogram *(*stack)[2];
	struct steering *steering;
	size_t num_hosts;
	struct pairs pairs;
	struct peer_pair *counts; /* only .past is used */
	size_t num_counts;
	struct held_message *held;
	size_t num_held;
	struct held_message *uncovered; /* messages for held.uncovered */
	size_t num_uncovered;
};

/*
 * Read saved state from @bytes. Return 0, -ENOMEM, -EPROTO if the version differs, or -EBADMSG if
 * the bytes are invalid.
 */
int saved_read(struct saved *s, const void *bytes, size_t size);
void saved_release(struct saved *s);

#endif
