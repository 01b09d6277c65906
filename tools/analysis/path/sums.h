/* SPDX-License-Identifier: GPL-2.0-only */
/* Sums over the activities ("pieces") of a path. */
#ifndef NETSYNC_PATH_SUMS_H
#define NETSYNC_PATH_SUMS_H

#include "path/path.h"

/* Sum of all pieces with the same thread, kind and other thread. */
struct sum {
	const struct path_piece *piece; /* any one of these pieces */
	uint64_t times;
	uint64_t total_ns;
	uint64_t longest_ns;
};

struct sums {
	struct sum *list; /* sorted by total time, the longest first */
	size_t num;
};

/* Add up the pieces of a path. Return false if out of memory. */
bool sums_compute(struct sums *sums, const struct critical_path *path);
void sums_release(struct sums *sums);

/*
 * Return the time charged to a thread while its parents in the tree waited, and to all
 * threads below it.
 */
uint64_t charge_compute_total(const struct critical_path *path, uint32_t charge);
/*
 * Return the next charge in the order of the printed tree, in which children follow their
 * parent, or NO_CHARGE if there is none.
 */
uint32_t charge_get_next(const struct critical_path *path, uint32_t charge);

#endif
