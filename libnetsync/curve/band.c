// SPDX-License-Identifier: LGPL-2.1-or-later
#include <math.h>

#include "curve/band.h"

/*
 * A pivot below this part of its diagonal element is rounding (P. E. Gill, W. Murray,
 * "Newton-type methods for unconstrained and linearly constrained optimization",
 * Mathematical Programming 7, 1974). Chosen by the precision of doubles, 1e-16.
 */
#define LEAST_PIVOT 1e-13

void band_multiply(const double *a, const double *x, double *product, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		product[i] += a[i * BAND] * x[i];
		for (size_t k = 1; k < BAND && k <= i; k++) {
			product[i] += a[i * BAND + k] * x[i - k];
			product[i - k] += a[i * BAND + k] * x[i];
		}
	}
}

double band_pivot(double left, double diagonal)
{
	if (left > LEAST_PIVOT * diagonal)
		return sqrt(left);
	return diagonal > 0 ? sqrt(diagonal) : 1;
}

void band_factor(double *a, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t k = i < BAND - 1 ? i : BAND - 1; k + 1 > 0; k--) {
			double *x = &a[i * BAND + k], v = *x, all = v;
			size_t j = i - k;

			for (size_t l = 1; l < BAND && l <= j && k + l < BAND; l++)
				v -= a[i * BAND + k + l] * a[j * BAND + l];
			*x = k ? v / a[j * BAND] : band_pivot(v, all);
		}
	}
}

void band_forward(const double *a, double *x, size_t n, size_t m)
{
	for (size_t i = 0; i < n; i++) {
		double *row = &x[i * m], inverse = 1 / a[i * BAND];

		for (size_t k = 1; k < BAND && k <= i; k++) {
			const double *before = &x[(i - k) * m];
			double factor = a[i * BAND + k];

			for (size_t p = 0; p < m; p++)
				row[p] -= factor * before[p];
		}
		for (size_t p = 0; p < m; p++)
			row[p] *= inverse;
	}
}

void band_backward(const double *a, double *x, size_t n)
{
	for (size_t i = n; i-- > 0;) {
		for (size_t k = 1; k < BAND && i + k < n; k++)
			x[i] -= a[(i + k) * BAND + k] * x[i + k];
		x[i] /= a[i * BAND];
	}
}
