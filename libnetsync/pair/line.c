// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pair/line.h"
#include "util/whole.h"

double line_value_above(const struct line *l, int64_t x, int64_t y)
{
	return (double)(l->y - y) + l->frac + l->slope * (double)(x - l->x);
}

double line_convert_to_second(const struct line *l, int64_t *t)
{
	double rest = l->slope * (double)(*t - l->x) + l->frac;

	*t += l->y;
	return add_whole_ns(t, rest);
}

double line_convert_to_first(const struct line *l, int64_t *t)
{
	double d = (double)(*t - l->y - l->x);

	*t -= l->y;
	return add_whole_ns(t, -(l->slope * d + l->frac) / (1 + l->slope));
}
