// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Clocks of more than two hosts that daemons steer. If each were fitted separately, it would follow
 * the errors of the others' curves, which are wrong until they are fitted; the messages of two
 * hosts alone may be too few. So the bends of all hosts are learned together, in rounds of a joint
 * fit with the current variances and an update of the variances.
 *
 * The accuracy of a bend is that of each host's own part of the second derivatives, as if the
 * others' curves were known.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "curve/bend-variance.h"
#include "curve/rate-changes.h"
#include "joint/internal.h"

/*
 * Maximum number of steps with one scale. With steered clocks at most 13 were seen. Curves that
 * take more follow something other than the clocks, without end if constraints are too weak.
 */
#define STEPS 20
/*
 * Precision of the first round, and of all others, which start close to their minimum and do not
 * end far from the start of the next round. Chosen: with a twentieth of these gains, errors are the
 * same.
 */
static const struct effort first_effort = {
	.widest = 16,
	.enough = 1,
	.enough_wide = 1,
	.precision = 0.2,
	.steps = STEPS,
	.required = true,
}, next_effort = {
	.widest = 1,
	.enough = 1,
	.enough_wide = 1,
	.precision = 0.2,
	.steps = STEPS,
	.required = true,
};

/*
 * Largest ratio of new to old mean delays (geometric mean of all hosts that may be steered); if
 * more is left, such flexible curves explain something other than the clocks. Chosen by make
 * bench-truth and bench-worlds: steered clocks leave at most 0.7, mostly 0.1; others at least 0.85,
 * or 0.77 at EARLY.
 */
#define LEFT 0.75
/* Number of rounds before the first check: later curves explain less by chance. Chosen. */
#define EARLY 3

static void bends_release(struct bends *b)
{
	free(b->variance);
	free(b->deviation);
}

int bends_begin(struct bends *b, const struct spline *s)
{
	if (b->variance)
		return 0;
	b->variance = malloc(s->coefs * sizeof(*b->variance));
	if (!b->variance)
		return -ENOMEM;
	bend_variances_begin(b->variance, s);
	return 0;
}

int bends_learn(struct bends *b, const struct spline *s, double (*factor)[BAND])
{
	struct slope_change *change = malloc(s->coefs * sizeof(*change));
	size_t num = s->coefs - 2;
	int ret = change ? 0 : -ENOMEM;

	if (!b->deviation)
		b->deviation = malloc(s->coefs * sizeof(*b->deviation));
	if (!b->deviation)
		ret = -ENOMEM;
	if (!ret)
		ret = uncertainty_of_factor(s, factor, b->deviation, change);
	if (!ret) {
		b->freedom = bend_variances_freedom(b->variance, change, num);
		bend_variances_learn(b->variance, change, num);
	}
	free(change);
	return ret;
}

/* ---- calls for each host ------------------------------------------------ */

struct steered {
	const struct joint_task *task;
	struct bends *bends; /* for each host */
	bool early;	     /* curves are not final, and explain much by chance */
};

static int count_intervals_of_host(void *steered, size_t i)
{
	struct steered *s = steered;
	const struct joint_host *h = &s->task->host[i];

	if (!h->may_be_steered)
		return 0;
	return pair_terms_count_intervals(h->correction, h->link, h->num_links,
					  &s->bends[i].intervals);
}

/* Judge one host's curve. Others are judged at the same time: corrections stay as they are. */
static int judge_curve_of_host(void *steered, size_t i)
{
	struct steered *s = steered;
	const struct joint_host *h = &s->task->host[i];
	struct bends *b = &s->bends[i];

	return b->intervals ? pair_terms_judge(h->correction, h->link, h->num_links,
					       s->early ? 0 : b->freedom, &b->mean_delay,
					       &b->expected_error) :
			      0;
}

static int find_untrusted_intervals(void *steered, size_t i)
{
	struct steered *s = steered;
	const struct joint_host *h = &s->task->host[i];

	if (!s->bends[i].intervals)
		return 0;
	return pair_terms_doubt(h->correction, h->link, h->num_links, s->task->drift,
				s->bends[i].intervals);
}

static int for_each_host(struct steered *s, int (*call)(void *steered, size_t i))
{
	const struct joint_task *t = s->task;

	return parallel_run(t->parallel, t->threads, t->num, call, s);
}

/* ---- all together -------------------------------------------------------- */

/*
 * Do the new curves explain more than the old ones, whose mean delays are stored? Explanation by
 * chance counts only at the end: initially the new curves have many more degrees of freedom.
 */
static int compare_mean_delays(struct steered *s, bool early, bool *explains)
{
	double sum = 0;
	size_t n = 0;
	int ret;

	s->early = early;
	ret = for_each_host(s, judge_curve_of_host);
	for (uint32_t h = 0; h < s->task->num; h++) {
		double now = s->bends[h].mean_delay, before;

		if (!(now > 0))
			continue;
		before = s->task->host[h].correction->mean_delay;
		if (!(before > 0))
			continue;
		sum += log(now / before);
		n++;
	}
	*explains = n && sum <= (double)n * log(LEFT);
	return ret;
}

static int fit_steered_in_rounds(struct steered *s, bool *explains)
{
	int ret = 0;

	*explains = true;
	for (int i = 0; !ret && *explains && i < BEND_VARIANCE_ROUNDS; i++) {
		ret = joint_solve(s->task, s->bends, i ? &next_effort : &first_effort, explains);
		if (!ret && *explains && i + 1 == EARLY)
			ret = compare_mean_delays(s, true, explains);
	}
	if (!ret && *explains)
		ret = compare_mean_delays(s, false, explains);
	return ret;
}

/* Finish the fit: 0 or -ENOMEM. */
static int finish_corrections(struct steered *s)
{
	for (uint32_t h = 0; h < s->task->num; h++) {
		struct correction *c = s->task->host[h].correction;

		if (!s->bends[h].intervals)
			continue;
		c->steered = true;
		c->mean_delay = s->bends[h].mean_delay;
		c->expected_error = s->bends[h].expected_error;
	}
	return for_each_host(s, find_untrusted_intervals);
}

int joint_fit_steered(const struct joint_task *t, bool *explains)
{
	struct steered s = {
		.task = t,
		.bends = calloc(t->num + 1, sizeof(*s.bends)),
	};
	int ret = s.bends ? for_each_host(&s, count_intervals_of_host) : -ENOMEM;

	for (uint32_t h = 0; !ret && h < t->num; h++) {
		struct correction *c = t->host[h].correction;

		if (s.bends[h].intervals)
			c->num_changes = rate_changes_keep_sets(c->change, c->change,
								c->num_changes, false);
	}
	if (!ret)
		ret = fit_steered_in_rounds(&s, explains);
	if (!ret && *explains)
		ret = finish_corrections(&s);
	for (uint32_t h = 0; s.bends && h < t->num; h++)
		bends_release(&s.bends[h]);
	free(s.bends);
	return ret;
}
