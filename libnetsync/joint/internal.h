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
	struct bends *bends; /* NULL: its curve is smooth */
	struct pair_terms terms;
	size_t coef;   /* its first coefficient among the unknowns */
	size_t margin; /* its first margin among them */
	size_t near;   /* of its constraints, how many come first that matter */
	double cost;   /* of its terms, where it was computed last */
	double stiff;  /* mean diagonal element of its messages' second derivatives */
	/* Of each interval: */
	struct cubic *change;	/* of the curve, by the unknowns that were given last */
	double (*rest)[BAND];	/* second derivatives but for near constraints */
	double (*factor)[BAND]; /* of the host's part of the second derivatives */
};

/*
 * The pairs of some hosts (of which each is host[0]), which are summed up by one thread. How many
 * blocks there are does not depend on the number of threads, lest sums do: at most so many, as
 * each has a place for all curves, to be cleared and added up; fewer with so many coefficients
 * that it is not worth it. Chosen.
 */
#define BLOCKS 8
#define BLOCK_CONSTRAINTS 16 /* of each at least, for each coefficient */

struct block {
	uint32_t first; /* host */
	uint32_t end;
	/* Of each interval of all curves: */
	double (*force)[4];  /* derivatives * u^0 .. u^3 */
	double (*moment)[7]; /* second ones * u^0 .. u^6 */
};

/*
 * The unknowns are the changes of all coefficients, and the margins. Vectors have an
 * element for each of them.
 */
struct objective {
	struct member *member; /* by host */
	uint32_t num;
	uint32_t in; /* members that take part */
	size_t coefs;
	size_t unknowns;
	size_t constraints;
	struct block block[BLOCKS];
	size_t blocks;	 /* that there are */
	double stretch;	 /* of all scales */
	double *score;	 /* the linear part: what drives curves and margins */
	double *margins; /* diagonal of the second derivatives by margins */
	double *far;	 /* of these, what far constraints make */
	/* Threads that work on it; NULL: the caller's. */
	struct parallel *parallel;
	uint32_t threads;
};

/* Share out the constraints of all members among blocks, with room for sums. 0 or -ENOMEM. */
int objective_divide(struct objective *o);

/* Free what that made. */
void objective_free_blocks(struct objective *o);

/*
 * The objective, but for what does not depend on the unknowns. This and what follows are the same
 * to the last bit by any number of threads.
 */
double objective_at(struct objective *o, const double *x);

/*
 * By the same curves: how far a host's messages are from them, in the sum of all constraints,
 * whatever the margins are, ns.
 */
double objective_slacks(const struct objective *o, uint32_t host);

/* The gradient, and second derivatives for what follows, where it was computed last. */
void objective_differentiate(struct objective *o, const double *x, double *gradient);

/* Second derivatives times a vector. */
void objective_product(struct objective *o, const double *x, double *product);

/* An approximate inverse of them times a vector: each host's curve by itself. */
void objective_precondition(struct objective *o, const double *x, double *product);

/* How far a minimum is sought. */
struct effort {
	/*
	 * Scales are stretched by so much at first: wide ones lead from curves that are far off
	 * to near the minimum in fewer steps than those that are wanted.
	 */
	double widest;
	/*
	 * The last step with a scale is one that gains less than this for each host, in log
	 * likelihood; with a wide one, which only leads there.
	 */
	double enough;
	double enough_wide;
	double precision; /* of a step: the part of the gradient that may be left */
	int steps;	  /* with one scale, at most */
	bool required;	  /* where these do not find the minimum of a scale, there is none */
};

/*
 * Move from 0 to the minimum, *x. *found: there is one, as far as was required. 0 or
 * -ENOMEM.
 */
int newton_minimize(struct objective *o, double *x, const struct effort *effort, bool *found);

/* The curve of a host whose rate may change at once, as it is learned in rounds. */
struct bends {
	size_t intervals;  /* of the curve; 0: it is smooth */
	double *variance;  /* of each bend; NULL before the first round */
	double *deviation; /* of the curve in each interval, ns; the same */
	double freedom;	   /* effective degrees of freedom */
	/* What the curve leaves, see pair_terms_judge(), ns: */
	double mean_delay;
	double expected_error;
};

/*
 * Of the first round: room, and what is assumed of the bends of a curve. 0 or -ENOMEM; free it
 * in any case.
 */
int bends_begin(struct bends *b, const struct spline *s);

/* Of each: what is assumed in the next one. @factor: see struct member. 0 or -ENOMEM. */
int bends_learn(struct bends *b, const struct spline *s, double (*factor)[BAND]);

/*
 * Fit all curves once. @bends: of each host, which are learned; NULL: all curves are smooth.
 * *sound: they have not diverged; if they have, none is taken. 0 or -ENOMEM.
 */
int joint_solve(const struct joint_task *t, struct bends *bends, const struct effort *effort,
		bool *sound);

#endif
