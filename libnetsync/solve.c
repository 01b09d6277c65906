// SPDX-License-Identifier: LGPL-2.1-or-later
/* netsync_solve() estimates the clocks of the hosts from all input, with the given options. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "handle.h"
#include "pair/estimate.h"
#include "reduce/pair-info.h"
#include "reduce/span.h"
#include "steer/result.h"
#include "util/parallel.h"

/* Minimum size of struct netsync_options. Older callers do not have later options. */
#define MIN_OPTIONS_SIZE offsetof(struct netsync_options, max_drift_ppm_s)

/* Default limit. struct netsync_options documents the reason for its value. */
#define DEFAULT_MAX_SKEW_PPM 500.0
/*
 * Slew rate of adjtime(3) (MAX_TICKADJ in Linux), in ppm. The slew rate adds to the rate of the
 * clock. This rate is assumed for clocks that may be steered, unless the caller gives a maximum
 * skew.
 */
#define SLEW_PPM 500.0
#define DEFAULT_MAX_DRIFT_PPM_S 0.1

struct pair_work {
	const struct task *task;
	struct pair *const *pair;
	struct estimate *est;
};

static int estimate_pair(void *arg, size_t i)
{
	const struct pair_work *w = arg;

	w->task->method->estimate(&w->est[i], w->pair[i], w->task->limits.slope);
	return 0;
}

/* Estimate the clocks from raw times, for which clocks are not steered. */
static int solve_raw_times(struct netsync *ns, struct task *task)
{
	uint32_t n = (uint32_t)ns->pairs.num;
	struct estimate *est = calloc(n + 1, sizeof(*est));
	int ret = -ENOMEM;

	ns->pair_info = calloc(n + 1, sizeof(*ns->pair_info));
	if (est && ns->pair_info) {
		struct pair_work work = { task, ns->pairs.pair, est };

		parallel_run(task->parallel, task->threads, n, estimate_pair, &work);
		ret = spans_set(ns->host, (uint32_t)ns->num_hosts, ns->pairs.pair, n,
				task->limits.slope);
	}
	if (!ret)
		ret = reduce(ns->host, (uint32_t)ns->num_hosts, est, n, task);
	if (!ret) {
		for (uint32_t i = 0; i < n; i++)
			pair_info_fill(&ns->pair_info[i], &est[i], ns->host, &ns->matcher.peers);
		for (size_t i = 0; i < ns->num_hosts; i++)
			peers_summarize(&ns->matcher.peers, (uint32_t)i, ns->host[i].stack);
		ns->num_pair_info = n;
		ns->reference = task->reference;
		ns->solved = true;
	}
	free(est);
	return ret;
}

static int solve_pairs(struct netsync *ns, struct task *task)
{
	const struct steered_hosts hosts = handle_get_steered_hosts(ns);
	struct traced *traced = NULL;
	int ret;

	if (!ns->steered)
		return solve_raw_times(ns, task);
	ret = steered_convert_spans(ns->host, &hosts, &traced);
	if (!ret)
		ret = solve_raw_times(ns, task);
	if (traced)
		steered_restore_spans(ns->host, hosts.num, traced);
	if (!ret)
		ret = steered_convert_results(ns->host, &hosts, &ns->held, ns->reference);
	free(traced);
	return ret;
}

/*
 * Maximum length of the list of host names in a message. Chosen to fit on a screen and into
 * ns->error.
 */
#define MAX_NAMES_SIZE 256

/* Report that the reference is not a known host. The message lists all hosts, or as many as fit. */
static int fail_for_unknown_reference(struct netsync *ns, const char *reference)
{
	char names[MAX_NAMES_SIZE] = "";
	size_t len = 0, i = 0;

	for (; i < ns->num_hosts; i++) {
		const int more = snprintf(names + len, sizeof(names) - len, "%s%s", i ? ", " : "",
					  ns->host[i].name);

		if (more < 0 || (size_t)more >= sizeof(names) - len)
			break;
		len += (size_t)more;
	}
	names[len] = '\0';
	if (!ns->num_hosts)
		return handle_fail(ns, -ENOENT, "unknown host %s", reference);
	if (i == ns->num_hosts)
		return handle_fail(ns, -ENOENT, "unknown host %s; the hosts are %s", reference,
				   names);
	return handle_fail(ns, -ENOENT, "unknown host %s; the hosts are %s, and %zu more",
			   reference, names, ns->num_hosts - i);
}

static int check_options(struct netsync *ns, const struct netsync_options *opt, struct task *task)
{
	double skew = opt->max_skew_ppm ? opt->max_skew_ppm : DEFAULT_MAX_SKEW_PPM;
	double drift = opt->max_drift_ppm_s ? opt->max_drift_ppm_s : DEFAULT_MAX_DRIFT_PPM_S;

	task->method = method_find(opt->method);
	if (!task->method)
		return handle_fail(ns, -EINVAL, "unknown method number %u", opt->method);
	if (!(skew > 0 && skew < 1e6))
		return handle_fail(ns, -EINVAL,
				   "the maximum skew must be between 0 and 1000000 ppm, not %g",
				   skew);
	if (!(drift > 0 && drift < 1e6))
		return handle_fail(ns, -EINVAL,
				   "the maximum drift must be between 0 and 1000000 ppm/s, not %g",
				   drift);
	if (opt->resolution_ns < 0 || opt->resolution_ns > NETSYNC_MAX_RESOLUTION)
		return handle_fail(ns, -EINVAL,
				   "the time resolution must be between 0 and %lld ns, not %lld",
				   (long long)NETSYNC_MAX_RESOLUTION,
				   (long long)opt->resolution_ns);
	/*
	 * If the caller gives a maximum drift, the caller thereby declares that the clocks are not
	 * steered.
	 */
	task->left_alone = opt->max_drift_ppm_s != 0;
	/*
	 * The drift is converted from ppm per second, which is 1e-6 per 1e9 ns. If the limit
	 * were below the drift of oscillators, the curvature of a clock would be mistaken for
	 * change points, and a bound would be reported although its assumption does not hold.
	 */
	task->drift = fmax(drift, DEFAULT_MAX_DRIFT_PPM_S) * 1e-6 / 1e9;
	drift = task->method->straight ? 0 : drift * 1e-15;
	/*
	 * Clock readings reveal that clocks are steered. Readings do not reveal how far clocks move
	 * in untrusted intervals between readings.
	 */
	task->limits = limits_of_clocks(skew * 1e-6, drift,
					opt->max_skew_ppm && !ns->steered ? 0 : SLEW_PPM * 1e-6);
	task->parallel = &ns->parallel;
	task->threads = opt->threads;
	task->reference = NO_HOST;
	if (!opt->reference)
		return 0;
	task->reference = handle_find_host(ns, opt->reference);
	return task->reference == NO_HOST ? fail_for_unknown_reference(ns, opt->reference) : 0;
}

/*
 * Settle all pairs. The resolution of a host is that of its timestamps so far, or @least, which the
 * caller has given, if it is larger.
 */
static int settle_pairs(struct netsync *ns, double slope, int64_t least)
{
	int64_t *resolution = calloc(ns->num_hosts, sizeof(*resolution));

	if (!resolution)
		return -ENOMEM;
	for (uint32_t i = 0; i < ns->num_hosts; i++)
		handle_gather_parts(ns, i);
	for (size_t i = 0; i < ns->num_hosts; i++) {
		struct host *h = &ns->host[i];

		h->resolution_ns = max64(resolution_compute(&h->resolution, h->origin), least);
		resolution[i] = h->resolution_ns;
	}
	pairs_raise(&ns->pairs, resolution, slope);
	free(resolution);
	return pairs_settle(&ns->pairs);
}

int netsync_solve(struct netsync *ns, const struct netsync_options *opt)
{
	struct netsync_options known = { .size = sizeof(known) };
	struct task task;
	int ret;

	handle_forget_error(ns);
	handle_drop_results(ns);
	if (opt && opt->size < MIN_OPTIONS_SIZE)
		return handle_fail(ns, -EINVAL, "options of %u bytes are too short", opt->size);
	if (opt)
		memcpy(&known, opt, opt->size < sizeof(known) ? opt->size : sizeof(known));
	ret = check_options(ns, &known, &task);
	if (ret)
		return ret;
	if (!ns->num_hosts)
		return handle_fail(ns, -ENOENT, "no hosts");
	ret = matcher_settle(&ns->matcher);
	if (!ret)
		ret = handle_sort_early_messages(ns, true);
	if (!ret && ns->steered) {
		const struct steered_hosts hosts = handle_get_steered_hosts(ns);

		ret = held_pass_final(&ns->held, &ns->pairs, &hosts);
	}
	if (!ret)
		ret = settle_pairs(ns, task.limits.slope, known.resolution_ns);
	if (!ret)
		ret = solve_pairs(ns, &task);
	if (ret) {
		handle_drop_results(ns);
		if (ret == -ENOMEM || ret == -EOWNERDEAD)
			return handle_fail_to_match(ns, ret);
		return handle_fail(
			ns, ret,
			"cannot estimate the clocks (%s); this is a bug in libnetsync, please report it",
			strerror(-ret));
	}
	return 0;
}
