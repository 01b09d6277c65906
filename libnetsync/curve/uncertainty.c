// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The inverse of the curvature of the objective is the covariance of the coefficients (Laplace's
 * approximation). For a band matrix A = L L', the elements of the inverse within the band can be
 * computed without the others (K. Takahashi, J. Fagan, M. Chen, "Formation of a sparse bus
 * impedance matrix and its application to short circuit study", 1973):
 *
 *	Z = L'^-1 L^-1,  so  Z[i][j] = ((i == j) / L[j][j] - sum_k>j L[k][j] Z[k][i]) / L[j][j]
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "curve/uncertainty.h"

/* Return an element of a symmetric matrix whose lower half is stored. */
static double band_element(double (*z)[BAND], size_t i, size_t k)
{
	return i < k ? z[k][k - i] : z[i][i - k];
}

/* @factor: L; *z: the band of the inverse. Both as diagonals left of the main one. */
static void invert_band(double (*factor)[BAND], double (*z)[BAND], size_t n)
{
	for (size_t j = n; j-- > 0;) {
		size_t end = j + BAND < n ? j + BAND : n;

		for (size_t i = end; i-- > j;) {
			double v = i == j ? 1 / factor[j][0] : 0;

			for (size_t k = j + 1; k < end; k++)
				v -= factor[k][k - j] * band_element(z, i, k);
			z[i][i - j] = v / factor[j][0];
		}
	}
}

/* Return the variance of a weighted sum of @n coefficients from @first on. */
static double variance_of_weighted_sum(double (*z)[BAND], size_t first, const double *weight,
				       size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j <= i; j++)
			sum += (i == j ? 1 : 2) * weight[i] * weight[j] * z[first + i][i - j];
	return fmax(sum, 0);
}

static void set_curve_deviations(const struct spline *c, double (*z)[BAND], double *deviation)
{
	for (size_t i = 0; i + 3 < c->coefs; i++) {
		double weight[4];

		for (size_t k = 0; k < 4; k++) {
			const double *b = c->basis[i][k];

			weight[k] = b[0] + (b[1] + (b[2] + b[3] / 2) / 2) / 2;
		}
		deviation[i] = sqrt(variance_of_weighted_sum(z, i, weight, 4));
	}
}

static void set_slope_changes(const struct spline *c, double (*z)[BAND],
			      struct slope_change *change)
{
	for (size_t i = 0; i + 2 < c->coefs; i++) {
		struct bend b = bend_at(c, i);

		change[i] = (struct slope_change){ .length = b.length };
		if (!b.length)
			continue;
		change[i].slope = b.size / b.length;
		change[i].variance = variance_of_weighted_sum(z, i, b.d, 3) / (b.length * b.length);
	}
}

int uncertainty_of_factor(const struct spline *s, double (*factor)[BAND], double *deviation,
			  struct slope_change *change)
{
	double(*z)[BAND] = malloc(s->coefs * sizeof(*z));

	if (!z)
		return -ENOMEM;
	invert_band(factor, z, s->coefs);
	set_curve_deviations(s, z, deviation);
	set_slope_changes(s, z, change);
	free(z);
	return 0;
}

int uncertainty_find(struct fit *f, double *deviation, struct slope_change *change)
{
	double(*factor)[BAND] = malloc(f->curve.coefs * sizeof(*factor));
	int ret = factor ? fit_factor(f, factor) : -ENOMEM;

	if (!ret)
		ret = uncertainty_of_factor(&f->curve, factor, deviation, change);
	free(factor);
	return ret;
}
