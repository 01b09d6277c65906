/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The messages of a host as terms of the likelihood of all hosts together. What
 * observations say of one host while its neighbours stay as they are, a term says of both
 * hosts of a pair: host[0] has the terms of the pair, and either host's curve may change.
 */
#ifndef NETSYNC_CURVE_PAIR_TERMS_H
#define NETSYNC_CURVE_PAIR_TERMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "curve/correction.h"
#include "curve/observations.h"

/* The logistic penalty of a message, as in fit.c, by changes of both curves. */
struct pair_constraint {
	double room; /* slack by the curves as they are, without a margin, ns */
	double u[2]; /* its time on either host, ns; once placed, see struct cubic */
	uint32_t interval[2];
	uint32_t other;	      /* number of host[1] */
	uint32_t margin : 31; /* which of host[0] */
	uint32_t side : 1;    /* ABOVE or BELOW host[0]'s curve */
	/* There are so many constraints that what need not be precise is short. */
	float sharp; /* 1 / scale of the penalty, 1 / ns */
	/* At the changes whose cost was computed last: */
	float z;      /* -slack / scale */
	float tail;   /* exp(-|z|) */
	float weight; /* the penalty's second derivative, 1 / ns^2 */
};

/* By how much the messages of a bin drive both curves apart, 1 / ns. */
struct pair_score {
	double t[2]; /* on either host, ns */
	double score;
	uint32_t other;
	uint32_t margin : 31;
	uint32_t side : 1;
};

/* Of one host. */
struct pair_terms {
	struct spline curve; /* follows that of the host's correction */
	bool straight;	     /* it is to remain a line */
	double skew_walk;    /* see struct fit */
	/* Of each bend, if it is that of a clock whose rate may change at once; or NULL. */
	const double *variance;
	size_t margins; /* of the links of its observations */
	/* Of the pairs whose host[0] it is: */
	struct pair_constraint *constraint;
	size_t num_constraints;
	struct pair_score *score;
	size_t num_scores;
};

/*
 * Make the terms of a host, whose curve is to have @intervals besides its change points;
 * 0: to be straight. Links are those of host_fit(). @drift: as there. @steered: of this host or
 * of others rates may change at once, so that what is wrong by the curves of before says
 * nothing. 0 or -ENOMEM; release them in any case.
 */
int pair_terms_make(struct pair_terms *p, const struct correction *c, const struct link *links,
		    size_t num_links, double drift, size_t intervals, bool steered);
void pair_terms_release(struct pair_terms *p);

/* Free what is no longer needed once scores are summed up. */
void pair_terms_forget_scores(struct pair_terms *p);

/* The prior's weight of half of the square of bend @i, but of a straight curve. */
double pair_terms_prior(const struct pair_terms *p, const struct bend *b, size_t i);

/*
 * Intervals of a host's curve if its rate may change at once; 0: there are too few messages.
 * 0 or -ENOMEM.
 */
int pair_terms_count_intervals(const struct correction *c, const struct link *links,
			       size_t num_links, size_t *intervals);

/*
 * What a curve with so many degrees of @freedom leaves: *mean_delay of a link's directions
 * together, beside what it explains by chance, and *expected_error, ns. 0 or -ENOMEM.
 */
int pair_terms_judge(const struct correction *c, const struct link *links, size_t num_links,
		     double freedom, double *mean_delay, double *expected_error);

/*
 * Ask of a curve of @intervals that others than host_fit() made when it is not to be relied on:
 * anew, but for where the clock may have been set, and, if it is steered, where no bound could
 * be claimed before. 0 or -ENOMEM.
 */
int pair_terms_doubt(struct correction *c, const struct link *links, size_t num_links, double drift,
		     size_t intervals);

#endif
