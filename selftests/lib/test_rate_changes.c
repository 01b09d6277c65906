// SPDX-License-Identifier: GPL-2.0-only
/* Find sudden rate changes of a curve at the times at which they occur, and nowhere else. */
#include "curve/rate-changes.h"
#include "staged.h"

/* Messages per second, in each direction. */
#define RATE 20

/* Slew the clock by 40 ppm for 5 s in every 20 s, alternately forward and backward. */
static double slew_every_20_s(double t)
{
	double at = fmod(t, 40e9);

	return 40e-6 * (fmin(at, 5e9) - fmin(fmax(at - 20e9, 0), 5e9));
}

static double slew_never(double t)
{
	(void)t;
	return 0;
}

/* The clock's only step: its size (ns) and its time (ns). */
#define BY 5e6
#define SET 210e9

static double slew_and_step(double t)
{
	return slew_every_20_s(t) + (t < SET ? 0 : BY);
}

struct fixture {
	struct sample s;
	struct host_fit k;
	struct smooth_fit smooth;
	double margin;
	truth_fn truth;
};

/* Make the curve of the correction's missing part, and its delays. */
static void begin_rate_fixture(struct fixture *f, truth_fn truth)
{
	uint64_t seed = 7;

	*f = (struct fixture){ .truth = truth, .margin = DELAY };
	f->smooth.margin = &f->margin;
	f->s.c = (struct correction){
		.known = true,
		.from = AHEAD,
		.to = AHEAD + SECONDS * SEC,
		.offset = -AHEAD - 250 * US,
	};
	for (int64_t t = SEC / 2; t < (SECONDS - 1) * SEC; t += SEC / RATE)
		for (int back = 0; back < 2; back++) {
			int64_t late = DELAY + draw_integer_below(&seed, DELAY);

			add_message(&f->s.ps, back, !back, t + back * AHEAD,
				    t + !back * AHEAD + late);
		}
	assert_int_equal(pairs_settle(&f->s.ps), 0);
	f->s.link = (struct link){ .pair = f->s.ps.pair[0], .other = &sample_reference };
	f->k = (struct host_fit){ .correction = &f->s.c, .drift = 1e-16, .margin = &f->margin };
	assert_int_equal(observations_gather(&f->k.obs, &f->s.c, &f->s.link, 1), 0);
	for (size_t i = 0; i < f->k.obs.num; i++)
		f->k.obs.obs[i].y += truth(f->k.obs.obs[i].t);
	assert_int_equal(spline_new(&f->k.best, 0, f->k.obs.span, 4, NULL, 0), 0);
	for (size_t i = 0; i < f->k.best.coefs; i++)
		f->k.best.coef[i] = MISSING;
	spline_set_cubics(&f->k.best);
	host_fit_set_residuals(&f->k, &f->k.best);
	assert_int_equal(delays_set_means(&f->k.obs), 0);
	f->smooth.delay = f->k.obs.direction[ABOVE].mean + f->k.obs.direction[BELOW].mean;
}

static double fit_rate_changes(struct fixture *f)
{
	double freedom = 0, margin = f->margin;

	f->k.margin = &margin;
	assert_int_equal(rate_changes_fit(&f->k, &f->smooth, &freedom), 0);
	f->k.margin = &f->margin;
	return freedom;
}

static void end_rate_fixture(struct fixture *f)
{
	spline_free(&f->k.best);
	correction_release(&f->s.c);
	observations_release(&f->k.obs);
	pairs_release(&f->s.ps);
}

static void test_changes_of_steered_clock(void **state)
{
	struct fixture f;

	(void)state;
	begin_rate_fixture(&f, slew_every_20_s);
	assert_true(staged_find_worst_error(&f.k, slew_every_20_s, -1e18) > 1.9 * DELAY);
	/* Each slew has two rate changes, and there are four slews in 80 s. */
	assert_true(fit_rate_changes(&f) > 20);
	assert_true(staged_find_worst_error(&f.k, slew_every_20_s, -1e18) < 0.2 * DELAY);
	end_rate_fixture(&f);
}

static void test_clock_without_changes(void **state)
{
	struct fixture f;

	(void)state;
	begin_rate_fixture(&f, slew_never);
	fit_rate_changes(&f);
	assert_true(staged_find_worst_error(&f.k, slew_never, -1e18) < 0.05 * DELAY);
	end_rate_fixture(&f);
}

/* Wrong messages that have been rejected are not rate changes. */
static void test_rejected_messages(void **state)
{
	struct fixture f;
	uint64_t seed = 3;

	(void)state;
	begin_rate_fixture(&f, slew_never);
	for (size_t i = 0; i < f.k.obs.num; i++) {
		bool above = &f.k.obs.obs[i] - f.k.obs.obs < f.k.obs.direction[BELOW].bin[0].from;

		if (draw_integer_below(&seed, 50))
			continue;
		f.k.obs.obs[i].y += (above ? -1 : 1) * 5.0 * DELAY;
		f.smooth.rejected++;
	}
	assert_true(f.smooth.rejected > 20);
	assert_true(fit_rate_changes(&f) == 0);
	end_rate_fixture(&f);
}

/* A phase step does not move. */
static void test_fixed_phase_step(void **state)
{
	struct change_point *change = calloc(1, sizeof(*change));
	struct fixture f;

	(void)state;
	begin_rate_fixture(&f, slew_and_step);
	*change = (struct change_point){
		.t = SET, .offset = BY, .uncertainty = 50e6, .phase_step = true
	};
	f.s.c.change = change;
	f.s.c.num_changes = 1;
	assert_true(fit_rate_changes(&f) > 20);
	assert_int_equal(f.s.c.num_changes, 1);
	assert_true(f.s.c.change == change && change->offset == BY);
	assert_true(staged_find_worst_error(&f.k, slew_and_step, -1e18) < 0.2 * DELAY);
	end_rate_fixture(&f);
}

/* A few messages do not reveal whether the clock is steered. */
static void test_changes_from_few_messages(void **state)
{
	double freedom = 0;
	const double margin = DELAY;
	struct smooth_fit smooth = { .margin = &margin, .delay = 1e9 };
	struct sample s;
	struct host_fit k;

	(void)state;
	staged_init(&k, &s, slew_every_20_s);
	assert_int_equal(spline_new(&k.best, 0, k.obs.span, 4, NULL, 0), 0);
	assert_int_equal(rate_changes_fit(&k, &smooth, &freedom), 0);
	assert_true(freedom == 0);
	staged_end(&k, &s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_changes_of_steered_clock),
		cmocka_unit_test(test_clock_without_changes),
		cmocka_unit_test(test_rejected_messages),
		cmocka_unit_test(test_fixed_phase_step),
		cmocka_unit_test(test_changes_from_few_messages),
	};

	return cmocka_run_group_tests_name("rate-changes", tests, NULL, NULL);
}
