/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Declarations that the files of inference share, and what these files contain:
 *
 *	infer.c		the rounds, and the condition for their end
 *	tree.c		the first curves of many clocks, along the tree
 *	start.c		the first line of a clock
 *	observe.c	the kept messages, by links
 *	grid.c		the knots of clocks, the factors of messages, and their refinement
 *	propagate.c	expectation propagation from factors to hosts and links
 *	smoother.c	the marginals of the knots of one host
 *	learn.c		the process noise of one host
 *	window.c	some knots of a host, and the evidence of hypotheses on them
 *	jumps.c		the steps of a host, and the drift, that the evidence supports
 *	posterior.c	the conversion of marginals to a correction
 *
 * Times are in seconds since the start of the reference's span, and are computed by the host's
 * straight correction. Phases are relative to that correction, in ns.
 */
#ifndef NETSYNC_INFER_INTERNAL_H
#define NETSYNC_INFER_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "infer/infer.h"
#include "model/model.h"

/*
 * A normal by its natural parameters, precision and precision times mean, which add up when
 * densities are multiplied.
 */
struct natural {
	double precision;
	double weighted;
};

/* The score of an increment given all messages, and the information on the increment. */
struct increment_score {
	double gradient;
	double information;
};

struct knot {
	double t;
	/* time of the first message of its cell, which ends where the next one begins */
	double from;
	double to;	     /* time of the last message of its cell */
	double length;	     /* time since the previous knot, s */
	double bend;	     /* variance of the frequency increment from the previous knot */
	double jump;	     /* variance of the phase increment in addition to the white noise */
	struct natural site; /* product of the sites of all factors */
	/*
	 * The same product, but sites of factors whose receiver is this host have the opposite
	 * sign.
	 */
	struct natural opposed;
	double state[STATES];
	double variance;	   /* posterior variance of the phase, ns^2 */
	double frequency_variance; /* of the frequency, ppb^2 */
	double response;	   /* derivative of the phase with respect to the joint delay */
	struct increment_score score[STATES];
	double quiet; /* probability that the frequency increment is of no scale */
	uint32_t old; /* index of the knot of the previous grid whose cell contained this cell */
	bool is_new;  /* the old cell was halved */
};

/* Prior of the state at the first knot. */
struct first_state {
	double mean[STATES];
	double deviation[STATES]; /* 0: the component is known */
};

struct chain {
	struct knot *knot;
	size_t num;		  /* 0 for a reference whose own clock is the common time */
	double intensity[STATES]; /* variance of each component's increments, per second */
	struct scale_mixture bends;
	struct scale_mixture jumps;
	struct first_state first;
	/*
	 * The minimum delay of the chain's only link if the delay is estimated together with the
	 * clock, or NULL if it is estimated separately. One direction alone determines only a
	 * sum of phase and delay.
	 */
	struct moments *delay;
	struct natural delay_prior;
	/* Standard deviations of a state about which nothing is known. */
	double unknown[STATES];
	double range;	/* initial range of the phase, ns */
	double changed; /* absolute change of the mean log variance in the last round */
};

/* A kept message, which stands for @share messages of its bin. */
struct kept_message {
	double t[2]; /* times on both hosts of the pair, s */
	double y;    /* time received minus time sent, ns */
	double share;
	uint32_t knot[2];
};

/* The ends to which a factor sends messages. */
enum { TO_SENDER, TO_RECEIVER, TO_LINK, FACTOR_ENDS };

/* Messages of one direction of a link that share a cell on both hosts. */
struct factor {
	uint32_t knot[2];  /* indices on both hosts of the pair */
	uint32_t from, to; /* range [from, to) of the direction's kept messages */
	struct lowest lowest;
	struct natural site[FACTOR_ENDS];
	struct natural target; /* the site of z that this round aims at, for a joint delay */
	bool is_flat;	       /* the cavity is wide, so the target is applied without damping */
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
	struct moments delay; /* posterior of the minimum delay */
	double moved;	      /* sum of squared moves of its sites, in standard deviations */
	size_t factors;
	double resolution; /* resolution of the timestamps, ns */
};

/* The posterior of a link's delays. */
struct link_delays {
	struct moments least; /* minimum delay */
	struct delay_law law[2];
	bool known;
};

/* The frequency of a clock before inference, relative to its straight line. */
struct start_slope {
	double until; /* end of the interval with this frequency, s */
	double frequency;
};

struct inference {
	const struct infer_task *task;
	struct correction *first;   /* by host: curve relative to the parent; NULL for two hosts */
	struct link_delays *delays; /* by host: of the link with its parent; NULL for two hosts */
	struct start_slope *slope;  /* used for two hosts, in ascending order of time */
	size_t num_slopes;
	/*
	 * For two hosts, half of the width of the strip around the straight line that contains no
	 * message, ns; not above 0 if messages contradict the line.
	 */
	double strip;
	struct chain *chain; /* by host */
	struct infer_link *link;
	size_t num_links;
	int64_t origin; /* the reference time at t = 0, ns */
	double span;	/* time covered by the reference, s */
	double damping;
	bool finer;	 /* cells were halved */
	bool has_drifts; /* remove_first_drifts() was not called yet */
	bool alone;	 /* factors use only their own messages */
	bool learn;	 /* delays are learned in this round */
	double moved; /* root mean square move of sites in the last round, in standard deviations */
};

/*
 * Infer clocks as infer_clocks() does. If @delays is not NULL, set it to the delays of the first
 * pair.
 */
int infer_clocks_and_delays(const struct infer_task *t, struct link_delays *delays);

/* Convert a time on a host to seconds since the start of the reference's span. */
double infer_convert_to_seconds(const struct inference *n, const struct correction *c, int64_t t);

/* Convert such a time to ns on the host since the start of the correction. */
double infer_convert_to_own_time(const struct inference *n, const struct correction *c, double t);

/*
 * Infer the curve of each host relative to its parent, and store the curves in n->first. The
 * corrections become straight. Return 0 or -ENOMEM. Call tree_curves_release() in any case.
 */
int tree_curves_infer(struct inference *n);
void tree_curves_release(struct inference *n);

/*
 * Return the time of the next step in a host's first curve after @t, or HUGE_VAL if there is
 * none.
 */
double tree_curves_find_next_step(const struct inference *n, size_t host, double t);

/*
 * Initialize chains from these curves. The first function sets phases, frequencies and ranges,
 * and the second one sets variances of increments.
 */
void tree_curves_set_states(struct inference *n);
void tree_curves_set_increments(struct inference *n);

/* Set the delays of the tree's links to those that were inferred together with the curves. */
void tree_curves_set_delays(struct inference *n);

/* Compute the first sites of all factors from the states of the chains. Return 0 or -ENOMEM. */
int propagate_first_messages(struct inference *n);

/* Sum the sites at knots and links in an order that does not depend on the threads. */
void propagate_sum_sites(struct inference *n);

/*
 * Set the straight corrections of two hosts where messages determine them, and the prior of the
 * phase relative to them. Return 0 or -ENOMEM. The caller frees n->slope.
 */
int infer_start_clocks(struct inference *n);

/* Initialize the frequencies of the only chain with the slopes that infer_start_clocks() found. */
void start_set_frequencies(const struct inference *n, struct chain *c);

/*
 * Collect the kept messages of all links. Return 0 or -ENOMEM. Call infer_release_links() in any
 * case.
 */
int infer_gather_messages(struct inference *n);
void infer_release_links(struct inference *n);

/* Create the first grid and its factors. Return 0 or -ENOMEM. */
int grid_begin(struct inference *n);

/*
 * Halve cells next to increments whose time is not resolved, and set *@num to the number of
 * halved cells. Return 0 or -ENOMEM.
 */
int grid_refine(struct inference *n, size_t *num);

/* Compare two factors by their cells. The factors of a direction are in this order. */
int factor_compare(const void *a, const void *b);

/*
 * Find the lowest messages of all factors, after moving each message to its knots along the
 * clocks.
 */
int grid_recompute_delays(struct inference *n);
void grid_release(struct inference *n);

/* Set the sites of a new factor. Its cavity consists of the full marginals of its ends. */
void factor_begin(const struct inference *n, const struct infer_link *l, int way, struct factor *f);

/* Run a round: update all factors, then sum their sites at knots and links. Return 0 or -ENOMEM. */
int propagate_messages(struct inference *n);

/* ---- a factor from the point of view of one end ---- */

/* Add the natural parameters of a site. */
void natural_add(struct natural *to, struct natural n);

/* Add a site of the phase at a knot. @sign is the sign of the phase in z. */
void knot_add_site(struct knot *k, struct natural site, double sign);

/*
 * Return the site of z that the messages imply for the cavity @z. With @learn, also add to the
 * expected counts of @d.
 */
struct natural factor_tilt(const struct lowest *l, struct delay_law *d, struct moments z,
			   bool learn);

/* Return the same site without learning, and set *@evidence to the factor's log evidence. */
struct natural factor_weigh(const struct lowest *l, const struct delay_law *d, struct moments z,
			    double *evidence);

/* Convert a site of z = sign * x + (@others) to a site of x. */
struct natural factor_get_end_site(struct natural z, double sign, struct moments others);

/*
 * Return the sum of the cavities of the two other ends, as moments of z. *@sign is the sign of
 * this end in z.
 */
struct moments factor_others(const struct inference *n, const struct infer_link *l, int way,
			     const struct factor *f, int to, double *sign);

/* Move steps of all clocks to where the evidence supports them. Return 0 or -ENOMEM. */
int move_jumps(struct inference *n);

/*
 * Concentrate frequency increments that are spread over several intervals, if the messages allow
 * it. Return 0 or -ENOMEM.
 */
int move_bends(struct inference *n);

/* Remove the drift at the first knot of clocks whose messages allow it. Return 0 or -ENOMEM. */
int remove_first_drifts(struct inference *n);

/* The state of the Kalman filter at a knot. */
struct filtered {
	double mean[STATES];
	double cov[STATES][STATES];
	/*
	 * The update by the site: the covariance with the phase before the update, the
	 * weighted innovation, and its weight.
	 */
	double gain[STATES];
	double error;
	double weight;
	double kept; /* 1 - weight * variance: the factor of the predicted phase */
	/* Derivatives of the mean and of the error with respect to the joint delay. */
	double response[STATES];
	double response_error;
};

void filter_begin(struct filtered *f, const struct first_state *s);

/* Predict the state at @k from the state at the previous knot. */
void filter_predict(struct filtered *f, const struct chain *c, const struct knot *k);
void filter_update(struct filtered *f, struct natural site);

/* Compute the marginals of a chain and of its joint delay. Return 0 or -ENOMEM. */
int smooth_chain(struct chain *c);

/* Learn the process noise of a chain. */
void learn_noise(struct chain *c);

/* Return the variance of the phase increment before a knot without a jump. */
double compute_white_noise(const struct chain *c, const struct knot *k);

/*
 * Learn the variances of the increments before a knot. Set *@smooth to the probability of no
 * jump.
 */
void learn_increments(struct chain *c, struct knot *k, double *smooth);

/* Set the curve of a host's correction to the posterior mean. Return 0 or -ENOMEM. */
int posterior_to_correction(const struct inference *n, size_t host);

#endif
