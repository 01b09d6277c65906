/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The curves of all hosts at once: the most likely ones by all messages. Fits of one host
 * against all others, in turn, come there too, but many hosts take as many rounds as what is
 * wrong with all of them has hosts to pass.
 */
#ifndef NETSYNC_JOINT_JOINT_H
#define NETSYNC_JOINT_JOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "curve/correction.h"
#include "curve/observations.h"
#include "util/parallel.h"

/* A host of a fit; of the links, those whose pair's host[0] it is are fitted by. */
struct joint_host {
	struct correction *correction; /* its curve is changed; NULL: it takes no part */
	struct link *link;
	size_t num_links;
	bool may_be_steered; /* see joint_fit_steered() */
};

/* Does it take part? */
static inline bool joint_host_takes_part(const struct joint_host *h)
{
	return h->correction && h->num_links && h->correction->to > h->correction->from;
}

/* What a joint fit is of, and by whom; the result does not depend on the threads. */
struct joint_task {
	struct joint_host *host;   /* at their numbers */
	uint32_t num;		   /* of hosts */
	size_t intervals;	   /* that straight curves have from now on */
	double drift;		   /* how fast the rate of an oscillator changes at most, 1 / ns */
	struct parallel *parallel; /* NULL: the caller's thread alone */
	uint32_t threads;
};

/*
 * Make the curves of all hosts the most likely ones; of their corrections all else stays, but
 * that straight curves have @intervals from now on, and what follows may give all others so
 * many. 0 or -ENOMEM, with which nothing is changed; nor is it where the curves diverge.
 */
int joint_fit(const struct joint_task *t);

/*
 * The same of clocks that daemons steer, where no events say so: the curves of hosts that
 * may_be_steered can bend anywhere, and become those of steered clocks. Of their change points
 * only phase steps stay, and bounds are doubted anew. *explains: mean delays are much shorter
 * then. If not, or where this fails, corrections must be given up. 0 or -ENOMEM.
 */
int joint_fit_steered(const struct joint_task *t, bool *explains);

#endif
