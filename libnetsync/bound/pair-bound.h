/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From the messages of a pair, and the courses of its hosts, to its bound. */
#ifndef NETSYNC_REACH_H
#define NETSYNC_REACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bound/rate-bound.h"
#include "curve/correction.h"
#include "message/message.h"
#include "netsync.h"

/* A sudden change of a host's clock. */
struct step {
	int64_t t;		/* the host's time, relative to its origin */
	int64_t within;		/* how far off that may be */
	double offset;		/* by which the correction grows, ns */
	double skew;		/* by which its slope does */
};

struct step course_step(const struct course *c, size_t index);

/* Where the host's time may be any in the neighbourhood of a step. */
struct jolt step_window(const struct step *s);

struct reach {
	struct bound bound;
	/* INCOMPLETE, APPROXIMATE or ACCURATE. */
	enum netsync_quality quality;
	bool usable;		/* the bound may be claimed */
};

/**
 * reach_make() - the bound of a pair
 * @r: filled in
 * @pair: its messages
 * @course: of its two hosts; NULL: not known. Messages that are received before
 *	they were sent by these are taken to be wrong, and steps count as jolts.
 * @limits: what is assumed
 *
 * Return: 0 or -ENOMEM.
 */
int reach_make(struct reach *r, const struct pair *pair,
	       const struct course *course[2], const struct limits *limits);
void reach_release(struct reach *r);

/* Of the limits of a pair: how many arrive before they are sent, by courses? */
size_t reach_inverted(const struct pair *pair, const struct course *course[2]);

/* The mean half-width from x = @first to @last, ns; HUGE_VAL: not known. */
double reach_width(const struct reach *r, int64_t first, int64_t last);

#endif
