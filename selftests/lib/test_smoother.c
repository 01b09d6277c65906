// SPDX-License-Identifier: GPL-2.0-only
/* Compare the smoother of a chain with the dense solution of the same normal model. */
#include <string.h>

#include "infer/internal.h"
#include "test.h"
#include "util/number.h"

#define KNOTS 7
/* Number of unknowns: the states of all knots, and the delay. */
#define UNKNOWNS (KNOTS * STATES + 1)
#define DELAY (UNKNOWNS - 1)

/* Invert a symmetric positive matrix in place, by Gauss-Jordan elimination with pivots. */
static void invert_symmetric(double m[UNKNOWNS][UNKNOWNS])
{
	static double a[UNKNOWNS][2 * UNKNOWNS];

	for (int i = 0; i < UNKNOWNS; i++) {
		memset(a[i], 0, sizeof(a[i]));
		memcpy(a[i], m[i], sizeof(m[i]));
		a[i][UNKNOWNS + i] = 1;
	}
	for (int k = 0; k < UNKNOWNS; k++) {
		int best = k;

		for (int i = k; i < UNKNOWNS; i++)
			if (fabs(a[i][k]) > fabs(a[best][k]))
				best = i;
		for (int j = 0; j < 2 * UNKNOWNS; j++) {
			const double t = a[k][j];

			a[k][j] = a[best][j];
			a[best][j] = t;
		}
		for (int i = 0; i < UNKNOWNS; i++) {
			const double by = a[i][k] / a[k][k];

			for (int j = 0; i != k && j < 2 * UNKNOWNS; j++)
				a[i][j] -= by * a[k][j];
		}
	}
	for (int i = 0; i < UNKNOWNS; i++)
		for (int j = 0; j < UNKNOWNS; j++)
			m[i][j] = a[i][UNKNOWNS + j] / a[i][i];
}

static void make_smoothed_chain(struct chain *c, struct knot *knot, double jump)
{
	uint64_t seed = 11;

	*c = (struct chain){ .knot = knot, .num = KNOTS, .intensity = { 2, 0, 0.3, 0.05 } };
	memset(knot, 0, KNOTS * sizeof(*knot));
	for (int i = 0; i < KNOTS; i++) {
		knot[i].length = i ? 0.5 + draw_between_0_and_1(&seed) : 0;
		knot[i].bend = 4 * knot[i].length;
		knot[i].jump = i == 3 ? jump : 0;
		knot[i].site.precision = i == 2 ? 0 : 0.1 + draw_between_0_and_1(&seed);
		knot[i].site.weighted = knot[i].site.precision * (20 * draw_between_0_and_1(&seed) -
								  10 + (i >= 3 ? sqrt(jump) : 0));
	}
	for (int i = 0; i < STATES; i++)
		c->first.deviation[i] = 30 / (i + 1.0);
}

/* Compute the prior covariance of all states, without the sites. */
static void compute_prior_covariance(const struct chain *c, double all[UNKNOWNS][UNKNOWNS])
{
	/* The matrix that maps increments to states. */
	static double map[UNKNOWNS][UNKNOWNS];
	double variance[UNKNOWNS];

	memset(map, 0, sizeof(map));
	for (int n = 0; n < KNOTS; n++) {
		const struct knot *k = &c->knot[n];

		for (int s = 0; s < STATES; s++) {
			const int at = n * STATES + s;
			double v[STATES] = { 0 };

			v[s] = 1;
			if (n)
				increment_set_loading(v, s, k->length);
			variance[at] = n ? c->intensity[s] * k->length :
					   c->first.deviation[s] * c->first.deviation[s];
			if (n && s == STATE_PHASE)
				variance[at] += k->jump + k->bend * k->length * k->length / 12;
			if (n && s == STATE_FREQUENCY)
				variance[at] = k->bend;
			for (int m = n; m < KNOTS; m++) {
				if (m > n)
					state_shift(v, c->knot[m].length);
				for (int i = 0; i < STATES; i++)
					map[m * STATES + i][at] = v[i];
			}
		}
	}
	for (int i = 0; i < UNKNOWNS; i++) {
		for (int j = 0; j < UNKNOWNS; j++) {
			all[i][j] = i == DELAY && j == DELAY;
			for (int k = 0; k < DELAY; k++)
				all[i][j] += map[i][k] * variance[k] * map[j][k];
		}
	}
}

static void check_smoothing_across_jump(double jump, double tolerance)
{
	static double all[UNKNOWNS][UNKNOWNS];
	struct knot knot[KNOTS];
	struct chain c;

	make_smoothed_chain(&c, knot, jump);
	compute_prior_covariance(&c, all);
	invert_symmetric(all);
	for (int n = 0; n < KNOTS; n++)
		all[n * STATES][n * STATES] += knot[n].site.precision;
	invert_symmetric(all);
	assert_int_equal(smooth_chain(&c), 0);
	for (int n = 0; n < KNOTS; n++) {
		for (int i = 0; i < STATES; i++) {
			double mean = 0;

			for (int m = 0; m < KNOTS; m++)
				mean += all[n * STATES + i][m * STATES] * knot[m].site.weighted;
			assert_float_equal(knot[n].state[i], mean, tolerance * (1 + fabs(mean)));
		}
		assert_float_equal(knot[n].variance, all[n * STATES][n * STATES],
				   tolerance * knot[n].variance);
	}
}

static void test_dense_solution(void **state)
{
	(void)state;
	check_smoothing_across_jump(0, 1e-6);
	check_smoothing_across_jump(1e4, 1e-5);
}

/*
 * A delay is estimated together with the clock. The sites of z = delay + sign * phase give the
 * means and variances of the dense solution. At each knot, one direction has more messages.
 */
static void test_joint_delay(void **state)
{
	static double all[UNKNOWNS][UNKNOWNS];
	const struct natural prior = { 0.01, 0.01 * 40 };
	double weighted[UNKNOWNS] = { 0 };
	struct moments delay = { 25, 1e4 };
	struct knot knot[KNOTS];
	uint64_t seed = 5;
	struct chain c;

	(void)state;
	make_smoothed_chain(&c, knot, 100);
	c.delay = &delay;
	c.delay_prior = prior;
	compute_prior_covariance(&c, all);
	invert_symmetric(all);
	all[DELAY][DELAY] = prior.precision;
	weighted[DELAY] = prior.weighted;
	for (int n = 0; n < KNOTS; n++) {
		const int at = n * STATES;

		knot[n].site = (struct natural){ 0, 0 };
		for (int sign = -1; sign <= 1; sign += 2) {
			const double p = (n % 2 ? 2 + sign : 2 - sign) *
					 (0.1 + draw_between_0_and_1(&seed));
			const double z = 30 + sign * 20 * draw_between_0_and_1(&seed);

			all[at][at] += p;
			all[DELAY][DELAY] += p;
			all[at][DELAY] = all[DELAY][at] += sign * p;
			weighted[at] += sign * p * z;
			weighted[DELAY] += p * z;
			knot_add_site(&knot[n], (struct natural){ p, sign * p * (z - delay.mean) },
				      sign);
		}
	}
	invert_symmetric(all);
	/* The second round uses the sites that the first round has changed. */
	for (int times = 0; times < 2; times++) {
		memset(&c.first.mean, 0, sizeof(c.first.mean));
		for (int i = 0; i < STATES; i++)
			c.first.deviation[i] = 30 / (i + 1.0);
		assert_int_equal(smooth_chain(&c), 0);
		assert_float_equal(delay.mean, dot_product(all[DELAY], weighted, UNKNOWNS),
				   1e-6 * 30);
		assert_float_equal(delay.variance, all[DELAY][DELAY], 1e-6 * delay.variance);
		for (int n = 0; n < KNOTS; n++) {
			const int at = n * STATES;

			for (int i = 0; i < STATES; i++)
				assert_float_equal(knot[n].state[i],
						   dot_product(all[at + i], weighted, UNKNOWNS),
						   1e-5);
			assert_float_equal(knot[n].variance, all[at][at], 1e-6 * all[at][at]);
			assert_float_equal(knot[n].response * delay.variance, all[at][DELAY],
					   1e-6 * all[at][at]);
		}
	}
}

/* A jump of minutes does not change the variances next to it, and no digits are lost. */
static void test_large_jump(void **state)
{
	const double jump = 6e11 * 6e11;
	struct knot near[KNOTS], far[KNOTS];
	struct chain c;

	(void)state;
	make_smoothed_chain(&c, near, 1e12);
	assert_int_equal(smooth_chain(&c), 0);
	make_smoothed_chain(&c, far, jump);
	assert_int_equal(smooth_chain(&c), 0);
	for (int n = 0; n < KNOTS; n++)
		assert_float_equal(near[n].variance, far[n].variance, 1e-6 * near[n].variance);
	assert_float_equal(far[3].state[0] - near[3].state[0], 6e11 - 1e6, 1);
	/*
	 * The information about the jump from all other data equals the information of the jump
	 * itself.
	 */
	assert_float_equal(far[3].score[STATE_PHASE].information * jump, 1, 1e-6);
}

/* The score of an increment is its posterior mean divided by its variance. */
static void test_scores_of_increments(void **state)
{
	struct knot knot[KNOTS];
	struct chain c;

	(void)state;
	make_smoothed_chain(&c, knot, 1e4);
	assert_int_equal(smooth_chain(&c), 0);
	for (int n = 1; n < KNOTS; n++) {
		double sum[STATES];

		memcpy(sum, knot[n - 1].state, sizeof(sum));
		state_shift(sum, knot[n].length);
		for (int s = 0; s < STATES; s++) {
			double loading[STATES], variance = c.intensity[s] * knot[n].length;

			if (s == STATE_PHASE)
				variance += knot[n].jump +
					    knot[n].bend * knot[n].length * knot[n].length / 12;
			if (s == STATE_FREQUENCY)
				variance = knot[n].bend;
			increment_set_loading(loading, s, knot[n].length);
			for (int i = 0; i < STATES; i++)
				sum[i] += loading[i] * variance * knot[n].score[s].gradient;
		}
		for (int i = 0; i < STATES; i++)
			assert_float_equal(sum[i], knot[n].state[i],
					   1e-6 * (1 + fabs(knot[n].state[i])));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dense_solution),
		cmocka_unit_test(test_joint_delay),
		cmocka_unit_test(test_large_jump),
		cmocka_unit_test(test_scores_of_increments),
	};

	return cmocka_run_group_tests_name("smoother", tests, NULL, NULL);
}
