/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The symmetric band matrices of cubic splines, whose B-splines overlap the three before
 * and after them: of each row the diagonal and what is left of it.
 */
#ifndef NETSYNC_CURVE_BAND_H
#define NETSYNC_CURVE_BAND_H

#include <stddef.h>

/* Diagonals, on and below the main one. */
#define BAND 4

/* Add a matrix of n rows times x to the product. */
void band_multiply(const double *a, const double *x, double *product, size_t n);

/*
 * Weight of the second differences of coefficients, relative to the mean
 * diagonal element: for a straight line; and to keep the matrix regular where
 * no constraint holds a coefficient. Chosen by the precision of doubles, 1e-16.
 */
#define STRAIGHT 1e8
#define LOOSE 1e-10

/*
 * The square root of what is left of a diagonal element. What is rounding, of a
 * coefficient that nothing determines, is replaced by the element itself: then the
 * solution is still a step downhill.
 */
double band_pivot(double left, double diagonal);

/* Cholesky's factor L of a matrix of n rows, in its place. */
void band_factor(double *a, size_t n);

/* Substitution: L x = x for @m columns of x, and L' x = x. */
void band_forward(const double *a, double *x, size_t n, size_t m);
void band_backward(const double *a, double *x, size_t n);

#endif
