/* SPDX-License-Identifier: GPL-2.0-only */
/* The pieces of a path, summed up. */
#ifndef NETSYNC_PATH_SUMS_H
#define NETSYNC_PATH_SUMS_H

#include "path/path.h"

/* All pieces of a thread and kind, and for the same other one. */
struct sum {
	const struct path_piece *piece; /* one of them */
	uint64_t times;
	uint64_t total_ns;
	uint64_t longest_ns;
};

struct sums {
	struct sum *list; /* the longest first */
	size_t num;
};

/* False: there is not enough memory. */
bool sums_find(struct sums *sums, const struct critical_path *path);
void sums_release(struct sums *sums);

/* CPU time of a thread while those above it in the tree waited, and of all below it. */
uint64_t charge_total(const struct critical_path *path, uint32_t charge);
/* The one after it when the tree is written, children of a thread behind it; NO_CHARGE:
 * it is the last one. */
uint32_t charge_next(const struct critical_path *path, uint32_t charge);

#endif
