/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Functions that the files of the joint fit share:
 *
 *	joint.c		from corrections to an objective, and back
 *	steered.c	the same in rounds, of clocks whose rates change at once
 *	newton.c	its minimum, by Newton's method
 *	objective.c	its value, its derivatives, and products of the second ones
 */
#ifndef NETSYNC_JOINT_INTERNAL_H
#define NETSYNC_JOINT_INTERNAL_H

#include "curve/band.h"
#include "curve/pair-terms.h"
#include "joint/joint.h"

struct member {
	bool in;
	struct bends *bends; /* NULL: the curve of the host is smooth */
	struct pair_terms terms;
	size_t coef;   /* index of its first coefficient among the unknowns */
	size_t margin; /* index of its first margin among the unknowns */
	size_t near;   /* number of its near constraints, which come first */
	double cost;   /* cost of its terms, when last computed */
	double stiff;  /* mean diagonal element of its messages' second derivatives */
	/* For each interval: */
	struct cubic *change;	/* of the curve, by the last unknowns */
	double (*rest)[BAND];	/* second derivatives without near constraints */
	double (*factor)[BAND]; /* factor of the host's part of the second derivatives */
};

/*
 * The pairs of some hosts (each pair's host[0]), which one thread sums. The number of blocks does
 * not depend on the number of threads, because sums depend on the number of blocks. Each block has
 * a copy of all curves, to be cleared and added up, so there are at most this many, and fewer if
 * the coefficients are too many to be worth it. Chosen.
 */
#define BLOCKS 8
#define BLOCK_CONSTRAINTS 16 /* least number of a block's constraints for each coefficient */

struct block {
	uint32_t first; /* first host */
	uint32_t end;
	/* For each interval of all curves: */
	double (*force)[4];  /* derivatives * u^0 .. u^3 */
	double (*moment)[7]; /* second derivatives * u^0 .. u^6 */
};

/*
 * The unknowns are the changes of all coefficients, and the margins. Vectors have an element for
 * each unknown.
 */
struct objective {
	struct member *member; /* indexed by host */
	uint32_t num;
	uint32_t in; /* number of members that take part */
	size_t coefs;
	size_t unknowns;
	size_t constraints;
	struct block block[BLOCKS];
	size_t blocks;	 /* number of blocks */
	double stretch;	 /* factor of all scales */
	double *score;	 /* linear part, which drives curves and margins */
	double *margins; /* diagonal of the second derivatives by margins */
	double *far;	 /* part of @margins due to far constraints */
	/* Threads that work on it; NULL: the caller's thread. */
	struct parallel *parallel;
	uint32_t threads;
};

/* Divide the constraints of all members into blocks, and allocate their sums. 0 or -ENOMEM. */
int objective_divide(struct objective *o);

/* Free the memory that objective_divide() allocated. */
void objective_free_blocks(struct objective *o);

/*
 * Return the objective without the terms that do not depend on the unknowns. The results of this
 * and the following functions are identical to the last bit with any number of threads.
 */
double objective_at(struct objective *o, const double *x);

/*
 * Return the distance of a host's messages from the curves evaluated last, summed over all
 * constraints and independent of the margins, ns.
 */
double objective_slacks(const struct objective *o, uint32_t host);

/*
 * Compute the gradient, and second derivatives for the following functions, at the unknowns of the
 * last evaluation.
 */
void objective_differentiate(struct objective *o, const double *x, double *gradient);

/* Multiply the second derivatives by a vector. */
void objective_product(struct objective *o, const double *x, double *product);

/*
 * Multiply an approximate inverse of the second derivatives by a vector: each host's curve is
 * treated separately.
 */
void objective_precondition(struct objective *o, const double *x, double *product);

/* The precision of a minimum. */
struct effort {
	/*
	 * Initial factor of all scales: from distant curves, wide scales lead close to the minimum
	 * in fewer steps than the final ones.
	 */
	double widest;
	/*
	 * Stop with a scale when a step gains less than this for each host, in log likelihood; the
	 * second value is for wide scales, which only lead the way.
	 */
	double enough;
	double enough_wide;
	double precision; /* part of the gradient that a step may leave */
	int steps;	  /* maximum number of steps with one scale */
	bool required;	  /* there is no minimum if these steps do not find that of a scale */
};

/* Move *x from 0 to the minimum. *found: the minimum exists, as far as required. 0 or -ENOMEM. */
int newton_minimize(struct objective *o, double *x, const struct effort *effort, bool *found);

/* The curve of a host whose rate may change at any instant, learned in rounds. */
struct bends {
	size_t intervals;  /* intervals of the curve; 0: smooth */
	double *variance;  /* variance of each bend; NULL before the first round */
	double *deviation; /* deviation in each interval, ns; NULL before the first round */
	double freedom;	   /* effective degrees of freedom */
	/* Residual delays and errors, see pair_terms_judge(), ns: */
	double mean_delay;
	double expected_error;
};

/*
 * Start the first round: allocate memory, and set the initial prior of the bends of a curve. 0 or
 * -ENOMEM; free it in any case.
 */
int bends_begin(struct bends *b, const struct spline *s);

/* Update the prior of the bends for the next round. @factor: see struct member. 0 or -ENOMEM. */
int bends_learn(struct bends *b, const struct spline *s, double (*factor)[BAND]);

/*
 * Fit all curves once. @bends: for each host, the bends to learn; NULL: all curves are smooth.
 * *sound: the curves have not diverged; if they have, none is changed. 0 or -ENOMEM.
 */
int joint_solve(const struct joint_task *t, struct bends *bends, const struct effort *effort,
		bool *sound);

#endif
