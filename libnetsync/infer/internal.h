/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the files of inference share:
 *
 *	infer.c		the rounds, and when they end
 *	start.c		first lines of all clocks, along the tree
 *	observe.c	what is kept of messages, by links
 *	grid.c		knots of clocks, factors of messages, and finer ones
 *	propagate.c	expectation propagation: factors to hosts and links
 *	smoother.c	one host: its knots to their marginals
 *	learn.c		the noise of one host
 *	window.c	some knots of a host, and the evidence of what they say
 *	jumps.c		steps of a host: where the evidence asks for them
 *	posterior.c	the marginals -> a correction
 *
 * Times are seconds since the reference's span began, by the host's straight correction; phases
 * are what lies beyond it, in ns.
 */
#ifndef NETSYNC_INFER_INTERNAL_H
#define NETSYNC_INFER_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "infer/infer.h"
#include "model/model.h"

/* A normal by its precision, and that times the mean: what is added up. */
struct natural {
	double precision;
	double weighted;
};

/* The score of an increment, given all messages, and its information. */
struct increment_score {
	double gradient;
	double information;
};

struct knot {
	double t;
	double from;	/* the first message of its cell, which ends where the next begins */
	double to;	/* the last message of its cell */
	double length;	/* from the knot before */
	double bend;	/* variance of the increment of frequency on the way here */
	double jump;	/* the same of phase, beyond the white noise */
	struct natural site; /* all messages together */
	double state[STATES];
	double variance; /* of the phase */
	struct increment_score score[STATES];
	double quiet; /* probability that the increment of frequency is of no scale */
	uint32_t old; /* of the grid before: the knot that it is, or a part of */
	bool is_new;  /* it is a part */
};

/* Prior of the state at the first knot. */
struct first_state {
	double mean[STATES];
	double deviation[STATES];
};

struct chain {
	struct knot *knot;
	size_t num; /* 0: of a reference whose own clock is the common one */
	double intensity[STATES]; /* of the increments' variances, for each second */
	struct scale_mixture bends;
	struct scale_mixture jumps;
	struct first_state first;
	/* Standard deviations of a state that nothing is known of. */
	double unknown[STATES];
	double range;	/* of its phase, at first, ns */
	double changed; /* by the last round: the mean logarithm of its variances */
};

/* A message that was kept, in place of @share of its bin. */
struct kept_message {
	double t[2]; /* of the pair's hosts */
	double y;    /* received - sent, ns */
	double share;
	uint32_t knot[2];
};

/* The ends that a factor sends messages to. */
enum { TO_SENDER, TO_RECEIVER, TO_LINK, FACTOR_ENDS };

/* Messages of one direction of a link in one cell of either host. */
struct factor {
	uint32_t knot[2]; /* of the pair's hosts */
	uint32_t from, to; /* kept messages of the direction */
	struct lowest lowest;
	struct natural site[FACTOR_ENDS];
};

struct link_direction {
	struct kept_message *message;
	size_t num;
	struct factor *factor;
	size_t num_factors;
	struct delay_law law;
};

struct infer_link {
	const struct pair *pair;
	size_t host[2];
	struct link_direction direction[2];
	struct natural first; /* prior of the minimum delay */
	struct moments delay; /* posterior */
	double moved;	      /* its sites, in standard deviations: sum of squares */
	size_t factors;
	double resolution;    /* ns */
};

struct inference {
	const struct infer_task *task;
	struct chain *chain; /* by host */
	struct infer_link *link;
	size_t num_links;
	int64_t origin; /* the common time of t = 0, ns */
	double span;	/* s */
	double damping;
	bool alone;    /* factors look at their own messages only */
	bool learn;    /* delays are learned */
	double moved;  /* sites by the last round, in standard deviations */
};

/* Time on a host -> seconds; and back, to ns since the correction's start. */
double infer_seconds(const struct inference *n, const struct correction *c, int64_t t);

/*
 * Set the straight corrections of all hosts, where messages tell, and what is known of phases
 * beyond. 0 or -ENOMEM.
 */
int infer_start(struct inference *n);

/* Fill in the links' kept messages. 0 or -ENOMEM; infer_release_links() in any case. */
int infer_observe(struct inference *n);
void infer_release_links(struct inference *n);

/* Make the first grid, and the factors. 0 or -ENOMEM. */
int grid_begin(struct inference *n);

/* Halve cells beside increments that these blur. *num: how many. 0 or -ENOMEM. */
int grid_refine(struct inference *n, size_t *num);

/* By cells, as factors of a direction are sorted. */
int factor_compare(const void *a, const void *b);

/* Take the lowest messages of all factors, moved to the knots along the clocks. */
int grid_move_messages(struct inference *n);
void grid_release(struct inference *n);

/* New messages of a factor: its cavity is all that the marginals of its ends say. */
void factor_begin(const struct inference *n, const struct infer_link *l, int way,
		  struct factor *f);

/* A round: all factors, then the sums at knots and links. 0 or -ENOMEM. */
int propagate(struct inference *n);

/* ---- factors, as an end sees them ---- */

/* Two sites together. */
void natural_add(struct natural *to, struct natural n);

/* The site of z that messages make of its cavity; @learn: they also teach the law. */
struct natural factor_tilt(const struct lowest *l, struct delay_law *d, struct moments z,
			   bool learn);

/* A site of z = sign * x + (@others) becomes one of x. */
struct natural factor_site(struct natural z, double sign, struct moments others);

/* What the cavities of its two other ends say of z, with the sign of this end in *sign. */
struct moments factor_others(const struct inference *n, const struct infer_link *l, int way,
			     const struct factor *f, int to, double *sign);

/* Steps of all clocks that the evidence asks for, and none other. 0 or -ENOMEM. */
int move_jumps(struct inference *n);

/* The filter at a knot. */
struct filtered {
	double mean[STATES];
	double cov[STATES][STATES];
	/* For the site: predicted covariance with the phase, weighted error, and its weight. */
	double gain[STATES];
	double error;
	double weight;
	double kept; /* what the site leaves of the predicted phase: 1 - weight * variance */
};

void filter_begin(struct filtered *f, const struct first_state *s);

/* From the knot before to a knot. */
void filter_predict(struct filtered *f, const struct chain *c, const struct knot *k);
void filter_update(struct filtered *f, struct natural site);

/* Marginals of a chain. 0 or -ENOMEM. */
int smooth_chain(struct chain *c);

/* The noise of a chain. */
void learn_noise(struct chain *c);

/* The variance of the increment of phase on the way to a knot, without a jump. */
double white_noise(const struct chain *c, const struct knot *k);

/* Variances of the increments on the way to a knot; *smooth: probability of no jump. */
void learn_increments(struct chain *c, struct knot *k, double *smooth);

/* Replace a host's correction by the posterior mean. 0 or -ENOMEM. */
int posterior_to_correction(const struct inference *n, size_t host);

#endif
