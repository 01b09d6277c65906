/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The curves of all hosts fitted jointly: the most likely ones by all messages. Fitting one host
 * after the other against all others has the same result, but with many hosts it takes as many
 * rounds as an error has hosts to pass.
 */
#ifndef NETSYNC_JOINT_JOINT_H
#define NETSYNC_JOINT_JOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "curve/correction.h"
#include "curve/observations.h"
#include "util/parallel.h"

/* A host of a fit. Its terms are those of links in whose pair it is host[0]. */
struct joint_host {
	struct correction *correction; /* its curve is changed; NULL: the host takes no part */
	struct link *link;
	size_t num_links;
	bool may_be_steered; /* see joint_fit_steered() */
};

/* Does it take part? */
static inline bool joint_host_takes_part(const struct joint_host *h)
{
	return h->correction && h->num_links && h->correction->to > h->correction->from;
}

/* The hosts of a joint fit, its parameters and its threads, which do not affect the result. */
struct joint_task {
	struct joint_host *host;   /* indexed by host number */
	uint32_t num;		   /* number of hosts */
	size_t intervals;	   /* new number of intervals of straight curves */
	double drift;		   /* largest change of an oscillator's rate, 1 / ns */
	struct parallel *parallel; /* NULL: the caller's thread alone */
	uint32_t threads;
};

/*
 * Make the curves of all hosts the most likely ones. Other parts of their corrections stay the
 * same, except that straight curves get @intervals, and later fits may give all others as many. 0
 * or -ENOMEM. Nothing is changed on errors, or if the curves diverge.
 */
int joint_fit(const struct joint_task *t);

/*
 * Fit all curves as those of clocks that daemons steer without reporting it. Curves of hosts that
 * may_be_steered can bend at any instant, and become those of steered clocks. Only phase steps of
 * their change points are kept, and untrusted intervals are found again. *explains: mean delays are
 * much shorter then. If not, or on errors, the corrections must be discarded. 0 or -ENOMEM.
 */
int joint_fit_steered(const struct joint_task *t, bool *explains);

#endif
