// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Fits of all hosts at once: of smooth curves, and of clocks that daemons steer.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "joint/joint.h"
#include "reduce/internal.h"
#include "util/statistics.h"

static void release_joint_task(struct joint_task *t)
{
	for (uint32_t h = 0; t->host && h < t->num; h++)
		free(t->host[h].link);
	free(t->host);
}

/* Make the task of a joint fit: 0 or -ENOMEM; release it in any case. */
static int make_joint_task(struct joint_task *t, struct reduction *r)
{
	int ret;

	*t = (struct joint_task){
		.host = calloc(r->num_hosts + 1, sizeof(*t->host)),
		.num = r->num_hosts,
		.drift = r->task->drift,
		.parallel = r->task->parallel,
		.threads = r->task->threads,
	};
	ret = t->host ? reduction_intervals_of_others(r, r->by_noise.num, &t->intervals) : -ENOMEM;
	for (uint32_t h = 0; !ret && h < r->num_hosts; h++) {
		struct correction *c = &r->correction[h];

		if (!c->known)
			continue;
		t->host[h].correction = c;
		ret = reduction_find_links(r, h, &t->host[h].link, &t->host[h].num_links);
	}
	return ret;
}

/*
 * Give the reference the oscillator of most other hosts. Its own cannot be measured: the curves of
 * all others bend when it does, and its own curve is zero.
 */
static int set_skew_walk_of_reference(struct reduction *r)
{
	double *walk = malloc((r->num_hosts + 1) * sizeof(*walk));
	size_t n = 0;

	if (!walk)
		return -ENOMEM;
	for (uint32_t h = 0; h < r->num_hosts; h++)
		if (h != r->reference && r->correction[h].skew_walk > 0)
			walk[n++] = r->correction[h].skew_walk;
	r->correction[r->reference].skew_walk = n ? statistics_median(walk, n) : 0;
	free(walk);
	return 0;
}

int reduction_fit_jointly(struct reduction *r)
{
	struct joint_task t;
	int ret = make_joint_task(&t, r);

	if (!ret)
		ret = set_skew_walk_of_reference(r);
	if (!ret)
		ret = joint_fit(&t);
	release_joint_task(&t);
	return ret;
}

/* ---- steered clocks ------------------------------------------------------ */

/*
 * Hosts may be steered if their mean delays are longer than those of all others by this factor: a
 * smooth curve does not follow a daemon. Chosen: the factor is 2 to 50 for steered hosts, and 1.1
 * for hosts with untrusted intervals by chance.
 */
#define LONGER 1.4

/*
 * Are the mean delays of hosts that may be steered longer than the others', by their geometric
 * means?
 */
static bool steered_delays_stand_out(const struct joint_task *t)
{
	double sum[2] = { 0, 0 };
	size_t n[2] = { 0, 0 };

	for (uint32_t h = 0; h < t->num; h++) {
		const struct joint_host *j = &t->host[h];

		if (!j->correction || !(j->correction->mean_delay > 0))
			continue;
		sum[j->may_be_steered] += log(j->correction->mean_delay);
		n[j->may_be_steered]++;
	}
	return n[0] && n[1] && sum[1] / (double)n[1] > sum[0] / (double)n[0] + log(LONGER);
}

/*
 * Find the hosts that may be steered: those with untrusted intervals, and the reference if half of
 * all others have some, because its errors appear in all their curves. Return whether a fit is
 * worthwhile.
 */
static bool find_steered_hosts(struct joint_task *t, const struct reduction *r)
{
	struct joint_host *reference = &t->host[r->reference];
	uint32_t num = 0;

	for (uint32_t h = 0; h < t->num; h++) {
		struct joint_host *j = &t->host[h];
		const struct correction *c = &r->correction[h];

		j->may_be_steered = joint_host_takes_part(j) &&
				    (c->num_doubts || c->no_margin || c->steered);
		num += j->may_be_steered;
	}
	if (!num || 2 * (num + 1) < r->by_noise.num)
		return num && steered_delays_stand_out(t);
	reference->may_be_steered = joint_host_takes_part(reference);
	return true;
}

static void release_corrections(struct correction *c, uint32_t num)
{
	for (uint32_t h = 0; c && h < num; h++)
		correction_release(&c[h]);
	free(c);
}

/* Copy @num corrections: 0 or -ENOMEM; *copy: pass it to release_corrections(). */
static int copy_corrections(struct correction **copy, const struct correction *c, uint32_t num)
{
	int ret = 0;

	*copy = calloc(num + 1, sizeof(**copy));
	if (!*copy)
		return -ENOMEM;
	for (uint32_t h = 0; !ret && h < num; h++)
		ret = correction_copy(&(*copy)[h], &c[h]);
	return ret;
}

int reduction_fit_steered(struct reduction *r, bool *explains)
{
	struct correction *before = NULL;
	struct joint_task t;
	int ret = make_joint_task(&t, r);
	bool ask = !ret && find_steered_hosts(&t, r);

	*explains = false;
	if (ask)
		ret = copy_corrections(&before, r->correction, r->num_hosts);
	if (ask && !ret)
		ret = joint_fit_steered(&t, explains);
	release_joint_task(&t);
	if (ask && !ret && !*explains) {
		struct correction *after = r->correction;

		r->correction = before;
		before = after;
	}
	release_corrections(before, r->num_hosts);
	return ret;
}
