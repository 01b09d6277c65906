/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The format of saved state, shared by its writer (save.c) and its reader (take.c). */
#ifndef NETSYNC_SAVE_FORMAT_H
#define NETSYNC_SAVE_FORMAT_H

#include "handle.h"
#include "util/bytes.h"
#include "util/wide.h"

#define SAVED_MAGIC "netsync messages"
/* Version of the format. Increment it when anything in save.c changes. */
#define SAVED_VERSION 2

/*
 * Limits that make sums of all parts fit: packets and messages of a part; the magnitude
 * of the rounding-up offset, ns, beyond the resolution of any stamp; and the magnitude of
 * y, ns, which is a difference of two hosts' times plus that offset.
 */
#define SAVED_MAX_COUNT (UINT64_C(1) << 56)
#define SAVED_MAX_RAISED (INT64_C(1) << 40)
#define SAVED_MAX_Y (2 * NETSYNC_MAX_SPAN + SAVED_MAX_RAISED)

/* The saved state as read. Hosts have the numbers of the object that saved them. */
struct saved {
	struct netsync_stats stats;
	struct host *host; /* name is not terminated: */
	size_t *name_length;
	struct histogram *(*stack)[2]; /* of each host; NULL if none */
	struct steering *steering;
	size_t num_hosts;
	struct pairs pairs;
	struct peer_pair *counts; /* counts in .past */
	size_t num_counts;
	struct held_message *held;
	size_t num_held;
	struct held_message *uncovered; /* of struct held */
	size_t num_uncovered;
};

/* Read all bytes. Return 0; -ENOMEM; -EPROTO if the version differs; -EBADMSG. */
int saved_read(struct saved *s, const void *bytes, size_t size);
void saved_release(struct saved *s);

#endif
