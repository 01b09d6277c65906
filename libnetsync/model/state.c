// SPDX-License-Identifier: LGPL-2.1-or-later
/* The state space: transitions over a length of time, and the loading of increments. */
#include <string.h>

#include "model/model.h"

/* Compute the coefficients of the Taylor series, length^k / k!. */
static void set_taylor_powers(double power[STATES], double length)
{
	power[0] = 1;
	for (int k = 1; k < STATES; k++)
		power[k] = power[k - 1] * length / k;
}

/* Compute a later state in place. This is possible because no row depends on the rows before it. */
static void shift_vector_forward(double *v, size_t stride, const double power[STATES])
{
	for (size_t i = 0; i < STATES; i++)
		for (size_t k = i + 1; k < STATES; k++)
			v[i * stride] += power[k - i] * v[k * stride];
}

static void shift_vector_back(double *v, size_t stride, const double power[STATES])
{
	for (size_t k = STATES; k-- > 0;)
		for (size_t i = 0; i < k; i++)
			v[k * stride] += power[k - i] * v[i * stride];
}

void state_shift(double state[STATES], double length)
{
	double power[STATES];

	set_taylor_powers(power, length);
	shift_vector_forward(state, 1, power);
}

void state_shift_back(double gradient[STATES], double length)
{
	double power[STATES];

	set_taylor_powers(power, length);
	shift_vector_back(gradient, 1, power);
}

/* Apply a transition to the columns of a matrix, then to its rows. */
static void shift_matrix(double m[STATES][STATES], double length,
			 void (*add)(double *v, size_t stride, const double power[STATES]))
{
	double power[STATES];

	set_taylor_powers(power, length);
	for (size_t j = 0; j < STATES; j++)
		add(&m[0][j], STATES, power);
	for (size_t i = 0; i < STATES; i++)
		add(m[i], 1, power);
}

void covariance_shift(double p[STATES][STATES], double length)
{
	shift_matrix(p, length, shift_vector_forward);
}

void information_shift_back(double n[STATES][STATES], double length)
{
	shift_matrix(n, length, shift_vector_back);
}

void increment_set_loading(double loading[STATES], int component, double length)
{
	double power[STATES];

	set_taylor_powers(power, length / 2);
	memset(loading, 0, STATES * sizeof(*loading));
	for (int i = 0; i <= component; i++)
		loading[i] = power[component - i];
}
