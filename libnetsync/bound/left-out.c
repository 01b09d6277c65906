// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A message is wrong if it is received before it was sent, or lies inward of all
 * around it, as outliers do (curve/outliers.h). The second finds those that the
 * corrections do not invert because they take the delays of both directions for
 * equal: what lies between the truth and the corrections.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "bound/left-out.h"
#include "curve/outliers.h"

/* Each group of messages is larger than the last by this factor. Chosen. */
#define LARGER 8
/* Groups of a direction at least: fewer say little of their scatter. Chosen. */
#define MIN_GROUPS 64
/*
 * The first is beyond what the fit takes for an outlier by this factor, as not one
 * of 10^6 right messages may look like one; where there are some, a right one that
 * is left out does no harm. The scatter of n groups may be larger by
 * FEW_GROUPS / sqrt(n). Chosen.
 */
#define SURE 1.5
#define FEW_GROUPS 8
/* Looks at most: outliers hide smaller ones. Chosen. */
#define LOOKS 4
/* Of so many in a row, how many are left out in a change point. Chosen. */
#define RUN 16
#define OUT_OF_RUN 4
/*
 * Minimum number of messages in a direction that show a phase step smaller than the minimum delays,
 * from netsync_solve(3).
 */
#define SHOW_STEP 80

/* Can the message not have been received after it was sent? Times are whole ns. */
static bool is_inverted(const struct limit *l)
{
	return l->excluded || l->delay < -1;
}

/* ---- outliers ----------------------------------------------------------- */

/* Of each, the lowest that is not left out. */
size_t left_out_group(const struct limits_of_way *l, const struct envelope *e, double messages,
		      struct bin_group *group)
{
	size_t n = 0, at = 0;

	for (size_t i = 0; i < e->num;) {
		struct bin_group g = { .y = HUGE_VAL, .from = at };

		for (; i < e->num && g.messages < messages; i++) {
			bool any = false;

			for (; at < l->num && l->limit[at].bin == i; at++) {
				const struct limit *k = &l->limit[at];

				if (k->left_out)
					continue;
				any = true;
				if (k->delay < g.y) {
					g.y = k->delay;
					g.t = (double)(k->point.x - e->bin[0].corner->x);
				}
			}
			if (any)
				g.messages += (double)e->bin[i].messages;
		}
		g.to = at;
		if (g.messages >= messages)
			group[n++] = g;
	}
	return n;
}

/* Limits of a group with a delay below @least; are there any? */
static bool leave_out(struct limits_of_way *l, const struct bin_group *g, double least)
{
	bool any = false;

	for (size_t i = g->from; i < g->to; i++) {
		struct limit *s = &l->limit[i];

		if (s->left_out || s->delay >= least)
			continue;
		s->left_out = true;
		l->outliers++;
		any = true;
	}
	return any;
}

/* @any: there are wrong ones among them. */
static int leave_outliers_out(struct limits_of_way *l, const struct direction *d, bool any)
{
	size_t most = d->envelope.num + 1;
	struct bin_group *g = malloc(most * sizeof(*g));
	double *inward = malloc(most * sizeof(*inward));
	double *buffer = malloc(most * sizeof(*buffer));
	double size = GROUP_MESSAGES;
	int ret = g && inward && buffer ? 0 : -ENOMEM;

	for (; !ret && size * MIN_GROUPS <= (double)d->num; size *= LARGER) {
		bool more = true;

		for (int look = 0; look < LOOKS && more; look++) {
			size_t n = left_out_group(l, &d->envelope, size, g);
			double from = outliers_judge(g, n, (double)d->raised, inward, buffer);

			from *= (any ? 1 : SURE) + FEW_GROUPS / sqrt(fmax((double)n, 1));
			more = false;
			for (size_t i = 0; i < n && !isinf(from); i++)
				if (inward[i] > from)
					more |= leave_out(l, &g[i], g[i].y + inward[i] - from);
			any |= more;
		}
	}
	free(g);
	free(inward);
	free(buffer);
	return ret;
}

int left_out_find(struct limits_of_way *l, const struct direction *d, int way,
		  const struct correction *correction[2], bool all)
{
	const struct envelope *e = &d->envelope;
	bool any = false;
	int ret = 0;

	*l = (struct limits_of_way){ .limit = malloc((e->corners + 1) * sizeof(*l->limit)),
				     .envelope = e };
	if (!l->limit)
		return -ENOMEM;
	for (size_t i = 0; i < e->num; i++) {
		for (uint32_t k = 0; k < e->bin[i].corners; k++) {
			struct limit *s = &l->limit[l->num++];

			*s = (struct limit){ .point = e->bin[i].corner[k], .bin = i };
			if (!correction)
				continue;
			s->delay = correction_delay(correction, way, &s->point);
			s->excluded = correction_excludes(correction, way, &s->point, d->raised);
			s->left_out = s->excluded || (!all && is_inverted(s));
			any |= s->left_out;
		}
	}
	if (correction && !all)
		ret = leave_outliers_out(l, d, any);
	for (size_t i = 0; i < l->num; i++)
		l->left_out += l->limit[i].left_out;
	return ret;
}

/* ---- change points that were missed ------------------------------------ */

static int add_window(struct windows *windows, size_t known, struct limits_of_way *l, size_t from,
		      size_t to, double slope)
{
	struct change_window w;
	double deepest = 0;
	int64_t length;

	for (size_t i = from; i < to; i++)
		deepest = fmax(deepest, -l->limit[i].delay);
	/* Up to the nearest that are kept. */
	while (from && l->limit[from].left_out)
		from--;
	while (to < l->num && l->limit[to - 1].left_out)
		to++;
	for (size_t i = from; i < to; i++)
		l->in_windows += l->limit[i].left_out;
	w = (struct change_window){ .from = l->limit[from].point.x,
				    .to = l->limit[to - 1].point.x };
	/* It began before messages were inverted, by a minimum delay. */
	length = w.to - w.from;
	w.from -= length / 2;
	w.to += length / 2;
	/* No rate does that. */
	w.phase_step = deepest > slope * (double)(w.to - w.from);
	for (size_t i = 0; i < known; i++)
		l->two_steps |= w.phase_step && windows->window[i].phase_step &&
				windows->window[i].from <= w.to && w.from <= windows->window[i].to;
	return windows_add_one(windows, &w);
}

/* Is it inverted no more than by the wrong curve in one of the first @num windows? */
static bool is_explained(const struct windows *w, size_t num, const struct limit *l)
{
	for (size_t i = 0; i < num; i++)
		if (w->window[i].from <= l->point.x && l->point.x <= w->window[i].to &&
		    l->delay >= -w->window[i].gap)
			return true;
	return false;
}

/*
 * Must the clock have been stepped between limits [@from, @to), all of which are left out, and the
 * others? A few outliers that are not inverted were rather quick: the first packets of a
 * connection, for example, are handled by the kernel alone. So few messages do not show a step
 * that inverts none of them.
 */
static bool is_step_at_end(const struct limits_of_way *l, size_t from, size_t to)
{
	uint64_t messages = 0;

	for (size_t i = from; i < to; i++) {
		if (is_inverted(&l->limit[i]))
			return true;
		if (i == from || l->limit[i].bin != l->limit[i - 1].bin)
			messages += l->envelope->bin[l->limit[i].bin].messages;
	}
	return messages >= SHOW_STEP;
}

/*
 * If the first or last messages of a direction are left out, the clock may have been stepped
 * after them, or before: add the time between them and the next ones that are kept.
 */
static int add_ends(struct windows *add, size_t known, const struct limits_of_way *l)
{
	size_t first = 0, last = l->num;
	int ret = 0;

	while (first < l->num && l->limit[first].left_out)
		first++;
	while (last && l->limit[last - 1].left_out)
		last--;
	if (!last)
		return 0;
	if (is_step_at_end(l, 0, first) && !is_explained(add, known, &l->limit[0]))
		ret = windows_add_one(add, &(struct change_window){ .from = l->limit[0].point.x,
								    .to = l->limit[first].point.x,
								    .phase_step = true });
	if (!ret && is_step_at_end(l, last, l->num) &&
	    !is_explained(add, known, &l->limit[l->num - 1]))
		ret = windows_add_one(add,
				      &(struct change_window){ .from = l->limit[last - 1].point.x,
							       .to = l->limit[l->num - 1].point.x,
							       .phase_step = true });
	return ret;
}

int left_out_windows(struct limits_of_way *l, double slope, struct windows *add)
{
	size_t from = 0, to = 0, out = 0, known = add->num;
	bool counted[RUN] = { false };
	int ret = 0;

	for (size_t i = 0; !ret && i < l->num; i++) {
		bool *count = &counted[i % RUN];

		/* Those in the window of a change point that was found are no news. */
		out -= *count;
		*count = l->limit[i].left_out;
		if (*count && is_explained(add, known, &l->limit[i])) {
			*count = false;
			l->in_windows++;
			l->at_changes++;
		}
		out += *count;
		if (out < OUT_OF_RUN)
			continue;
		if (to && i >= to + RUN) {
			ret = add_window(add, known, l, from, to, slope);
			to = 0;
		}
		if (!to)
			from = i >= RUN ? i - RUN + 1 : 0;
		to = i + 1;
	}
	if (!ret && to)
		ret = add_window(add, known, l, from, to, slope);
	return ret ? ret : add_ends(add, known, l);
}
