/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The messages of a host as terms of the joint likelihood of all hosts. Observations limit one host
 * while its neighbours stay fixed; a term depends on both hosts of a pair, and either host's curve
 * may change. The pair's host[0] has the terms.
 */
#ifndef NETSYNC_CURVE_PAIR_TERMS_H
#define NETSYNC_CURVE_PAIR_TERMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "curve/correction.h"
#include "curve/observations.h"

/* The logistic penalty of a message, as in fit.c, as a function of changes of both curves. */
struct pair_constraint {
	double room; /* slack by the current curves, without a margin, ns */
	double u[2]; /* its time on each host, ns; once placed, see struct cubic */
	uint32_t interval[2];
	uint32_t other;	      /* number of host[1] */
	uint32_t margin : 31; /* index of host[0]'s margin */
	uint32_t side : 1;    /* ABOVE or BELOW host[0]'s curve */
	/* There are many constraints: members that need no precision are short. */
	float sharp; /* 1 / scale of the penalty, 1 / ns */
	/* At the last changes whose cost was computed: */
	float z;      /* -slack / scale */
	float tail;   /* exp(-|z|) */
	float weight; /* the penalty's second derivative, 1 / ns^2 */
};

/* Gradient by which the messages of a bin drive both curves apart, 1 / ns. */
struct pair_score {
	double t[2]; /* mean time on each host, ns */
	double score;
	uint32_t other;
	uint32_t margin : 31;
	uint32_t side : 1;
};

/* The terms of one host. */
struct pair_terms {
	struct spline curve; /* follows the curve of the host's correction */
	bool straight;	     /* the curve is to remain a line */
	double skew_walk;    /* see struct fit */
	/* Variance of each bend of a clock whose rate may change at any instant; else NULL. */
	const double *variance;
	size_t margins; /* number of links of its observations */
	/* For the pairs whose host[0] this host is: */
	struct pair_constraint *constraint;
	size_t num_constraints;
	struct pair_score *score;
	size_t num_scores;
};

/*
 * Make the terms of a host, whose curve will have @intervals besides its change points; 0:
 * straight. Links and @drift are those of host_fit(). @steered: rates of this host or others may
 * change at any instant, so errors relative to the earlier curves are meaningless. 0 or -ENOMEM;
 * release the terms in any case.
 */
int pair_terms_make(struct pair_terms *p, const struct correction *c, const struct link *links,
		    size_t num_links, double drift, size_t intervals, bool steered);
void pair_terms_release(struct pair_terms *p);

/* Free data that is no longer needed once scores are summed. */
void pair_terms_forget_scores(struct pair_terms *p);

/* Return the prior's weight of half of the square of bend @i of a curve that is not straight. */
double pair_terms_prior(const struct pair_terms *p, const struct bend *b, size_t i);

/*
 * Set the number of intervals of a host's curve if its rate may change at any instant; 0: there are
 * too few messages. 0 or -ENOMEM.
 */
int pair_terms_count_intervals(const struct correction *c, const struct link *links,
			       size_t num_links, size_t *intervals);

/*
 * Judge a curve with @freedom degrees of freedom: *mean_delay of a link's directions together, less
 * what the curve explains by chance, and *expected_error, ns. 0 or -ENOMEM.
 */
int pair_terms_judge(const struct correction *c, const struct link *links, size_t num_links,
		     double freedom, double *mean_delay, double *expected_error);

/*
 * Find the untrusted intervals of a curve of @intervals that was not made by host_fit(). Keep those
 * in which the clock may have been stepped and, if it is steered, those without a bound. 0 or
 * -ENOMEM.
 */
int pair_terms_doubt(struct correction *c, const struct link *links, size_t num_links, double drift,
		     size_t intervals);

#endif
