/* SPDX-License-Identifier: GPL-2.0-only */
/* The observations of one host with one neighbour, for tests of the stages of the host's fit. */
#ifndef SELFTESTS_SAMPLE_H
#define SELFTESTS_SAMPLE_H

#include "curve/observations.h"
#include "messages.h"

#define AHEAD (3 * SEC)
#define DELAY (100 * US)
#define SECONDS 400

static const struct correction sample_reference = { .known = true, .to = SECONDS * SEC };

/* The observations of host 1. The correction of host 1 has an error of 0.25 ms. */
struct sample {
	struct pairs ps;
	struct correction c;
	struct link link;
	struct observations p;
};

static inline void sample_gather(struct sample *s)
{
	*s = (struct sample){
		.c = { .known = true,
		       .from = AHEAD,
		       .to = AHEAD + SECONDS * SEC,
		       .offset = -AHEAD - 250 * US },
	};
	add_talk_of_two(&s->ps, SECONDS, AHEAD, DELAY);
	s->link = (struct link){
		.pair = s->ps.pair[0],
		.other = &sample_reference,
		.straight = true,
	};
	assert_int_equal(observations_gather(&s->p, &s->c, &s->link, 1), 0);
}

static inline void sample_release(struct sample *s)
{
	observations_release(&s->p);
	pairs_release(&s->ps);
}

#endif
