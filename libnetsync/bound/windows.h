/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* When no drift is assumed of hosts: about change points, and where curves fail. */
#ifndef NETSYNC_BOUND_WINDOWS_H
#define NETSYNC_BOUND_WINDOWS_H

#include <stddef.h>
#include <stdint.h>

#include "bound/rate-bound.h"
#include "curve/correction.h"

/* A change point, as it is reported. */
struct clock_step {
	int64_t t;	     /* the host's time, relative to its origin, ns */
	int64_t uncertainty; /* how far off that may be */
	double offset;	     /* by which the correction grows, ns */
	bool stood_still;    /* and no time is skipped or shown twice */
	double skew;	     /* by which its slope does */
	double gap;	     /* between the curves on either side, ns */
};

struct clock_step correction_step(const struct correction *c, size_t index);

struct windows {
	struct change_window *window;
	size_t num;
	size_t room;
};

/* Add those of a host, in time of @on: 0 or -ENOMEM. */
int windows_add(struct windows *to, const struct correction *of, const struct correction *on);

int windows_add_one(struct windows *to, const struct change_window *w);
/* Add a window in time of one host, in that of another, unless it is empty. */
int windows_add_range(struct windows *to, const struct change_window *range,
		      const struct correction *of, const struct correction *on);

/*
 * Put them in order of their beginnings, as others expect them. General ones that overlap become one,
 * and so do other ones without a phase step.
 */
void windows_join(struct windows *w);

void windows_release(struct windows *w);

#endif
