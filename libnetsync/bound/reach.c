// SPDX-License-Identifier: LGPL-2.1-or-later
#include <math.h>

#include "bound/reach.h"
#include "util/search.h"

/* The first limit at @x or later. */
static size_t limit_from(const struct limits_of_way *l, int64_t x)
{
	return NUM_BEFORE(l->limit, l->num, point.x, x);
}

static bool inverts_any(const struct limits_of_way *l, const struct change_window *w)
{
	for (size_t i = limit_from(l, w->from); i < l->num && l->limit[i].point.x <= w->to; i++)
		if (l->limit[i].left_out)
			return true;
	return false;
}

/* On the other side of a step by so much it would be inverted. */
static bool tells(const struct limit *m, double by)
{
	return !m->left_out && m->delay < by;
}

/* The last before the window that tells; the first of all, if none does. */
static int64_t earliest(const struct limits_of_way *l, const struct change_window *w, double by)
{
	size_t i = limit_from(l, w->from);

	if (!i)
		return w->from;
	while (--i > 0 && !tells(&l->limit[i], by))
		;
	return l->limit[i].point.x;
}

/* The first after it that tells; the last of all, if none does. */
static int64_t latest(const struct limits_of_way *l, const struct change_window *w, double by)
{
	size_t i = limit_from(l, w->to);

	if (i == l->num)
		return w->to;
	while (i + 1 < l->num && !tells(&l->limit[i], by))
		i++;
	return l->limit[i].point.x;
}

void reach_phase_steps(struct windows *w, const struct limits_of_way l[2])
{
	for (size_t i = 0; i < w->num; i++) {
		struct change_window *c = &w->window[i];
		/* After a step of f upward, messages from host[0] seem to be quicker. */
		int quicker = c->offset > 0 ? 0 : 1;
		double by = fabs(c->offset);

		if (!(by > 0) || (!inverts_any(&l[0], c) && !inverts_any(&l[1], c)))
			continue;
		c->from = earliest(&l[quicker], c, by);
		c->to = latest(&l[!quicker], c, by);
	}
}
