/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The model of a clock: segments that correct its time, and knots that have error bounds. See
 * netsync.h.
 */
#ifndef NETSYNC_CLOCK_H
#define NETSYNC_CLOCK_H

#include <stdint.h>
#include <string.h>

#include "util/number.h"
#include "netsync.h"

/*
 * Copy a structure of @size bytes to a caller's version of the structure, which may be shorter or
 * longer (to->size). The structure starts with its size. Return 0 or -EINVAL.
 */
int copy_sized_struct(void *to, const void *from, uint32_t size);

/* The position of the last converted time in a model. The next search starts there. */
struct clock_place {
	uint32_t segment;
	uint32_t knot;
};

/*
 * Convert a range of times on the host's clock to the range of possible times on the reference
 * clock, including the error bounds. Both ranges are in ns.
 */
struct range clock_convert_range(const struct netsync_clock *c, struct range t,
				 struct clock_place *near);

/* Compute netsync_segment.bound_ns for all segments from the knots. */
void clock_set_bounds(struct netsync_clock *c);

#endif
