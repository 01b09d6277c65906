// SPDX-License-Identifier: GPL-2.0-only
/* Fit the curves of all hosts of a ring at once. */
#include <string.h>

#include "curve/pair-terms.h"
#include "joint/internal.h"
#include "messages.h"

#define HOSTS 6
#define SECONDS 600
#define DELAY (100 * US)
/* Largest drift of an oscillator, 1 / ns. */
#define DRIFT 1e-16
/* Initial error of each host's correction: WRONG times the host's number. */
#define WRONG (10.0 * US)
#define INTERVALS 4

struct ring {
	struct pairs ps;
	struct correction c[HOSTS];
	struct link link[HOSTS][2];
	struct joint_host host[HOSTS];
	struct joint_task task;
};

/* Every 60 s, a daemon slews a host's clock at this rate for SLEW_S s, and slews it back. */
#define SLEW 50e-6
#define SLEW_S 4.0

/* Return the offset of host h's clock. Hosts are slewed at different times. */
static double slew_ring_clock(uint32_t h, int64_t t)
{
	double at = fmod((double)t / SEC + 9.0 * h, 60);

	return SLEW * SEC * (fmin(at, SLEW_S) - fmin(fmax(at - 30, 0), SLEW_S));
}

/*
 * Make clocks that are right except for the daemons' slews. Messages take between DELAY and 2
 * DELAY.
 */
static void make_ring_clocks(struct ring *r, bool are_steered)
{
	uint64_t seed = 11;

	memset(r, 0, sizeof(*r));
	r->task = (struct joint_task){
		.host = r->host, .num = HOSTS, .intervals = INTERVALS, .drift = DRIFT, .threads = 1
	};
	for (int i = 0; i < SECONDS * 4; i++) {
		for (uint32_t h = 0; h < HOSTS; h++) {
			uint32_t to = (h + (i & 1 ? 1 : HOSTS - 1)) % HOSTS;
			int64_t t = i * SEC / 4 + draw_integer_below(&seed, SEC / 8);
			int64_t at = t + DELAY + draw_integer_below(&seed, DELAY);

			if (are_steered) {
				t += (int64_t)slew_ring_clock(h, t);
				at += (int64_t)slew_ring_clock(to, at);
			}
			add_message(&r->ps, h, to, t, at);
		}
	}
	assert_int_equal(pairs_settle(&r->ps), 0);
	assert_int_equal(r->ps.num, HOSTS);
	for (uint32_t h = 0; h < HOSTS; h++) {
		r->c[h] = (struct correction){ .known = true,
					       .to = SECONDS * SEC,
					       .frac = h * WRONG };
		r->host[h].correction = &r->c[h];
		r->host[h].link = r->link[h];
	}
	for (size_t i = 0; i < r->ps.num; i++) {
		const struct pair *p = r->ps.pair[i];

		for (int k = 0; k < 2; k++) {
			struct joint_host *own = &r->host[p->host[k]];

			own->link[own->num_links++] = (struct link){
				.pair = p,
				.other = &r->c[p->host[!k]],
				.first = !k,
			};
		}
	}
}

static void make_unsteered_ring(struct ring *r)
{
	make_ring_clocks(r, false);
}

static void release_ring(struct ring *r)
{
	for (int h = 0; h < HOSTS; h++)
		correction_release(&r->c[h]);
	pairs_release(&r->ps);
}

/* Return the largest difference between the hosts' times, ns. */
static double measure_largest_difference(const struct ring *r)
{
	double most = 0;

	for (int64_t t = 10 * SEC; t < (SECONDS - 10) * SEC; t += SEC) {
		for (int h = 1; h < HOSTS; h++) {
			int64_t ref[2];
			double rest = correction_at(&r->c[h], t, &ref[0]) -
				      correction_at(&r->c[0], t, &ref[1]);

			most = fmax(most, fabs((double)(ref[0] - ref[1]) + rest));
		}
	}
	return most;
}

static void test_fit_of_ring(void **state)
{
	struct ring r;

	(void)state;
	for (size_t intervals = 0; intervals <= INTERVALS; intervals += INTERVALS) {
		make_unsteered_ring(&r);
		r.task.intervals = intervals;
		assert_true(measure_largest_difference(&r) > 4 * WRONG);
		assert_int_equal(joint_fit(&r.task), 0);
		assert_true(measure_largest_difference(&r) < 0.05 * DELAY);
		for (int h = 0; h < HOSTS; h++) {
			assert_int_equal(r.c[h].intervals, intervals);
			assert_int_equal(r.c[h].curve.coefs, (intervals ? intervals : 1) + 3);
		}
		/* Fit a second time, starting from the result. */
		assert_int_equal(joint_fit(&r.task), 0);
		assert_true(measure_largest_difference(&r) < 0.05 * DELAY);
		release_ring(&r);
	}
}

/* Return the largest difference between the times of hosts whose clocks are steered, ns. */
static double measure_difference_if_steered(const struct ring *r)
{
	double most = 0;

	for (int64_t t = 10 * SEC; t < (SECONDS - 10) * SEC; t += SEC / 2) {
		for (uint32_t h = 1; h < HOSTS; h++) {
			int64_t ref[2];
			double rest = correction_at(&r->c[h], t + (int64_t)slew_ring_clock(h, t),
						    &ref[0]) -
				      correction_at(&r->c[0], t + (int64_t)slew_ring_clock(0, t),
						    &ref[1]);

			most = fmax(most, fabs((double)(ref[0] - ref[1]) + rest));
		}
	}
	return most;
}

/* Smooth curves miss the slews by 200 us. A fit of all hosts at once finds the slews. */
static void test_steered_ring(void **state)
{
	struct ring r;
	bool explains;

	(void)state;
	make_ring_clocks(&r, true);
	for (int h = 0; h < HOSTS; h++) {
		r.host[h].may_be_steered = true;
		r.c[h].mean_delay = 4 * DELAY;
	}
	assert_int_equal(joint_fit(&r.task), 0);
	assert_true(measure_difference_if_steered(&r) > 1.5 * DELAY);
	assert_int_equal(joint_fit_steered(&r.task, &explains), 0);
	assert_true(explains);
	assert_true(measure_difference_if_steered(&r) < 0.5 * DELAY);
	for (int h = 0; h < HOSTS; h++) {
		assert_true(r.c[h].steered);
		assert_true(r.c[h].mean_delay < 3 * DELAY);
		assert_true(r.c[h].expected_error > 0);
		assert_true(r.c[h].expected_error < DELAY);
	}
	release_ring(&r);
}

/* The result has the same bits for any number of threads. */
static void test_steered_threads(void **state)
{
	static struct parallel parallel;
	struct ring one, four;
	bool explains;

	(void)state;
	parallel_init(&parallel);
	make_ring_clocks(&one, true);
	make_ring_clocks(&four, true);
	four.task.parallel = &parallel;
	four.task.threads = 4;
	for (int h = 0; h < HOSTS; h++) {
		one.host[h].may_be_steered = four.host[h].may_be_steered = true;
		one.c[h].mean_delay = four.c[h].mean_delay = 4 * DELAY;
	}
	assert_int_equal(joint_fit_steered(&one.task, &explains), 0);
	assert_int_equal(joint_fit_steered(&four.task, &explains), 0);
	for (int h = 0; h < HOSTS; h++) {
		assert_int_equal(one.c[h].curve.coefs, four.c[h].curve.coefs);
		assert_memory_equal(one.c[h].curve.coef, four.c[h].curve.coef,
				    one.c[h].curve.coefs * sizeof(double));
		assert_int_equal(one.c[h].num_doubts, four.c[h].num_doubts);
	}
	release_ring(&one);
	release_ring(&four);
	parallel_release(&parallel);
}

/*
 * If no clock is steered, or if steering must not be assumed, the messages' consistency does not
 * improve.
 */
static void test_not_steered(void **state)
{
	struct ring r;
	bool explains;

	(void)state;
	for (int may = 0; may < 2; may++) {
		make_unsteered_ring(&r);
		for (int h = 0; h < HOSTS; h++) {
			r.host[h].may_be_steered = may;
			r.c[h].mean_delay = DELAY;
		}
		assert_int_equal(joint_fit_steered(&r.task, &explains), 0);
		assert_false(explains);
		for (int h = 0; h < HOSTS; h++)
			assert_false(r.c[h].steered);
		release_ring(&r);
	}
}

/* A host that is excluded from the fit does not change and does not contribute. */
static void test_excluded_host(void **state)
{
	struct ring r;

	(void)state;
	make_unsteered_ring(&r);
	r.c[3].frac = 1e6;
	r.host[3].correction = NULL;
	assert_int_equal(joint_fit(&r.task), 0);
	assert_int_equal(r.c[3].curve.coefs, 0);
	for (int h = 0; h < HOSTS; h++)
		assert_true(h == 3 || r.c[h].curve.coefs);
	r.c[3].frac = 0;
	/* The other hosts are consistent with each other. */
	for (int h = 0; h < HOSTS; h++)
		r.c[3].frac += h == 3 ? 0 : r.c[h].frac / (HOSTS - 1);
	for (int h = 1; h < HOSTS; h++) {
		double rest[2];
		int64_t ref[2];

		rest[0] = correction_at(&r.c[h], 300 * SEC, &ref[0]);
		rest[1] = correction_at(&r.c[0], 300 * SEC, &ref[1]);
		assert_true(h == 3 ||
			    fabs((double)(ref[0] - ref[1]) + rest[0] - rest[1]) < 0.05 * DELAY);
	}
	release_ring(&r);
}

/* The result has the same bits for any number of threads. */
static void test_fit_with_threads(void **state)
{
	static struct parallel parallel;
	struct ring one, four;

	(void)state;
	parallel_init(&parallel);
	make_unsteered_ring(&one);
	make_unsteered_ring(&four);
	four.task.parallel = &parallel;
	four.task.threads = 4;
	assert_int_equal(joint_fit(&one.task), 0);
	assert_int_equal(joint_fit(&four.task), 0);
	for (int h = 0; h < HOSTS; h++)
		assert_memory_equal(one.c[h].curve.coef, four.c[h].curve.coef,
				    one.c[h].curve.coefs * sizeof(double));
	release_ring(&one);
	release_ring(&four);
	parallel_release(&parallel);
}

/* Test a fit without hosts, and a fit of hosts without messages or without times. */
static void test_fit_of_nothing(void **state)
{
	struct ring r;

	(void)state;
	assert_int_equal(joint_fit(&(struct joint_task){
				 .intervals = INTERVALS, .drift = DRIFT, .threads = 1 }),
			 0);
	make_unsteered_ring(&r);
	for (int h = 0; h < HOSTS; h++) {
		if (h & 1)
			r.host[h].num_links = 0;
		else
			r.c[h].to = r.c[h].from;
	}
	assert_int_equal(joint_fit(&r.task), 0);
	for (int h = 0; h < HOSTS; h++)
		assert_int_equal(r.c[h].curve.coefs, 0);
	release_ring(&r);
}

/* Derivatives of the objective agree with differences of the objective. */
static void test_derivatives_of_objective(void **state)
{
	const double small = 1e-3;
	struct member member[2] = { { .in = true }, { .in = true } };
	struct pair_constraint w[] = {
		{ .room = 3, .sharp = 0.5, .u = { 0.3, 0.6 }, .other = 1 },
		{ .room = -1, .sharp = 1, .u = { 0.9, 0.1 }, .other = 1, .side = 1 },
	};
	double score[9] = { 0.1, 0.2, 0, 0, -0.1, 0, 0, 0, 0.3 };
	double x[9] = { 1, -1, 2, 0.5, 0, 1, 2, -2, 0.7 };
	double gradient[9], other[9], direction[9] = { 0 }, product[9], cost;
	static struct parallel parallel;
	struct objective o = {
		.member = member,
		.num = 2,
		.in = 2,
		.coefs = 8,
		.unknowns = 9,
		.stretch = 1,
		.score = score,
		.margins = &(double){ 0 },
		.far = &(double){ 0 },
	};
	struct cubic change[2][4];
	double rest[2][4][BAND], factor[2][4][BAND];

	(void)state;
	for (int h = 0; h < 2; h++) {
		struct member *m = &member[h];

		assert_int_equal(spline_new(&m->terms.curve, 0, 1e9, 1, NULL, 0), 0);
		memset(m->terms.curve.coef, 0, 4 * sizeof(double));
		m->terms.skew_walk = 1e-9;
		m->coef = 4 * (size_t)h;
		m->margin = 8;
		m->change = change[h];
		m->rest = rest[h];
		m->factor = factor[h];
	}
	member[0].terms.constraint = w;
	member[0].terms.num_constraints = 2;
	member[0].terms.margins = 1;
	assert_int_equal(objective_divide(&o), 0);
	assert_int_equal(o.constraints, 2);
	for (int i = 0; i < 9; i++) {
		double beside[2];

		for (int k = 0; k < 2; k++) {
			x[i] += k ? small : -small;
			beside[k] = objective_at(&o, x);
			x[i] -= k ? small : -small;
		}
		objective_at(&o, x);
		objective_differentiate(&o, x, gradient);
		assert_true(fabs((beside[1] - beside[0]) / (2 * small) - gradient[i]) < 1e-4);
	}
	/*
	 * Products agree with differences of gradients, or are smaller because of safety margins.
	 */
	direction[2] = 1;
	objective_product(&o, direction, product);
	x[2] += small;
	cost = objective_at(&o, x);
	objective_differentiate(&o, x, other);
	assert_true(product[2] >= (other[2] - gradient[2]) / small - 1e-3);
	assert_true(product[2] <= 4 * (other[2] - gradient[2]) / small);
	/* With this many constraints, threads are used. The result must be the same. */
	o.constraints = 1000000;
	o.parallel = &parallel;
	o.threads = 2;
	parallel_init(&parallel);
	assert_true(objective_at(&o, x) == cost);
	objective_differentiate(&o, x, gradient);
	assert_memory_equal(gradient, other, sizeof(other));
	parallel_release(&parallel);
	objective_free_blocks(&o);
	for (int h = 0; h < 2; h++)
		spline_free(&member[h].terms.curve);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fit_of_ring),
		cmocka_unit_test(test_excluded_host),
		cmocka_unit_test(test_fit_with_threads),
		cmocka_unit_test(test_steered_ring),
		cmocka_unit_test(test_steered_threads),
		cmocka_unit_test(test_not_steered),
		cmocka_unit_test(test_fit_of_nothing),
		cmocka_unit_test(test_derivatives_of_objective),
	};

	return cmocka_run_group_tests_name("joint", tests, NULL, NULL);
}
