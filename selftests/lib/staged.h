/* SPDX-License-Identifier: GPL-2.0-only */
/* The state of a host's fit just before one of its stages. */
#ifndef SELFTESTS_STAGED_H
#define SELFTESTS_STAGED_H

#include "curve/delays.h"
#include "curve/state.h"
#include "sample.h"

/* Error of the correction (see sample.h), ns. */
#define MISSING 250e3

/* A function for the true offset of a clock at time t, minus MISSING. Both are in ns. */
typedef double (*truth_fn)(double t);

/* A curve_fn that returns the truth, as the result of an initial fit. */
static inline double staged_compute_truth(void *truth, double t)
{
	return MISSING + (*(truth_fn *)truth)(t);
}

static inline void staged_init(struct host_fit *k, struct sample *s, truth_fn truth)
{
	sample_gather(s);
	for (size_t i = 0; i < s->p.num; i++)
		s->p.obs[i].y += truth(s->p.obs[i].t);
	*k = (struct host_fit){
		.correction = &s->c,
		.obs = s->p,
		.drift = 1e-16,
		.margin = calloc(1, sizeof(double)),
	};
	observations_set_residuals(&k->obs, staged_compute_truth, &truth);
	assert_int_equal(delays_set_means(&k->obs), 0);
}

/* Return the largest error of the best curve. Ignore 2 s before and after @not. */
static inline double staged_find_worst_error(const struct host_fit *k, truth_fn truth, double not )
{
	double most = 0;

	for (double t = 1e9; t < (SECONDS - 1) * 1e9; t += 1e9)
		if (fabs(t - not ) > 2e9)
			most = fmax(most, fabs(spline_at(&k->best, t) - MISSING - truth(t)));
	return most;
}

static inline void staged_end(struct host_fit *k, struct sample *s)
{
	spline_free(&k->best);
	free(k->margin);
	s->p = k->obs;
	correction_release(&s->c);
	sample_release(s);
}

#endif
