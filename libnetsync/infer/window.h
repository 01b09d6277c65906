/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A window consists of some knots of one clock with their factors. The other ends of the factors
 * are fixed. Hypotheses about what happened in the window are compared by their evidence.
 */
#ifndef NETSYNC_INFER_WINDOW_H
#define NETSYNC_INFER_WINDOW_H

#include "infer/internal.h"

/* The position of a factor that has a clock at one of its ends. */
struct factor_place {
	uint32_t link;
	uint32_t factor;
	uint8_t way;
	uint8_t end;
};

/*
 * The factors of all knots of a clock. The factors of knot i are place[first[i]] up to
 * place[first[i + 1] - 1].
 */
struct factor_index {
	struct factor_place *place;
	uint32_t *first;
};

/* A factor from the point of view of this clock. */
struct window_factor {
	const struct lowest *lowest;
	struct delay_law *law;
	struct moments others; /* moments of z according to the other ends */
	double sign;	       /* sign of this clock's phase in z */
	uint32_t knot;
	struct natural site;
};

struct chain_window {
	struct chain chain; /* with copies of the knots */
	struct window_factor *factor;
	size_t num;	   /* number of factors */
	double likelihood; /* log likelihood of the messages */
	double evidence;   /* the same plus the log shares of the increments' variances */
};

/* List the factors of a host. Return 0 or -ENOMEM. Call factor_index_release() in any case. */
int factor_index_make(struct factor_index *x, const struct inference *n, size_t host);
void factor_index_release(struct factor_index *x);

/* Open a window on knots [from, to). Return 0 or -ENOMEM. Call window_close() in any case. */
int window_open(struct chain_window *w, const struct inference *n, size_t host,
		const struct factor_index *x, size_t from, size_t to);

/* Copy a window with its state. Return 0 or -ENOMEM. Call window_close() in any case. */
int window_copy(struct chain_window *to, const struct chain_window *from);
void window_close(struct chain_window *w);

/* Compute the evidence of a window, and the sites of its factors. */
void window_filter(struct chain_window *w);

/*
 * Apply the variances of a window's increments to the clock, whose knots from @from on it
 * represents. With @sites, apply the sites of its factors, too.
 */
void window_apply(const struct chain_window *w, struct inference *n, size_t host,
		  const struct factor_index *x, size_t from, bool sites);

#endif
