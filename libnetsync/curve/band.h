/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Symmetric band matrices of cubic splines, whose B-splines overlap the three before and after
 * them. Each row stores its diagonal element and the elements to the left of it.
 */
#ifndef NETSYNC_CURVE_BAND_H
#define NETSYNC_CURVE_BAND_H

#include <stddef.h>

/* Diagonals, on and below the main one. */
#define BAND 4

/* Add the product of a matrix of n rows and x to @product. */
void band_multiply(const double *a, const double *x, double *product, size_t n);

/*
 * Weight of the second differences of coefficients, relative to the mean diagonal element: to fit a
 * straight line, and to keep the matrix regular where no constraint determines a coefficient.
 * Chosen by the precision of doubles, 1e-16.
 */
#define STRAIGHT 1e8
#define LOOSE 1e-10

/*
 * Return the square root of what elimination leaves of a diagonal element. If no more than rounding
 * is left, nothing determines the coefficient, and the element itself is used: the solution is then
 * still a step downhill.
 */
double band_pivot(double left, double diagonal);

/* Replace a matrix of n rows by its Cholesky factor L. */
void band_factor(double *a, size_t n);

/* Substitution: L x = x for @m columns of x, and L' x = x. */
void band_forward(const double *a, double *x, size_t n, size_t m);
void band_backward(const double *a, double *x, size_t n);

#endif
