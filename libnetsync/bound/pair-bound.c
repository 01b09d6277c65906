// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Which messages are wrong is judged by the corrections, which follow the many:
 * a message that is received before it was sent cannot be right. To leave a
 * right one out makes bounds wider, never false.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/number.h"
#include "bound/drift-limit.h"
#include "bound/hidden-step.h"
#include "bound/left-out.h"
#include "bound/narrow.h"
#include "bound/pair-bound.h"
#include "bound/reach.h"
#include "bound/silent.h"
#include "bound/windows.h"

/*
 * Where more than FEW_LEFT_OUT and one message in so many are left out, besides
 * those in windows, no bound is claimed: there are more that are not seen. Of
 * messages that are up to 200 us off, 1 in 340 and in 90 is, of which 1 and 5 in 100 are wrong (bend-near of
 * bench-truth; of the second, the truth was outside in 0.1 % of the time). And in
 * no case if it is one in MAX_SHARE_OF_FEW. Chosen, between these.
 */
#define MAX_LEFT_OUT_SHARE 128
#define FEW_LEFT_OUT 2
#define MAX_SHARE_OF_FEW 32
/*
 * Nor where one in so many is an outlier: there are more that are not seen. Of
 * messages 200 us off, of which 1 and 5 in 100 are wrong, 1 in 590 and in 270 are
 * outliers (uneven-near of bench-truth).
 */
#define MAX_OUTLIER_SHARE 400
/*
 * The bound leaves at least this part of the margin to the curve: as in curve/doubt.c,
 * where messages are too quick.
 */
#define LEAST_ROOM 0.75
/* Where it leaves less is looked for so many times: windows move limits. Chosen. */
#define LOOKS 16
/* Instants that the mean width is of. Chosen. */
#define INSTANTS 17

/* ---- the pair ---------------------------------------------------------- */

/* Those that are not left out: 0 or -ENOMEM. */
static int pick(struct point **point, size_t *num, const struct limits_of_way *l)
{
	*num = 0;
	*point = malloc((l->num + 1) * sizeof(**point));
	if (!*point)
		return -ENOMEM;
	for (size_t i = 0; i < l->num; i++)
		if (!l->limit[i].left_out)
			(*point)[(*num)++] = l->limit[i].point;
	return 0;
}

/* @blind: the corrections cannot tell which messages are wrong. */
static void judge(struct pair_bound *r, const struct pair *pair, const struct limits_of_way l[2],
		  bool blind)
{
	size_t left_out = l[0].left_out + l[1].left_out;
	size_t scattered = left_out - l[0].in_windows - l[1].in_windows;
	size_t outliers = l[0].outliers + l[1].outliers;
	size_t at_changes = l[0].at_changes + l[1].at_changes;
	size_t all = l[0].num + l[1].num;

	/* In a window that was found by messages left out there is one phase step at most. */
	r->usable = !blind && !r->bound.infeasible && !l[0].two_steps && !l[1].two_steps &&
		    (left_out - at_changes) * MAX_SHARE_OF_FEW <= all &&
		    scattered * MAX_LEFT_OUT_SHARE <= all + FEW_LEFT_OUT * MAX_LEFT_OUT_SHARE &&
		    outliers * MAX_OUTLIER_SHARE <= all;
	/*
	 * Outliers contradict nothing: under bulk traffic right messages may look
	 * like some, and to leave these out costs no more than width.
	 */
	r->quality = !pair->direction[0].num || !pair->direction[1].num ? NETSYNC_INCOMPLETE :
		     left_out > outliers + at_changes || !r->usable	? NETSYNC_APPROXIMATE :
									  NETSYNC_ACCURATE;
}

/*
 * What a pair's bound has to agree with. @curve: the corrections, or NULL if they are not to be
 * relied on. @least: what the bound leaves to clocks, ns. @silent: windows of silent_windows().
 */
struct agreement {
	const struct correction **correction;
	const struct correction **curve;
	double least;
	struct windows *silent;
};

/* Note that windows from @first on are those of silences: 0 or -ENOMEM. */
static int note_silences(struct windows *silent, const struct windows *w, size_t first)
{
	for (size_t i = first; i < w->num; i++)
		if (windows_add_one(silent, &w->window[i]))
			return -ENOMEM;
	return 0;
}

/* A window without a drift limit, if messages pass in one direction only: 0 or -ENOMEM. */
static int add_one_way(struct windows *w, struct windows *silent, const struct pair *pair,
		       const struct correction *correction[2])
{
	size_t known = w->num;
	int ret = steering_window_one_way(w, pair, correction);

	return ret ? ret : note_silences(silent, w, known);
}

/* Windows where the bound is not to be relied on: their number, or -ENOMEM. */
static int add_windows(struct windows *w, struct pair_bound *r, const struct agreement *a)
{
	size_t known = w->num;
	int narrow = 0, silent = silent_windows(w, &r->bound, a->correction);

	if (silent >= 0 && note_silences(a->silent, w, known))
		silent = -ENOMEM;
	if (silent >= 0 && a->least > 0)
		narrow = narrow_windows(w, &r->bound, a->curve, a->least);
	return silent < 0 || narrow < 0 ? -ENOMEM : silent + narrow;
}

/*
 * The rate bound, with windows where it contradicts the curves, or rests on drift that may not
 * be assumed. *blind: still it does, and tells nothing.
 */
static int make_bound(struct pair_bound *r, const struct limits *limits,
		      struct point *const point[2], const size_t num[2], struct windows *w,
		      const struct agreement *a, bool *blind)
{
	int ret = 0, found = 1;

	for (int look = 0; !ret && found > 0 && look < LOOKS; look++) {
		rate_bound_release(&r->bound);
		windows_join(w);
		ret = rate_bound_make(&r->bound, limits, point[0], num[0], point[1], num[1],
				      w->window, w->num);
		/* Where no clocks at all are possible, the largest drift is wrong. */
		if (ret || !a->correction || (!look && r->bound.infeasible))
			return ret;
		found = add_windows(w, r, a);
	}
	*blind |= found > 0 || silent_was_set(&r->bound);
	return found < 0 ? found : ret;
}

/*
 * Replace the bound by one without a drift limit, if messages do not rule out that the clocks are
 * steered. 0 or -ENOMEM.
 */
static int check_drift_limit(struct pair_bound *r, const struct limits *limits,
			     struct point *const point[2], const size_t num[2],
			     const struct windows *w, const struct agreement *a, double coarse)
{
	const struct drift_evidence evidence = {
		.limits = *limits,
		.point = { point[0], point[1] },
		.num = { num[0], num[1] },
		.windows = w,
		.coarse = coarse,
		.all = !a->curve,
	};
	struct change_window all;
	int ret;

	if (clocks_are_steady(a->correction))
		return 0;
	ret = drift_limit_check(&r->bound, &evidence, &all);
	return ret > 0 ? windows_add_one(a->silent, &all) : ret;
}

static void measure_silences(struct pair_bound *r, const struct pair *pair,
			     const struct correction *correction[2], struct windows *silent)
{
	windows_join(silent);
	for (int h = 0; h < 2; h++)
		for (int way = 0; way < 2; way++)
			r->silent[h] = max64(r->silent[h],
					     silent_time(&pair->direction[way].envelope, silent,
							 correction, h));
}

/* @all: no message is left out but those of false times. */
static int make(struct pair_bound *r, const struct pair *pair,
		const struct correction *correction[2], const struct limits *limits, bool all)
{
	struct limits_of_way l[2] = { { 0 }, { 0 } };
	struct point *point[2] = { NULL, NULL };
	bool blind = correction && !all && (correction[0]->no_margin || correction[1]->no_margin);
	const double coarse = (double)max64(pair->direction[0].raised, pair->direction[1].raised);
	struct windows w = { 0 }, silent = { 0 };
	struct agreement agreement = { correction, all ? NULL : correction, 0, &silent };
	double margin = 0;
	size_t num[2];
	int ret = 0;

	*r = (struct pair_bound){ 0 };
	for (int h = 0; h < 2 && correction && !ret; h++)
		ret = windows_add(&w, correction[h], correction[0]);
	for (int way = 0; way < 2 && !ret; way++)
		ret = left_out_find(&l[way], &pair->direction[way], way, correction, all);
	if (!ret && !all)
		reach_phase_steps(&w, l);
	if (!ret && correction)
		ret = add_one_way(&w, &silent, pair, correction);
	for (int way = 0; way < 2 && !ret; way++) {
		if (!all)
			ret = left_out_windows(&l[way], limits->slope, &w);
		if (!ret)
			ret = pick(&point[way], &num[way], &l[way]);
	}
	if (!ret && correction)
		ret = narrow_margin(l, pair, &margin);
	/* Coarse stamps are off by as much all together. */
	agreement.least = LEAST_ROOM * margin - coarse;
	if (!ret && correction)
		ret = hidden_steps_find(&w, l, limits->slope + limits->slew, LEAST_ROOM * margin,
					coarse);
	if (!ret)
		ret = make_bound(r, limits, point, num, &w, &agreement, &blind);
	if (!ret && correction)
		ret = check_drift_limit(r, limits, point, num, &w, &agreement, coarse);
	if (!ret && correction) {
		r->longest_silence = silent_longest(point, num, correction);
		measure_silences(r, pair, correction, &silent);
	}
	if (!ret)
		judge(r, pair, l, blind);
	windows_release(&w);
	windows_release(&silent);
	for (int way = 0; way < 2; way++) {
		free(l[way].limit);
		free(point[way]);
	}
	return ret;
}

/* Does it say anything, from the first message to the last? */
static bool is_finite(const struct pair_bound *r, const struct pair *pair)
{
	int64_t first = INT64_MAX, last = INT64_MIN;

	for (int way = 0; way < 2; way++) {
		const struct envelope *e = &pair->direction[way].envelope;

		if (!e->num)
			return false;
		first = min64(first, bin_time(&e->bin[0]));
		last = max64(last, bin_time(&e->bin[e->num - 1]));
	}
	return !isinf(pair_bound_width(r, first, last));
}

int pair_bound_make(struct pair_bound *r, const struct pair *pair,
		    const struct correction *correction[2], const struct limits *limits)
{
	int ret = make(r, pair, correction, limits, false);

	/*
	 * Of few messages no curve is known well enough to tell which are wrong.
	 * If all agree with each other, none is.
	 */
	if (!ret && correction && !r->usable) {
		struct pair_bound all;

		ret = make(&all, pair, correction, limits, true);
		if (!ret && all.usable && is_finite(&all, pair)) {
			pair_bound_release(r);
			*r = all;
		} else {
			pair_bound_release(&all);
		}
	}
	return ret;
}

void pair_bound_release(struct pair_bound *r)
{
	rate_bound_release(&r->bound);
}

double pair_bound_width(const struct pair_bound *r, int64_t first, int64_t last)
{
	double sum = 0;
	int num = 0;

	for (int i = 0; i < INSTANTS; i++) {
		int64_t x = first + (int64_t)((__int128)(last - first) * i / (INSTANTS - 1));
		struct range y = rate_bound_at(&r->bound, x);

		/* What is not known about a phase step says nothing of the rest. */
		if (rate_bound_is_unknown_at(&r->bound, x))
			continue;
		if (y.lo == INT64_MIN || y.hi == INT64_MAX)
			return HUGE_VAL;
		sum += fmax((double)(y.hi - y.lo), 0) / 2;
		num++;
	}
	return num ? sum / num : HUGE_VAL;
}
