/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The model of a clock, segments of time and knots of error bounds: see netsync.h. */
#ifndef NETSYNC_CLOCK_H
#define NETSYNC_CLOCK_H

#include <stdint.h>
#include <string.h>

#include "util/number.h"
#include "netsync.h"

/*
 * Copy a structure of @size bytes, which starts with its size, to a caller's version of the
 * structure, which may be shorter or longer (to->size). Return 0 or -EINVAL.
 */
int copy_sized_struct(void *to, const void *from, uint32_t size);

/* Position in a model of the last converted time, near which the next search starts. */
struct clock_place {
	uint32_t segment;
	uint32_t knot;
};

/*
 * The range of possible times on the reference clock, by the error bounds, for a range of
 * times on the host's clock; ns of either clock.
 */
struct range clock_convert_range(const struct netsync_clock *c, struct range t,
				 struct clock_place *near);

/* Compute netsync_segment.bound_ns of all segments from the knots. */
void clock_set_bounds(struct netsync_clock *c);

#endif
