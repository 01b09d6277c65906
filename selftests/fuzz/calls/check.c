// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

/* Number of instants in a host's span at which a result is checked. Chosen. */
#define INSTANTS 64

static struct netsync_model get_clock_model(const struct netsync_clock *c)
{
	struct netsync_model m = { .size = sizeof(m) };

	if (netsync_clock_model(c, &m))
		play_fail("a clock has no model");
	return m;
}

static struct netsync_host_info get_checked_host_info(const struct netsync *ns, uint32_t h)
{
	struct netsync_host_info info = { .size = sizeof(info) };

	if (netsync_get_host(ns, h, &info))
		play_fail("there is no host %u", h);
	return info;
}

/* ---- bounds ---------------------------------------------------------------- */

static void check_instant(const struct netsync_clock *c, int64_t t)
{
	int64_t at, bound, lo, hi;
	const int ret = netsync_convert(c, t, &at, &bound);

	if (netsync_interval(c, t, &lo, &hi) != ret)
		play_fail("%lld is converted, but has no interval", (long long)t);
	if (ret)
		return;
	if (bound < 0 || lo > hi || at < lo || at > hi)
		play_fail("%lld: %lld with a bound of %lld, from %lld to %lld", (long long)t,
			  (long long)at, (long long)bound, (long long)lo, (long long)hi);
	if (netsync_deviation(c, t) < 0 ||
	    (netsync_deviation(c, t) > bound && netsync_deviation(c, t) != NETSYNC_UNKNOWN))
		play_fail("%lld: a deviation of %lld and a bound of %lld", (long long)t,
			  (long long)netsync_deviation(c, t), (long long)bound);
	if (bound != NETSYNC_UNKNOWN && ((__int128)at - lo > bound || (__int128)hi - at > bound))
		play_fail("%lld: the interval is wider than the bound", (long long)t);
}

static void check_clock(const struct netsync_clock *c, const struct netsync_host_info *info)
{
	static const int64_t extremes[] = { 0, INT64_MIN, INT64_MAX, NETSYNC_MAX_TIME,
					    -NETSYNC_MAX_TIME };
	const struct netsync_model m = get_clock_model(c);
	struct netsync_clock *again = NULL;
	const __int128 span = (__int128)info->last_ns - info->first_ns;

	for (int i = 0; i <= INSTANTS; i++)
		check_instant(c, (int64_t)(info->first_ns + span * i / INSTANTS));
	for (size_t i = 0; i < sizeof(extremes) / sizeof(*extremes); i++)
		check_instant(c, extremes[i]);
	for (uint32_t i = 0; i < m.num_knots; i++)
		check_instant(c, netsync_model_knot(&m, i)->time_ns);
	for (uint32_t i = 0; i < m.num_deviations; i++)
		check_instant(c, netsync_model_deviation(&m, i)->time_ns);
	if (netsync_clock_new(&m, &again))
		play_fail("no clock can be made of the model of one");
	netsync_clock_free(again);
}

static void check_host(const struct netsync *ns, uint32_t h)
{
	const struct netsync_host_info info = get_checked_host_info(ns, h);
	const struct netsync_clock *c = netsync_host_clock(ns, h);

	if (info.quality == NETSYNC_ACCURATE && info.last_ns >= info.first_ns &&
	    info.bound_median_ns == NETSYNC_UNKNOWN)
		play_fail("host %u is accurate, without a bound", h);
	if (info.bound_median_ns > info.bound_max_ns || info.bound_median_ns < 0)
		play_fail("host %u: bounds of %lld and %lld", h, (long long)info.bound_median_ns,
			  (long long)info.bound_max_ns);
	/* The reference host has a clock even if it shares no messages with other hosts. */
	if ((info.quality == NETSYNC_ABSENT && (int)h != netsync_reference(ns)) != !c)
		play_fail("host %u: quality %d, and %s clock", h, (int)info.quality,
			  c ? "a" : "no");
	if (info.silent_ns < 0)
		play_fail("host %u is silent for %lld", h, (long long)info.silent_ns);
	if (c)
		check_clock(c, &info);
}

/*
 * Before the first and after the last segment, a bound grows by the largest possible change
 * of the clock's rate.
 */
static void check_bound_growth(const struct netsync *ns, uint32_t h, double skew_ppm)
{
	const struct netsync_clock *c = netsync_host_clock(ns, h);
	struct netsync_model m;
	uint32_t end[2] = { 0 };

	if (!c || (int)h == netsync_reference(ns))
		return;
	m = get_clock_model(c);
	end[1] = m.num_segments - 1;
	for (int i = 0; i < 2; i++) {
		const double rate = netsync_model_segment(&m, end[i])->rate;

		if (m.growth_ppm[i] < skew_ppm + 0.999 * 1e6 * fabs(rate - 1))
			play_fail("host %u: a bound grows by %g ppm beside a rate of %.9f", h,
				  m.growth_ppm[i], rate);
	}
}

void check_result(const struct script *s, const struct netsync *ns)
{
	for (uint32_t h = 0; netsync_reference(ns) >= 0 && h < netsync_num_hosts(ns); h++) {
		check_host(ns, h);
		/*
		 * The method "hull" uses only messages, from which it determines which clocks are
		 * linear.
		 */
		if (s->options.method != NETSYNC_METHOD_HULL)
			check_bound_growth(ns, h,
					   s->options.max_skew_ppm ? s->options.max_skew_ppm : 500);
	}
}

/* ---- the truth ------------------------------------------------------------- */

/* Is the step of the clock unreported? */
static bool is_setting_unreported(const struct player *p, uint32_t h)
{
	/*
	 * If a step has only a single reading before or after it, this reading is taken for a wrong
	 * one.
	 */
	return p->script->clock[h].set_by && (p->readings[h][0] < 3 || p->readings[h][1] < 3);
}

static const struct true_clock *find_clock_named(const struct script *s, const char *name)
{
	return &s->clock[name[1] - '0'];
}

void check_truth(const struct player *p, const struct netsync *ns)
{
	const int reference = netsync_reference(ns);
	const struct true_clock *ref;

	for (uint32_t h = 0; h < SCRIPT_HOSTS; h++)
		if (is_setting_unreported(p, h))
			return;
	if (p->script->is_wild || reference < 0)
		return;
	ref = find_clock_named(p->script, get_checked_host_info(ns, (uint32_t)reference).name);
	for (uint32_t h = 0; h < netsync_num_hosts(ns); h++) {
		const struct netsync_clock *c = netsync_host_clock(ns, h);
		const struct true_clock *own = find_clock_named(p->script,
								get_checked_host_info(ns, h).name);

		for (int64_t t = 0; c && t < 220 * SEC; t += 700 * MS) {
			int64_t lo, hi, truth = script_compute_shown(ref, t);

			if (netsync_interval(c, script_compute_shown(own, t), &lo, &hi))
				play_fail("a true time is not converted");
			if (truth < lo || truth > hi)
				play_fail("host %u at %lld: %lld is not from %lld to %lld", h,
					  (long long)t, (long long)truth, (long long)lo,
					  (long long)hi);
		}
	}
}

/* ---- equality -------------------------------------------------------------- */

static void check_same_bytes(const void *a, const void *b, size_t size, const char *of,
			     uint32_t number, const char *what)
{
	if (size && memcmp(a, b, size))
		play_fail("%s: other %s %u", what, of, number);
}

static void check_same_clock(const struct netsync_clock *a, const struct netsync_clock *b,
			     uint32_t h, const char *what)
{
	struct netsync_model m, n;

	if (!a || !b) {
		if (a || b)
			play_fail("%s: host %u has no clock", what, h);
		return;
	}
	m = get_clock_model(a);
	n = get_clock_model(b);
	if (m.num_segments != n.num_segments || m.num_knots != n.num_knots)
		play_fail("%s: host %u: %u segments and %u knots, or %u and %u", what, h,
			  m.num_segments, m.num_knots, n.num_segments, n.num_knots);
	check_same_bytes(m.segments, n.segments, m.num_segments * sizeof(*m.segments),
			 "segments of host", h, what);
	check_same_bytes(m.knots, n.knots, m.num_knots * sizeof(*m.knots), "knots of host", h,
			 what);
	check_same_bytes(m.growth_ppm, n.growth_ppm, sizeof(m.growth_ppm), "growth of host", h,
			 what);
}

static void check_same_host(const struct netsync *a, const struct netsync *b, uint32_t h,
			    const char *what)
{
	struct netsync_host_info i = get_checked_host_info(a, h), j = get_checked_host_info(b, h);
	struct netsync_steering s = { .size = sizeof(s) }, t = s;

	if (strcmp(i.name, j.name))
		play_fail("%s: host %u is called %s, or %s", what, h, i.name, j.name);
	i.name = j.name = NULL;
	check_same_bytes(&i, &j, sizeof(i), "host", h, what);
	check_same_clock(netsync_host_clock(a, h), netsync_host_clock(b, h), h, what);
	netsync_get_steering(a, h, &s);
	netsync_get_steering(b, h, &t);
	check_same_bytes(&s, &t, sizeof(s), "steering of host", h, what);
	for (uint32_t k = 0; k < i.num_steps; k++) {
		struct netsync_step u = { .size = sizeof(u) }, v = u;

		netsync_get_step(a, h, k, &u);
		netsync_get_step(b, h, k, &v);
		check_same_bytes(&u, &v, sizeof(u), "step of host", h, what);
	}
	for (int d = 0; d < 2; d++) {
		struct netsync_stack u = { .size = sizeof(u) }, v = u;

		netsync_get_stack(a, h, d, &u);
		netsync_get_stack(b, h, d, &v);
		check_same_bytes(&u, &v, sizeof(u), "stack of host", h, what);
	}
}

void check_same_results(const struct netsync *a, const struct netsync *b, const char *what)
{
	struct netsync_stats s = { .size = sizeof(s) }, t = s;

	if (netsync_num_hosts(a) != netsync_num_hosts(b) ||
	    netsync_num_pairs(a) != netsync_num_pairs(b) ||
	    netsync_reference(a) != netsync_reference(b))
		play_fail("%s: %u hosts, %u pairs, reference %d, or %u, %u, %d", what,
			  netsync_num_hosts(a), netsync_num_pairs(a), netsync_reference(a),
			  netsync_num_hosts(b), netsync_num_pairs(b), netsync_reference(b));
	netsync_get_stats(a, &s);
	netsync_get_stats(b, &t);
	check_same_bytes(&s, &t, sizeof(s), "counts", 0, what);
	for (uint32_t i = 0; i < netsync_num_pairs(a); i++) {
		struct netsync_pair_info u = { .size = sizeof(u) }, v = u;

		netsync_get_pair(a, i, &u);
		netsync_get_pair(b, i, &v);
		check_same_bytes(&u, &v, sizeof(u), "pair", i, what);
	}
	for (uint32_t h = 0; netsync_reference(a) >= 0 && h < netsync_num_hosts(a); h++)
		check_same_host(a, b, h, what);
}
