// SPDX-License-Identifier: LGPL-2.1-or-later
/* Select order statistics by Hoare's algorithm (quickselect). */
#include "util/statistics.h"

double compute_order_statistic(double *v, size_t n, size_t k)
{
	size_t from = 0, to = n ? n - 1 : 0;

	while (from < to) {
		size_t i = from, j = to;
		double pivot = v[k];

		for (;;) {
			double x;

			while (v[i] < pivot)
				i++;
			while (v[j] > pivot)
				j--;
			if (i >= j)
				break;
			x = v[i];
			v[i++] = v[j];
			v[j--] = x;
		}
		/* Values before i are at most the pivot; values after j are at least the pivot. */
		if (k <= j)
			to = j;
		if (k >= i)
			from = i;
		if (j < k && k < i)
			break;
	}
	return n ? v[k] : 0;
}

double statistics_median(double *v, size_t n)
{
	return compute_order_statistic(v, n, n / 2);
}
