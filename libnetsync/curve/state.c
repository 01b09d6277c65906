// SPDX-License-Identifier: LGPL-2.1-or-later
#include "curve/state.h"

double host_fit_at(void *host_fit, double t)
{
	struct host_fit *k = host_fit;

	return k->best.coefs ? spline_at(&k->best, t)
			     : initial_fit_at(&k->initial, t);
}

static double value_at(void *spline, double t)
{
	return spline_at(spline, t);
}

void host_fit_set_residuals(struct host_fit *k, const struct spline *s)
{
	if (s->coefs)
		observations_set_residuals(&k->obs, value_at, (void *)s);
	else
		observations_set_residuals(&k->obs, initial_fit_at,
					   &k->initial);
}

size_t host_fit_fewest_bins(const struct host_fit *k)
{
	size_t bins[2] = { 1, 1 };

	for (size_t i = 0; i < 2 * k->obs.links; i++)
		bins[i & 1] += k->obs.direction[i].bins;
	return bins[0] < bins[1] ? bins[0] : bins[1];
}
