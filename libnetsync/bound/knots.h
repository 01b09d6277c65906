/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From guaranteed ranges at instants to the knots of a clock. */
#ifndef NETSYNC_BOUND_KNOTS_H
#define NETSYNC_BOUND_KNOTS_H

#include <stddef.h>
#include <stdint.h>

#include "bound/rate-bound.h"
#include "netsync.h"
#include "util/parallel.h"

struct knots {
	/* What the knots are for: a clock without any, and its span. */
	const struct netsync_clock *clock;
	int64_t first;
	int64_t last;
	/* What is assumed of it, and when not; by their beginnings. */
	struct limits limits;
	const struct change_window *windows;
	size_t num_windows;
	/* The ranges of the corrected times of t, which rise, at about @instants of them. */
	void (*at)(void *arg, const int64_t *t, size_t num, struct range *range);
	void *arg;
	size_t instants;
	double width;		   /* of the range, about, ns; 0: not known */
	struct parallel *parallel; /* NULL: the caller's thread alone */
	uint32_t threads;
	/* The result; to be freed. */
	struct netsync_knot *knot;
	uint32_t num;
};

/* All times are absolute, on the host's clock. 0 or -ENOMEM. */
int knots_make(struct knots *k);

/* Instants that are looked at in a go, by a thread. Chosen. */
#define KNOTS_TOGETHER 256

/*
 * The ranges at the first of @left instants, which begin with their times and have @size
 * bytes each. Return: how many these are.
 */
size_t knots_find_ranges(const struct knots *k, const void *instants, size_t size, size_t left,
			 struct range range[KNOTS_TOGETHER]);

#endif
