// SPDX-License-Identifier: LGPL-2.1-or-later
#include <math.h>

#include "curve/delays.h"
#include "curve/state.h"

/*
 * Lower limit of the part of the residual degrees of freedom that remains: with still fewer groups,
 * it is unknown. Chosen.
 */
#define LEAST_LEFT 0.25

double host_fit_at(void *host_fit, double t)
{
	struct host_fit *k = host_fit;

	return k->best.coefs ? spline_at(&k->best, t) : initial_fit_at(&k->initial, t);
}

void host_fit_set_residuals(struct host_fit *k, const struct spline *s)
{
	size_t interval = 0;

	if (!s->coefs)
		observations_set_residuals(&k->obs, initial_fit_at, &k->initial);
	for (size_t i = 0; s->coefs && i < k->obs.num; i++) {
		struct observation *o = &k->obs.obs[i];
		const struct cubic *p;

		interval = spline_interval_near(s, o->t, interval);
		p = &s->cubic[interval];
		o->residual = o->y - cubic_at(p, cubic_place(p, o->t));
	}
}

bool host_fit_strayed(struct host_fit *k, const struct spline *s)
{
	host_fit_set_residuals(k, s);
	return observations_strayed(&k->obs);
}

double host_fit_mean_delay_beyond(const struct host_fit *k, double freedom)
{
	double messages = (double)(k->obs.messages[0] + k->obs.messages[1]);
	double left = 1 - freedom * GROUP_MESSAGES / messages;

	return host_fit_mean_delay(k) / (double)k->obs.links / fmax(left, LEAST_LEFT);
}

size_t host_fit_fewest_bins(const struct host_fit *k)
{
	size_t bins[2] = { 1, 1 };

	for (size_t i = 0; i < 2 * k->obs.links; i++)
		bins[i & 1] += k->obs.direction[i].bins;
	return bins[0] < bins[1] ? bins[0] : bins[1];
}

int host_fit_update_delays(struct host_fit *k)
{
	int ret;

	host_fit_set_residuals(k, &k->best);
	ret = delays_set_means(&k->obs);
	return ret || !k->best.coefs ? ret : delays_find_minima(&k->obs, k->drift);
}

double host_fit_mean_delay(const struct host_fit *k)
{
	double sum = 0;

	for (size_t i = 0; i < 2 * k->obs.links; i++)
		sum += k->obs.direction[i].mean;
	return sum;
}
