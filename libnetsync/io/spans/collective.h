/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Kinds of collective operations, and which order each kind gives to the times of its ranks. */
#ifndef NETSYNC_IO_SPANS_COLLECTIVE_H
#define NETSYNC_IO_SPANS_COLLECTIVE_H

/* What a collective operation requires of its ranks. */
enum collective_relation {
	COLLECTIVE_ALL,	      /* no rank ends before every rank has started */
	COLLECTIVE_FROM_ROOT, /* no rank ends before the root has started */
	COLLECTIVE_TO_ROOT,   /* the root does not end before every rank has started */
	COLLECTIVE_SEND,
	COLLECTIVE_RECEIVE,
};

/* Which sizes the ranks of an operation report. */
enum collective_sizes {
	SIZES_ANY,
	SIZES_EQUAL, /* the same ones */
	SIZES_SPLIT, /* each pair of ranks has its own size, which may be 0 */
	SIZES_NONE,  /* the operation has no data; ranks only wait for each other */
};

struct collective_kind {
	const char *name; /* in lower case, without underscores */
	enum collective_relation relation;
	enum collective_sizes sizes;
};

/*
 * Find a kind by the name that PyTorch or NCCL gives to it, such as "_allgather_base" or
 * "AllGather". Return NULL for an unknown name.
 */
const struct collective_kind *collective_find_kind(const char *name);

#endif
