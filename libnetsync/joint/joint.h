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
	struct correction
		*correction; /* its curve is changed; NULL: it takes no part */
	struct link *link;
	size_t num_links;
	bool may_be_steered; /* see joint_fit_steered() */
};

/*
 * Make the curves of @num hosts, which stand at their numbers, the most likely ones; of
 * their corrections all else stays, but that straight curves have @intervals from now on, and
 * what follows may give all others so many. @drift: how fast
 * the rate of an oscillator changes at most, 1 / ns. The result does not depend on @threads.
 * 0 or -ENOMEM, with which nothing is changed; nor is it where the curves diverge.
 */
int joint_fit(const struct joint_host *host, uint32_t num, size_t intervals,
	      double drift, struct parallel *parallel, uint32_t threads);

/*
 * The same of clocks that daemons steer, where no events say so: the curves of hosts that
 * may_be_steered can bend anywhere, and become those of steered clocks. Of
 * their change points only phase steps stay, and bounds are doubted anew. *explains: mean delays
 * are much shorter then. If not, or where this fails, corrections must be given up.
 */
int joint_fit_steered(const struct joint_host *host, uint32_t num,
		      size_t intervals, double drift, struct parallel *parallel,
		      uint32_t threads, bool *explains);

#endif
