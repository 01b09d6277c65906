/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Declarations that the files of inference share:
 *
 *	infer.c		the rounds, and when they end
 *	tree.c		first curves of many clocks, along the tree
 *	start.c		the first line of a clock
 *	observe.c	the kept messages, by links
 *	grid.c		knots of clocks, factors of messages, and finer ones
 *	propagate.c	expectation propagation: factors to hosts and links
 *	smoother.c	one host: its knots to their marginals
 *	learn.c		the noise of one host
 *	window.c	some knots of a host, and the evidence of hypotheses on them
 *	jumps.c		steps of a host where the evidence supports them
 *	posterior.c	the marginals -> a correction
 *
 * Times are seconds since the start of the reference's span, by the host's straight
 * correction; phases are relative to that correction, in ns.
 */
#ifndef NETSYNC_INFER_INTERNAL_H
#define NETSYNC_INFER_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "infer/infer.h"
#include "model/model.h"

/* A normal by its precision and its precision times mean, which add up. */
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
	double from;   /* the first message of its cell; the cell ends where the next begins */
	double to;     /* the last message of its cell */
	double length; /* from the previous knot */
	double bend;   /* variance of the frequency increment from the previous knot */
	double jump;   /* variance of the phase increment, beyond the white noise */
	struct natural site; /* all messages together */
	/* The same, with the sites of factors that the host receives counted negative. */
	struct natural opposed;
	double state[STATES];
	double variance; /* of the phase */
	double response; /* of the phase to the joint delay: d phase / d delay */
	struct increment_score score[STATES];
	double quiet; /* probability that the increment of frequency is of no scale */
	uint32_t old; /* the knot of the previous grid that it is, or is a part of */
	bool is_new;  /* it is a part of the old knot's cell */
};

/* Prior of the state at the first knot. */
struct first_state {
	double mean[STATES];
	double deviation[STATES];
};

struct chain {
	struct knot *knot;
	size_t num;		  /* 0: a reference whose own clock is the common time */
	double intensity[STATES]; /* of the increments' variances, per second */
	struct scale_mixture bends;
	struct scale_mixture jumps;
	struct first_state first;
	/*
	 * The minimum delay of the chain's only link if it is estimated together with the clock;
	 * NULL: separately. One direction alone determines only a sum of phase and delay.
	 */
	struct moments *delay;
	struct natural delay_prior;
	/* Standard deviations of an unknown state. */
	double unknown[STATES];
	double range;	/* initial range of its phase, ns */
	double changed; /* change by the last round: the mean logarithm of its variances */
};

/* A kept message, which stands for @share messages of its bin. */
struct kept_message {
	double t[2]; /* on the pair's hosts */
	double y;    /* received - sent, ns */
	double share;
	uint32_t knot[2];
};

/* The ends to which a factor sends messages. */
enum { TO_SENDER, TO_RECEIVER, TO_LINK, FACTOR_ENDS };

/* Messages of one direction of a link that share a cell on both hosts. */
struct factor {
	uint32_t knot[2];  /* on the pair's hosts */
	uint32_t from, to; /* range of kept messages of the direction */
	struct lowest lowest;
	struct natural site[FACTOR_ENDS];
	struct natural target; /* joint delay: the site of z of the current round */
	bool is_flat;	       /* the target needs no damping */
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
	double moved;	      /* squared moves of its sites, in standard deviations: sum */
	size_t factors;
	double resolution; /* ns */
};

/* The frequency of a clock relative to its line, before inference. */
struct start_slope {
	double until; /* s */
	double frequency;
};

struct inference {
	const struct infer_task *task;
	struct correction *first;  /* by host: its curve relative to its parent; NULL: two hosts */
	struct start_slope *slope; /* with two hosts, in ascending order of time */
	size_t num_slopes;
	struct chain *chain; /* by host */
	struct infer_link *link;
	size_t num_links;
	int64_t origin; /* the common time of t = 0, ns */
	double span;	/* s */
	double damping;
	bool alone;   /* factors use only their own messages */
	bool learn;   /* delays are learned */
	double moved; /* moves of sites in the last round, in standard deviations */
};

/* Convert a time on a host to seconds; and back, to ns since the correction's start. */
double infer_convert_to_seconds(const struct inference *n, const struct correction *c, int64_t t);

/* Seconds -> ns of the host since the correction's start. */
double infer_convert_to_own_time(const struct inference *n, const struct correction *c, double t);

/*
 * Infer the curve of each host relative to its parent: n->first. The corrections become
 * straight. Return 0 or -ENOMEM; tree_curves_release() in any case.
 */
int tree_curves_infer(struct inference *n);
void tree_curves_release(struct inference *n);

/*
 * Return the time of the next step of a host's first curve after a time, or HUGE_VAL if there
 * is none.
 */
double tree_curves_find_next_step(const struct inference *n, size_t host, double t);

/* Let chains begin with these curves: phases, frequencies and ranges; then increments. */
void tree_curves_set_states(struct inference *n);
void tree_curves_set_increments(struct inference *n);

/* Make the first sites of all factors from the states of chains. Return 0 or -ENOMEM. */
int propagate_first_messages(struct inference *n);

/*
 * Set the straight corrections of two hosts, where messages determine them, and the
 * knowledge of the phases relative to them: 0 or -ENOMEM. The caller frees n->slope.
 */
int infer_start_clocks(struct inference *n);

/* Let the only chain begin with the slopes that infer_start_clocks() found. */
void start_set_frequencies(const struct inference *n, struct chain *c);

/* Fill in the links' kept messages: 0 or -ENOMEM. Call infer_release_links() in any case. */
int infer_gather_messages(struct inference *n);
void infer_release_links(struct inference *n);

/* Make the first grid, and the factors. Return 0 or -ENOMEM. */
int grid_begin(struct inference *n);

/*
 * Halve cells next to increments that they blur, and set *num to the number of halved cells.
 * Return 0 or -ENOMEM.
 */
int grid_refine(struct inference *n, size_t *num);

/* Compare by cells: the order of a direction's factors. */
int factor_compare(const void *a, const void *b);

/* Find the lowest messages of all factors, moved to the knots along the clocks. */
int grid_recompute_delays(struct inference *n);
void grid_release(struct inference *n);

/* Set new messages of a factor; its cavity is the full marginals of its ends. */
void factor_begin(const struct inference *n, const struct infer_link *l, int way, struct factor *f);

/* Run a round: all factors, then the sums at knots and links. Return 0 or -ENOMEM. */
int propagate_messages(struct inference *n);

/* ---- factors, as an end sees them ---- */

/* Add two sites. */
void natural_add(struct natural *to, struct natural n);

/* Add a message to the phase at a knot; @sign is the sign of the phase in z. */
void knot_add_site(struct knot *k, struct natural site, double sign);

/*
 * Return the site of z that messages give for the cavity @z. With @learn, also learn the law
 * from them.
 */
struct natural factor_tilt(const struct lowest *l, struct delay_law *d, struct moments z,
			   bool learn);

/* Convert a site of z = sign * x + (@others) to a site of x. */
struct natural factor_get_end_site(struct natural z, double sign, struct moments others);

/* Return the cavity of z from its two other ends; *sign is the sign of this end in z. */
struct moments factor_others(const struct inference *n, const struct infer_link *l, int way,
			     const struct factor *f, int to, double *sign);

/* Move steps of all clocks to where the evidence supports them: 0 or -ENOMEM. */
int move_jumps(struct inference *n);

/* The filter at a knot. */
struct filtered {
	double mean[STATES];
	double cov[STATES][STATES];
	/* For the site: predicted covariance with the phase, weighted error, and its weight. */
	double gain[STATES];
	double error;
	double weight;
	double kept; /* 1 - weight * variance: share of the predicted phase */
	/* Derivatives of mean and error with respect to the joint delay. */
	double response[STATES];
	double response_error;
};

void filter_begin(struct filtered *f, const struct first_state *s);

/* Predict from the previous knot to @k. */
void filter_predict(struct filtered *f, const struct chain *c, const struct knot *k);
void filter_update(struct filtered *f, struct natural site);

/* Compute the marginals of a chain, and of its joint delay: 0 or -ENOMEM. */
int smooth_chain(struct chain *c);

/* Learn the noise of a chain. */
void learn_noise(struct chain *c);

/* The variance of the phase increment before a knot, without a jump. */
double compute_white_noise(const struct chain *c, const struct knot *k);

/* Learn variances of the increments before a knot; *smooth is the probability of no jump. */
void learn_increments(struct chain *c, struct knot *k, double *smooth);

/* Replace a host's correction by the posterior mean. Return 0 or -ENOMEM. */
int posterior_to_correction(const struct inference *n, size_t host);

#endif
