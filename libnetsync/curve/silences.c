// SPDX-License-Identifier: LGPL-2.1-or-later
/* Observations -> the times between which no message of a direction passed. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "curve/silences.h"
#include "util/search.h"

static int compare_silence_times(const void *a, const void *b)
{
	const double *p = a, *q = b;

	return (*p > *q) - (*p < *q);
}

/* Gather the times of one side. The observations of each link are nearly in order. */
static void gather_times_of_side(struct silences *s, const struct observations *p, int side)
{
	for (size_t i = (size_t)side; i < 2 * p->links; i += 2) {
		const struct obs_direction *dir = &p->direction[i];

		for (size_t j = 0; j < dir->bins; j++) {
			const struct obs_bin *h = &dir->bin[j];

			for (uint32_t n = 0; n < h->num; n++)
				s->t[side][s->num[side]++] = p->obs[h->from + n].t;
		}
	}
	qsort(s->t[side], s->num[side], sizeof(*s->t[side]), compare_silence_times);
}

int silences_find(struct silences *s, const struct observations *p)
{
	*s = (struct silences){ .span = p->span };
	for (int side = ABOVE; side <= BELOW; side++) {
		s->t[side] = malloc((p->num + 1) * sizeof(*s->t[side]));
		if (!s->t[side])
			return -ENOMEM;
		gather_times_of_side(s, p, side);
	}
	return 0;
}

void silences_release(struct silences *s)
{
	free(s->t[ABOVE]);
	free(s->t[BELOW]);
	memset(s, 0, sizeof(*s));
}

size_t silences_until(const struct silences *s, int side, double t)
{
	return search_double(s->t[side], s->num[side], sizeof(*s->t[side]), 0, t, true);
}

void silences_reach(const struct silences *s, double *from, double *to)
{
	double begin = *from, end = *to;

	for (int side = ABOVE; side <= BELOW; side++) {
		const double *t = s->t[side];
		size_t before = silences_until(s, side, begin);
		size_t until = search_double(t, s->num[side], sizeof(*t), 0, end, false);

		*from = fmin(*from, before ? t[before - 1] : 0);
		*to = fmax(*to, until < s->num[side] ? t[until] : s->span);
	}
}

double silences_longest(const struct silences *s)
{
	double longest = 0;

	for (int side = ABOVE; side <= BELOW; side++) {
		double last = 0;

		for (size_t i = 0; i < s->num[side]; i++) {
			longest = fmax(longest, s->t[side][i] - last);
			last = s->t[side][i];
		}
		longest = fmax(longest, s->span - last);
	}
	return longest;
}
