// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Clocks that daemons steer, of more than two hosts. Where each is fitted by itself, it follows
 * what is wrong with the others' curves, which are wrong as long as those are not fitted; the
 * messages of two hosts alone may be too few. So all bends of all hosts are learned at once: in
 * rounds, of a joint fit with the variances of before, and of what it says of these.
 *
 * How well a bend is known is asked of each host's own part of the second derivatives, as if
 * the others' curves were known.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "curve/bend-variance.h"
#include "curve/rate-changes.h"
#include "joint/internal.h"

/*
 * Of the first round, and of all others, which begin near their minimum, and do not end far from
 * where the next one begins. Chosen: with a twentieth of what is enough, errors are the same.
 */
static const struct effort first_effort = {
	.widest = 16,
	.enough = 1,
	.enough_wide = 1,
	.precision = 0.2,
}, next_effort = {
	.widest = 1,
	.enough = 1,
	.enough_wide = 1,
	.precision = 0.2,
};

/*
 * Part of the mean delays of before (the geometric mean of all hosts in question) that is left at
 * most: what a curve this pliant explains else is not the clock's. Chosen, by make bench-truth and
 * bench-worlds: of steered clocks 0.7 at most are left, mostly 0.1; of others 0.85 at
 * least, 0.77 at EARLY.
 */
#define LEFT 0.75
/* Rounds after which that is asked first: later curves explain less by chance. Chosen. */
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

static int begin(void *task, size_t i)
{
	const struct joint_task *t = task;
	const struct joint_host *h = &t->host[i];

	if (!h->may_be_steered)
		return 0;
	return pair_terms_count_intervals(h->correction, h->link, h->num_links,
					  &t->bends[i].intervals);
}

/* Others are judged at the same time: corrections stay as they are. */
static int judge(void *task, size_t i)
{
	const struct joint_task *t = task;
	const struct joint_host *h = &t->host[i];
	struct bends *b = &t->bends[i];

	return b->intervals
		       ? pair_terms_judge(h->correction, h->link, h->num_links,
					  t->early ? 0 : b->freedom,
					  &b->mean_delay, &b->expected_error)
		       : 0;
}

static int doubt(void *task, size_t i)
{
	const struct joint_task *t = task;
	const struct joint_host *h = &t->host[i];

	if (!t->bends[i].intervals)
		return 0;
	return pair_terms_doubt(h->correction, h->link, h->num_links, t->drift,
				t->bends[i].intervals);
}

/* ---- all together -------------------------------------------------------- */

/*
 * Do the new curves explain what those of before, whose mean delays stand there, do not? Chance
 * counts only in the end: at first they have many more degrees of freedom.
 */
static int explain(struct joint_task *t, bool early, bool *explains)
{
	double sum = 0;
	size_t n = 0;
	int ret;

	t->early = early;
	ret = parallel_run(t->parallel, t->threads, t->num, judge, t);
	for (uint32_t h = 0; h < t->num; h++) {
		double now = t->bends[h].mean_delay;
		double before = now > 0 ? t->host[h].correction->mean_delay : 0;

		if (!(before > 0))
			continue;
		sum += log(now / before);
		n++;
	}
	*explains = n && sum <= (double)n * log(LEFT);
	return ret;
}

static int fit_in_rounds(struct joint_task *t, bool *explains)
{
	int ret = 0;

	*explains = true;
	for (int i = 0; !ret && *explains && i < BEND_VARIANCE_ROUNDS; i++) {
		ret = joint_solve(t, i ? &next_effort : &first_effort,
				  explains);
		if (!ret && *explains && i + 1 == EARLY)
			ret = explain(t, true, explains);
	}
	if (!ret && *explains)
		ret = explain(t, false, explains);
	return ret;
}

/* 0 or -ENOMEM. */
static int finish(struct joint_task *t)
{
	for (uint32_t h = 0; h < t->num; h++) {
		struct correction *c = t->host[h].correction;

		if (!t->bends[h].intervals)
			continue;
		c->steered = true;
		c->mean_delay = t->bends[h].mean_delay;
		c->expected_error = t->bends[h].expected_error;
	}
	return parallel_run(t->parallel, t->threads, t->num, doubt, t);
}

int joint_fit_steered(const struct joint_host *host, uint32_t num,
		      size_t intervals, double drift, struct parallel *parallel,
		      uint32_t threads, bool *explains)
{
	struct joint_task t = {
		.host = host,
		.num = num,
		.intervals = intervals,
		.drift = drift,
		.parallel = parallel,
		.threads = threads,
		.bends = calloc(num + 1, sizeof(*t.bends)),
	};
	int ret = t.bends ? 0 : -ENOMEM;

	if (!ret)
		ret = parallel_run(parallel, threads, num, begin, &t);
	for (uint32_t h = 0; !ret && h < num; h++) {
		struct correction *c = host[h].correction;

		if (t.bends[h].intervals)
			c->num_changes = rate_changes_keep_sets(
				c->change, c->change, c->num_changes, false);
	}
	if (!ret)
		ret = fit_in_rounds(&t, explains);
	if (!ret && *explains)
		ret = finish(&t);
	for (uint32_t h = 0; t.bends && h < num; h++)
		bends_release(&t.bends[h]);
	free(t.bends);
	return ret;
}
