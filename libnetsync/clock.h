/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The clock model behind struct netsync_clock; see netsync.h. */
#ifndef NETSYNC_CLOCK_H
#define NETSYNC_CLOCK_H

#include <stdint.h>
#include <string.h>

#include "util/number.h"
#include "netsync.h"

/*
 * Copy a structure that starts with its size to a caller who may know an
 * older, shorter or a newer, longer one: 0 or -EINVAL.
 */
int copy_out(void *to, const void *from, uint32_t size);

/*
 * All that times within a range, on the host's clock, can be on the reference
 * clock. Both are absolute.
 */
struct range clock_range(const struct netsync_clock *c, struct range t);

/* Set the bounds of all segments, from the knots. */
void clock_set_bounds(struct netsync_clock *c);

#endif
