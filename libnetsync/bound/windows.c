// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bound/windows.h"
#include "curve/wander.h"
#include "util/array.h"

/* Least uncertainty of the time of a change point, ns. Chosen. */
#define MIN_UNCERTAINTY 50e6

struct clock_step correction_step(const struct correction *c, size_t index)
{
	const struct change_point *b = &c->change[index];

	return (struct clock_step){
		.t = c->from + (int64_t)b->t,
		.uncertainty = (int64_t)ceil(fmax(b->uncertainty, MIN_UNCERTAINTY)),
		.offset = b->phase_step ? b->offset : 0,
		.skew = b->skew,
		.gap = change_point_gap(b),
		.stood_still = b->phase_step && b->stood_still,
	};
}

int windows_add_one(struct windows *to, const struct change_window *w)
{
	if (array_grow(&to->window, &to->room, to->num, sizeof(*to->window)))
		return -ENOMEM;
	to->window[to->num++] = *w;
	return 0;
}

int windows_add_range(struct windows *to, const struct change_window *range,
		      const struct correction *of, const struct correction *on)
{
	struct change_window w = *range;

	if (on != of) {
		correction_between(of, w.from, on, &w.from);
		correction_between(of, w.to, on, &w.to);
	}
	return w.from < w.to ? windows_add_one(to, &w) : 0;
}

/*
 * With the most that its phase step can be: the offset, and besides what the curve went over
 * in the window without one. That is less than the window is long, as no clock runs at twice
 * its rate.
 */
static struct change_window sized(struct change_window w)
{
	w.largest = (double)(w.to - w.from) + fabs(w.offset);
	return w;
}

static int add_step(struct windows *to, struct clock_step s, const struct correction *of,
		    const struct correction *on)
{
	/* f is the correction of the first host less that of the second. */
	double grows = on == of ? s.offset : -s.offset;
	struct change_window w;
	int64_t by;

	if (s.stood_still) {
		w = sized((struct change_window){ s.t - s.uncertainty, s.t + s.uncertainty, true,
						  s.gap, grows, 0, false });

		/* Meanwhile others went on. */
		return windows_add_range(to, &w, of, on);
	}
	if (on != of) {
		/* On either side of a phase step it is elsewhere. */
		correction_between(of, s.t, on, &s.t);
		s.offset *= 2;
	}
	by = s.uncertainty + (int64_t)ceil(fabs(s.offset));
	w = sized((struct change_window){ s.t - by, s.t + by, s.offset != 0, s.gap, grows, 0,
					  false });
	return windows_add_one(to, &w);
}

/*
 * From one to the next, which may be a phase step; and as far beyond, as the curves
 * before and after were taken for lines to place them.
 */
static int add_jump(struct windows *to, const struct correction *of, size_t index,
		    const struct correction *on)
{
	struct clock_step a = correction_step(of, index);
	struct clock_step b = correction_step(of, index + 1);
	struct change_window w;
	int64_t far;

	if (on != of) {
		correction_between(of, a.t, on, &a.t);
		correction_between(of, b.t, on, &b.t);
	}
	far = b.t - a.t + 4 * max64(a.uncertainty, b.uncertainty);
	w = sized((struct change_window){ a.t - far, b.t + far, true, a.gap + b.gap, 0, 0, false });
	return windows_add_one(to, &w);
}

int windows_add(struct windows *to, const struct correction *of, const struct correction *on)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < of->num_changes; i++)
		ret = of->change[i].may_jump && i + 1 < of->num_changes ?
			      add_jump(to, of, i, on) :
			      add_step(to, correction_step(of, i), of, on);
	for (size_t i = 0; !ret && i < of->num_doubts; i++) {
		const struct change_window w = sized(
			(struct change_window){ of->from + (int64_t)floor(of->doubt[i].from),
						of->from + (int64_t)ceil(of->doubt[i].to),
						of->doubt[i].phase_step, 0, 0, 0, false });

		ret = windows_add_range(to, &w, of, on);
	}
	for (size_t i = 0; !ret && of->wander && i < of->wander->num_unreported; i++)
		ret = windows_add_range(to,
					&(struct change_window){
						.from = of->wander->unreported[i].lo,
						.to = of->wander->unreported[i].hi },
					of, on);
	return ret;
}

static int by_beginning(const void *a, const void *b)
{
	const struct change_window *p = a, *q = b;

	return p->from < q->from ? -1 : p->from > q->from;
}

void windows_join(struct windows *w)
{
	size_t last[2] = { 0, 0 }, n = 0; /* of general windows, and of others */
	bool any[2] = { false, false };

	if (w->num)
		qsort(w->window, w->num, sizeof(*w->window), by_beginning);
	for (size_t i = 0; i < w->num; i++) {
		const bool which = w->window[i].is_general;
		struct change_window *to = &w->window[last[which]];

		if (w->window[i].phase_step) {
			w->window[n++] = w->window[i];
		} else if (any[which] && w->window[i].from <= to->to) {
			to->to = max64(to->to, w->window[i].to);
		} else {
			any[which] = true;
			last[which] = n;
			w->window[n++] = w->window[i];
		}
	}
	w->num = n;
}

void windows_release(struct windows *w)
{
	free(w->window);
	memset(w, 0, sizeof(*w));
}
