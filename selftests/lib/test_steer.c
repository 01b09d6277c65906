// SPDX-License-Identifier: GPL-2.0-only
/*
 * Clocks that a daemon steers, and netsync_push_clock(), which tells how: they are
 * estimated as well as clocks that nobody steers. Points that are wrong, or were
 * lost, cost the time beside them.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "test.h"
#include "steer/steering.h"

#define SPAN (900 * SEC)
#define RATE 40		/* messages a second, each way */
#define DELAY 30000
#define MEAN 100e3
#define MOST_CHANGES 4096
#define PPM 1e-6
#define FAR (NETSYNC_MAX_SPAN + SEC)

/* ---- polylines ------------------------------------------------------------ */

static void lines_go_both_ways(void **state)
{
	struct polyline l = { .slope_before = 2, .slope_after = 0.5 };

	(void)state;
	assert_int_equal(polyline_at(&l, 5), 5);
	assert_int_equal(polyline_inverse(&l, 5), 5);
	assert_int_equal(polyline_add(&l, EPOCH, 100), 0);
	assert_int_equal(polyline_add(&l, EPOCH + 10, 200), 0);
	assert_int_equal(polyline_add(&l, EPOCH + 10, 300), 0);
	assert_int_equal(polyline_add(&l, EPOCH + 20, 210), 0);
	assert_int_equal(l.num, 3);
	assert_int_equal(polyline_at(&l, EPOCH - 3), 94);
	assert_int_equal(polyline_at(&l, EPOCH + 4), 140);
	assert_int_equal(polyline_at(&l, EPOCH + 15), 205);
	assert_int_equal(polyline_at(&l, EPOCH + 30), 215);
	for (int64_t y = 90; y < 220; y += 5)
		assert_in_range(llabs(polyline_at(&l, polyline_inverse(&l, y)) - y),
				0, 5);
	polyline_release(&l);
}

static void lines_are_thinned(void **state)
{
	struct polyline l = { 0 }, all = { 0 };
	uint64_t s = 1;

	(void)state;
	for (int64_t x = 0; x < 2000; x++) {
		int64_t y = x * 1000000 + (x > 700 ? (x - 700) * 100 : 0) +
			    (int64_t)(random64(&s) % 3);

		assert_int_equal(polyline_add(&l, x * 1000000, y), 0);
		assert_int_equal(polyline_add(&all, x * 1000000, y), 0);
	}
	polyline_thin(&l, 2);
	assert_in_range(l.num, 3, 40);
	for (size_t i = 0; i < all.num; i++)
		assert_in_range(llabs(polyline_at(&l, all.corner[i].x) -
				      all.corner[i].y), 0, 3);
	polyline_release(&l);
	polyline_release(&all);
}

/* ---- a world of steered clocks ---------------------------------------------- */

/* An oscillator, and what a daemon does to the clock that is made of it. */
struct machine {
	double skew;			/* of the oscillator */
	int64_t offset;
	/* The rate of the clock per raw time, from raw times on. */
	int64_t change[MOST_CHANGES];
	double rate[MOST_CHANGES];
	int64_t shown[MOST_CHANGES];	/* the clock at that time */
	bool set[MOST_CHANGES];
	size_t num;
};

static int64_t raw_time(const struct machine *m, int64_t t)
{
	return 77 * SEC + t + llround(m->skew * (double)t);
}

/* What the clock shows at a raw time. */
static int64_t shown(const struct machine *m, int64_t raw)
{
	size_t i = m->num - 1;

	while (i > 0 && m->change[i] > raw)
		i--;
	return m->shown[i] + (raw - m->change[i]) +
	       llround((m->rate[i] - 1) * (double)(raw - m->change[i]));
}

static int64_t reading(const struct machine *m, int64_t t)
{
	return shown(m, raw_time(m, t));
}

static void steer(struct machine *m, int64_t raw, double rate, int64_t set_by)
{
	int64_t at = m->num ? shown(m, raw) : EPOCH + m->offset;

	assert_true(m->num < MOST_CHANGES);
	m->change[m->num] = raw;
	m->rate[m->num] = rate;
	m->shown[m->num] = at + set_by;
	m->set[m->num++] = set_by;
}

/* Slews as chrony makes them: each some seconds, back to a rate of its own. */
static void chrony(struct machine *m, uint64_t *s)
{
	for (int64_t raw = raw_time(m, 0); raw < raw_time(m, SPAN);) {
		double own = 1 + (uniform(s) - 0.5) * 10 * PPM;

		steer(m, raw, own + (uniform(s) - 0.5) * 200 * PPM, 0);
		raw += SEC / 2 + below(s, 7 * SEC);
		steer(m, raw, own, 0);
		raw += 8 * SEC + below(s, 48 * SEC);
	}
}

struct world {
	struct netsync *ns;
	struct machine m[2];
	uint64_t seed;
};

static void make_world(struct world *w, uint64_t seed)
{
	memset(w, 0, sizeof(*w));
	w->seed = seed;
	w->ns = netsync_new();
	for (int i = 0; i < 2; i++) {
		struct machine *m = &w->m[i];

		m->skew = (i ? 30 : -20) * PPM;
		m->offset = i * 3 * SEC;
		steer(m, raw_time(m, -SEC), 1, 0);
		assert_int_equal(netsync_add_host(w->ns, i ? "b" : "a"), i);
	}
}

static struct netsync_clock_point point_at(const struct machine *m, uint32_t host,
					   int64_t raw)
{
	struct netsync_clock_point p = {
		.size = sizeof(p), .host = host, .raw_ns = raw,
		.time_ns = shown(m, raw),
	};

	for (size_t i = 0; i < m->num; i++)
		if (m->change[i] <= raw) {
			p.rate = m->rate[i];
			p.was_set = m->change[i] == raw && m->set[i];
		}
	return p;
}

/* Each change, and once a second, as the kernel module does. */
static void tell(struct world *w, uint32_t host, int64_t from, int64_t to)
{
	const struct machine *m = &w->m[host];

	for (int64_t raw = raw_time(m, from); raw < raw_time(m, to); raw += SEC) {
		const struct netsync_clock_point p = point_at(m, host, raw);

		assert_int_equal(netsync_push_clock(w->ns, &p), 0);
	}
	for (size_t i = 0; i < m->num; i++) {
		const struct netsync_clock_point p =
			point_at(m, host, m->change[i]);

		if (m->change[i] >= raw_time(m, from) &&
		    m->change[i] < raw_time(m, to))
			assert_int_equal(netsync_push_clock(w->ns, &p), 0);
	}
}

static void talk(struct world *w, int64_t from, int64_t to)
{
	for (int64_t t = from; t < to; t += SEC / RATE) {
		int64_t at = t + below(&w->seed, SEC / RATE);
		int64_t late = at + DELAY + (int64_t)exponential(&w->seed, MEAN);
		int way = (int)(random64(&w->seed) & 1);

		for (int i = 0; i < 2; i++, way = !way)
			assert_int_equal(netsync_push_message(w->ns, way, !way,
					reading(&w->m[way], at),
					reading(&w->m[!way], late)), 0);
	}
}

struct errors {
	double rms;
	int64_t max;
	int outside;
	int unknown;
};

/* Errors of b on a's clock, but for times within @margin of one. */
static struct errors errors_at(const struct world *w, int64_t apart,
			       int64_t except, int64_t margin)
{
	uint32_t reference = (uint32_t)netsync_reference(w->ns);
	const struct netsync_clock *c = netsync_host_clock(w->ns, !reference);
	struct errors e = { 0 };
	int n = 0;

	assert_non_null(c);
	for (int64_t t = 0; t <= SPAN - SEC; t += apart) {
		int64_t truth = reading(&w->m[reference], t), got, bound;

		if (llabs(t - except) < margin)
			continue;
		assert_int_equal(netsync_convert(c, reading(&w->m[!reference], t),
						 &got, &bound), 0);
		e.rms += (double)(got - truth) * (double)(got - truth);
		n++;
		if (llabs(got - truth) > e.max)
			e.max = llabs(got - truth);
		e.outside += llabs(got - truth) > bound;
		e.unknown += bound == NETSYNC_UNKNOWN;
	}
	e.rms = sqrt(e.rms / n);
	return e;
}

static struct errors solve(struct world *w)
{
	assert_int_equal(netsync_solve(w->ns, NULL), 0);
	return errors_at(w, SEC / 10, -SPAN, 0);
}

static void check_accurate(const struct world *w)
{
	for (uint32_t i = 0; i < 2; i++) {
		struct netsync_host_info info = { .size = sizeof(info) };

		assert_int_equal(netsync_get_host(w->ns, i, &info), 0);
		assert_int_equal(info.quality, NETSYNC_ACCURATE);
	}
}

/* The same oscillators and messages, left alone. */
static struct errors alone(uint64_t seed)
{
	struct world w;
	struct errors e;

	make_world(&w, seed);
	talk(&w, 0, SPAN);
	e = solve(&w);
	netsync_free(w.ns);
	return e;
}

/* What the result says of how a host was steered. */
static void check_steering(const struct world *w, uint32_t host, int64_t unknown)
{
	struct netsync_steering info = { .size = sizeof(info) };
	const struct machine *m = &w->m[host];
	double lo = INFINITY, hi = -INFINITY;

	for (size_t i = 0; i < m->num; i++) {
		if (m->change[i] > raw_time(m, SPAN - 2 * SEC))
			break;
		lo = fmin(lo, (m->rate[i] - 1) / PPM);
		hi = fmax(hi, (m->rate[i] - 1) / PPM);
	}
	assert_int_equal(netsync_get_steering(w->ns, host, &info), 0);
	assert_true(info.points > 0);
	/* The first line begins before anything was seen. */
	assert_true(info.min_ppm >= lo - 1e-6 && info.min_ppm <= lo + 20);
	assert_true(info.max_ppm <= hi + 1e-6 && info.max_ppm >= hi - 20);
	assert_in_range(llabs(info.unknown_ns - unknown), 0, 3 * SEC);
}

/* ---- estimates ---------------------------------------------------------------- */

static void as_if_nobody_steered(void **state)
{
	uint64_t seeds = 11;

	(void)state;
	for (int k = 0; k < 6; k++) {
		uint64_t s = random64(&seeds);
		struct errors free_running = alone(s), e;
		struct world w;

		make_world(&w, s);
		/* Both, one, and the other of them is steered. */
		for (int i = 0; i < 2; i++)
			if (k % 3 != 1 + i)
				chrony(&w.m[i], &seeds);
		for (uint32_t i = 0; i < 2; i++)
			if (w.m[i].num > 1)
				tell(&w, i, 0, SPAN);
		talk(&w, 0, SPAN);
		e = solve(&w);
		print_message("alone %lld / %.0f, steered %lld / %.0f ns\n",
			      (long long)free_running.max, free_running.rms,
			      (long long)e.max, e.rms);
		check_accurate(&w);
		for (uint32_t i = 0; i < 2; i++)
			if (w.m[i].num > 1)
				check_steering(&w, i, 0);
		assert_int_equal(e.outside, 0);
		assert_int_equal(e.unknown, 0);
		assert_true(e.rms <= 1.5 * free_running.rms + 3);
		assert_true((double)e.max <= 1.5 * (double)free_running.max + 5);
		netsync_free(w.ns);
	}
}

static void told_on_the_way(void **state)
{
	struct errors at_once, e;
	struct world w[2];

	(void)state;
	for (int k = 0; k < 2; k++) {
		uint64_t s = 5;

		make_world(&w[k], 3);
		chrony(&w[k].m[0], &s);
		chrony(&w[k].m[1], &s);
		for (int64_t t = 0; t < SPAN; t += k ? 10 * SEC : SPAN) {
			tell(&w[k], 0, t, t + (k ? 10 * SEC : SPAN));
			tell(&w[k], 1, t, t + (k ? 10 * SEC : SPAN));
			talk(&w[k], t, t + (k ? 10 * SEC : SPAN));
		}
	}
	at_once = solve(&w[0]);
	e = solve(&w[1]);
	assert_true(fabs(e.rms - at_once.rms) < 3);
	assert_int_equal(e.outside, 0);
	/* Solving again changes nothing. */
	at_once = solve(&w[1]);
	assert_true(at_once.rms == e.rms);
	netsync_free(w[0].ns);
	netsync_free(w[1].ns);
}

static void set_clocks_are_told(void **state)
{
	struct netsync_host_info info = { .size = sizeof(info) };
	struct netsync_step step = { .size = sizeof(step) };
	struct netsync_steering told = { .size = sizeof(told) };
	const int64_t by[] = { 2 * SEC, -3 * SEC, 50 * US, -70 * US };
	struct world w;
	struct errors e;

	(void)state;
	make_world(&w, 9);
	for (int i = 0; i < 4; i++)
		steer(&w.m[1], raw_time(&w.m[1], SPAN / 5 * (i + 1) + SEC / 77), 1,
		      by[i]);
	tell(&w, 1, 0, SPAN);
	talk(&w, 0, SPAN);
	assert_int_equal(netsync_solve(w.ns, NULL), 0);
	assert_int_equal(netsync_get_host(w.ns, 1, &info), 0);
	assert_int_equal(info.num_steps, 4);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(netsync_get_step(w.ns, 1, i, &step), 0);
		assert_int_equal(step.known, 1);
		assert_in_range(llabs(step.offset_ns - by[i]), 0, 5);
		assert_in_range(llabs(step.time_ns + step.offset_ns -
				      reading(&w.m[1], SPAN / 5 * (i + 1) +
							SEC / 77)), 0, 5);
	}
	check_steering(&w, 1, 0);
	assert_int_equal(netsync_get_steering(w.ns, 0, &told), 0);
	assert_int_equal(told.points, 0);
	assert_int_equal(netsync_get_steering(w.ns, 2, &told), -EINVAL);
	/* The 3 s that were shown twice cannot be told apart. */
	e = errors_at(&w, SEC / 10, SPAN / 5 * 2, 4 * SEC);
	assert_int_equal(e.outside, 0);
	assert_in_range(e.max, 0, 5000);
	e = errors_at(&w, SEC / 10, -SPAN, 0);
	assert_int_equal(e.outside, 0);
	check_accurate(&w);
	netsync_free(w.ns);
}

/* ---- wrong and lost points ------------------------------------------------------ */

/* All points of a host's steering, less those in a time. */
static void tell_but(struct world *w, uint32_t host, int64_t from, int64_t to)
{
	tell(w, host, 0, from);
	tell(w, host, to, SPAN);
}

static void lost_ones_cost_their_time(void **state)
{
	uint64_t seeds = 21;

	(void)state;
	for (int k = 0; k < 4; k++) {
		const int64_t lost = k & 1 ? 20 * SEC : 5 * SEC;
		uint64_t s = random64(&seeds);
		struct errors free_running = alone(s), e;
		struct world w;

		make_world(&w, s);
		chrony(&w.m[0], &seeds);
		chrony(&w.m[1], &seeds);
		tell(&w, 0, 0, SPAN);
		tell_but(&w, 1, SPAN / 2, SPAN / 2 + lost);
		talk(&w, 0, SPAN);
		e = solve(&w);
		assert_int_equal(e.outside, 0);
		check_accurate(&w);
		e = errors_at(&w, SEC / 10, SPAN / 2 + lost / 2, lost);
		assert_true(e.rms <= 1.5 * free_running.rms + 3);
		netsync_free(w.ns);
	}
}

/* Where points were lost, nobody knows when the clock was set: short gaps, and long ones. */
static void set_when_points_were_lost(void **state)
{
	const int64_t by[] = { 300 * US, 20000 * US, 3 * SEC / 2, -3 * SEC / 2 };
	const int64_t lost[] = { 5 * SEC, 20 * SEC };
	uint64_t s = 9;

	(void)state;
	for (size_t i = 0; i < 8; i++) {
		const int64_t half = lost[i & 1] / 2;
		struct world w;

		make_world(&w, 71 + i);
		chrony(&w.m[0], &s);
		steer(&w.m[1], raw_time(&w.m[1], SPAN / 2), 1 + 9 * PPM, by[i / 2]);
		tell(&w, 0, 0, SPAN);
		tell_but(&w, 1, SPAN / 2 - half, SPAN / 2 + half);
		talk(&w, 0, SPAN);
		assert_int_equal(netsync_solve(w.ns, NULL), 0);
		assert_int_equal(errors_at(&w, SEC / 50, -SPAN, 0).outside, 0);
		netsync_free(w.ns);
	}
}

/* How points are told where the one of a setting may be lost. */
enum told { NUMBERED, NOT_NUMBERED, BY_WAS_SET };

/*
 * Once a second, in no order, each twice, and at a setting, unless that one was lost. Who
 * numbers points began anew some time.
 */
static void tell_setting(struct world *w, enum told how, int64_t set, bool is_lost)
{
	const struct machine *m = &w->m[1];
	const int64_t num = SPAN / SEC + 2, anew = SPAN / SEC / 3 * 2;

	for (int64_t i = 0; i < 2 * num; i++) {
		const int64_t k = i * 7 % num, at = k * SEC;
		const bool is_setting = k == num - 1;
		struct netsync_clock_point p = point_at(m, 1,
				raw_time(m, is_setting ? set : at));

		if (is_setting && is_lost)
			continue;
		p.was_set = is_setting && how == BY_WAS_SET;
		if (how == NUMBERED)
			p.number = is_setting ? (uint32_t)(set / SEC) + 2 :
				(uint32_t)(k % anew) + 1 + (at > set && k < anew);
		assert_int_equal(netsync_push_clock(w->ns, &p), 0);
	}
}

/* A setting is known to a point's instant only where no point can have been lost. */
static void a_setting_may_be_lost(void **state)
{
	const int64_t by[] = { 5 * SEC, -5 * SEC, SEC / 2, -SEC / 2 };
	const int64_t set = SPAN / 2 + SEC / 3;

	(void)state;
	for (int i = 0; i < 4 * 3 * 2; i++) {
		const enum told how = (enum told)(i / 4 % 3);
		const bool is_lost = i / 12, is_known = !is_lost && how != NOT_NUMBERED;
		struct netsync_step step = { .size = sizeof(step) };
		struct world w;
		int64_t at;

		make_world(&w, 101 + (uint64_t)i);
		steer(&w.m[1], raw_time(&w.m[1], set), 1, by[i % 4]);
		tell_setting(&w, how, set, is_lost);
		talk(&w, 0, SPAN);
		assert_int_equal(netsync_solve(w.ns, NULL), 0);
		assert_int_equal(errors_at(&w, SEC / 50, -SPAN, 0).outside, 0);
		check_accurate(&w);
		assert_int_equal(netsync_get_step(w.ns, 1, 0, &step), 0);
		assert_int_equal(step.known, 1);
		assert_in_range(llabs(step.offset_ns - by[i % 4]), 0, 5);
		at = reading(&w.m[1], set) - by[i % 4];
		assert_true(llabs(step.time_ns - at) <= step.within_ns + 5);
		assert_int_equal(step.within_ns <= 5, is_known);
		netsync_free(w.ns);
	}
}

static void wrong_ones_are_left_out(void **state)
{
	const int64_t off[] = { 10 * US, -SEC, 3600 * SEC, 90 * US };
	struct errors free_running = alone(31), e;
	uint64_t s = 7;
	struct world w;

	(void)state;
	make_world(&w, 31);
	chrony(&w.m[1], &s);
	tell(&w, 1, 0, SPAN);
	for (int i = 0; i < 4; i++) {
		struct netsync_clock_point p = point_at(&w.m[1], 1,
			raw_time(&w.m[1], SPAN / 5 * (i + 1) + SEC / 3));

		p.raw_ns += off[i];
		assert_int_equal(netsync_push_clock(w.ns, &p), 0);
	}
	talk(&w, 0, SPAN);
	e = solve(&w);
	assert_int_equal(e.outside, 0);
	check_accurate(&w);
	assert_true(e.rms <= 1.5 * free_running.rms + 3);
	netsync_free(w.ns);
}

/* Read ten times a second, to 30 ns, with no rates: steps of 100 ppm are bends. */
static void sample(struct world *w, int64_t from, int64_t to, uint64_t *s)
{
	for (uint32_t host = 0; host < 2; host++)
		for (int64_t t = from; t < to; t += SEC / 10) {
			struct netsync_clock_point p = point_at(&w->m[host], host,
						raw_time(&w->m[host], t));

			p.rate = 0;
			p.within_ns = 30;
			p.raw_ns += below(s, 61) - 30;
			assert_int_equal(netsync_push_clock(w->ns, &p), 0);
		}
}

/* A setting at one end of what is read ten times a second. */
static void set_between_samples(void **state)
{
	const int64_t by[] = { 100 * US, -300 * US, 5000 * US, SEC };
	uint64_t s = 17;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct world w;

		make_world(&w, 91 + i);
		steer(&w.m[1], raw_time(&w.m[1], SPAN / 2) + SEC / 1000, 1, by[i]);
		sample(&w, 0, SPAN, &s);
		talk(&w, 0, SPAN);
		assert_int_equal(netsync_solve(w.ns, NULL), 0);
		assert_int_equal(errors_at(&w, SEC / 100, -SPAN, 0).outside, 0);
		netsync_free(w.ns);
	}
}

/* How many times, from one on, are converted to intervals without the truth? */
static int outside_from(const struct world *w, int64_t from, int64_t to,
			int64_t apart)
{
	uint32_t reference = (uint32_t)netsync_reference(w->ns);
	const struct netsync_clock *c = netsync_host_clock(w->ns, !reference);
	int outside = 0;

	assert_non_null(c);
	for (int64_t t = from; t <= to; t += apart) {
		int64_t truth = reading(&w->m[reference], t), lo, hi;

		assert_int_equal(netsync_interval(c, reading(&w->m[!reference], t),
						  &lo, &hi), 0);
		outside += truth < lo || truth > hi;
	}
	return outside;
}

/*
 * A reference that is set by more than the time between two samples: at an instant of which
 * only these are known, an inverse of its map errs by all that the clock was set by.
 */
static void set_reference_between_samples(void **state)
{
	const struct netsync_options opt = { .size = sizeof(opt),
					     .reference = "a" };
	const int64_t by[] = { SEC / 2, 5 * SEC, 3600 * SEC, -SEC / 2, -5 * SEC };
	const int64_t late[] = { SEC / 1000, SEC / 20, SEC / 10 - SEC / 1000 };
	uint64_t s = 19;

	(void)state;
	for (size_t i = 0; i < 15; i++) {
		const int64_t at = SPAN / 2 + late[i / 5];
		struct world w;

		make_world(&w, 111 + i);
		steer(&w.m[0], raw_time(&w.m[0], at), 1, by[i % 5]);
		sample(&w, 0, SPAN, &s);
		talk(&w, 0, SPAN);
		assert_int_equal(netsync_solve(w.ns, &opt), 0);
		assert_int_equal(outside_from(&w, 0, SPAN - SEC, SEC / 50), 0);
		assert_int_equal(outside_from(&w, at - SEC / 5, at + SEC / 5,
					      10 * US), 0);
		assert_int_equal(outside_from(&w, at - 100 * US, at + 100 * US,
					      7), 0);
		netsync_free(w.ns);
	}
}

/*
 * Times that were shown twice are apart by more on the reference than the clock was set by, if
 * the oscillator is slow, or the clock slewed at once.
 */
static void set_back_and_slow(void **state)
{
	const struct netsync_options opt = { .size = sizeof(opt),
					     .reference = "a" };
	const int64_t by = -60 * SEC;

	(void)state;
	for (int i = 0; i < 3; i++) {
		const int64_t at = SPAN / 2 + SEC / 3;
		struct world w;

		make_world(&w, 131);
		w.m[0].skew = -w.m[0].skew;
		w.m[1].skew = -90 * PPM;
		w.m[1].num = 0;
		steer(&w.m[1], raw_time(&w.m[1], -SEC), 1, 0);
		steer(&w.m[1], raw_time(&w.m[1], at), 1, by);
		if (i)
			steer(&w.m[1], raw_time(&w.m[1], at) + SEC / 2,
			      i == 1 ? 0.97 : 1.03, 0);
		tell(&w, 1, 0, SPAN);
		talk(&w, 0, SPAN);
		assert_int_equal(netsync_solve(w.ns, &opt), 0);
		assert_int_equal(outside_from(&w, 0, SPAN - SEC, SEC / 50), 0);
		assert_int_equal(outside_from(&w, at + by - SEC / 10, at + SEC / 10,
					      SEC / 300), 0);
		netsync_free(w.ns);
	}
}

/*
 * Points tell more than messages do: of settings before the first message, and after the last.
 */
static void set_without_messages(void **state)
{
	const struct netsync_options opt = { .size = sizeof(opt),
					     .reference = "a" };
	const int64_t by[] = { 60 * SEC, -60 * SEC };
	uint64_t s = 23;

	(void)state;
	for (int i = 0; i < 16; i++) {
		/* Just before the end of messages, or long before their begin. */
		const int64_t at = i & 4 ? SPAN / 2 : SPAN / 4;
		const int64_t from = at - 10 * SEC - SEC / 3;
		const int64_t until = at + 100 * SEC;
		struct world w;
		struct machine *m;

		make_world(&w, 151 + i);
		m = &w.m[i & 1];
		steer(m, raw_time(m, at) + SEC / 7, 1, by[i >> 1 & 1]);
		if (i & 8)
			sample(&w, 0, SPAN, &s);
		for (uint32_t host = 0; host < 2 && !(i & 8); host++)
			tell(&w, host, 0, SPAN);
		if (i & 4)
			talk(&w, 0, at + SEC / 2);
		else
			talk(&w, until, SPAN);
		assert_int_equal(netsync_solve(w.ns, &opt), 0);
		assert_int_equal(outside_from(&w, SEC, SPAN - 2 * SEC, SEC / 10), 0);
		assert_int_equal(outside_from(&w, from, until, SEC / 50), 0);
		netsync_free(w.ns);

		if (!(i & 4))
			continue;
		make_world(&w, 171 + i);
		m = &w.m[i & 1];
		steer(m, raw_time(m, at) + SEC / 7, 1, by[i >> 1 & 1]);
		for (uint32_t host = 0; host < 2; host++)
			tell(&w, host, 0, i & 8 ? SPAN : at + SEC);
		talk(&w, 0, from);
		assert_int_equal(netsync_solve(w.ns, &opt), 0);
		assert_int_equal(outside_from(&w, SEC, SPAN - 2 * SEC, SEC / 10), 0);
		netsync_free(w.ns);
	}
}

/* Readings of a much longer time than messages are of: results are of this, and some more. */
static void results_reach_so_far(void **state)
{
	struct netsync_model all = { .size = sizeof(all) },
			     some = { .size = sizeof(some) };
	int64_t ref, bound, middle = SPAN / 2;
	uint64_t s = 29;
	struct world w;

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct netsync_model *m = i ? &some : &all;

		make_world(&w, 61);
		sample(&w, 0, SPAN, &s);
		talk(&w, i ? middle : 0, i ? middle + 10 * SEC : SPAN);
		solve(&w);
		assert_int_equal(netsync_clock_model(netsync_host_clock(w.ns, 1),
						     m), 0);
		if (!i) {
			netsync_free(w.ns);
			continue;
		}
		assert_in_range(m->num_segments, 1, all.num_segments / 2);
		for (int k = 0; k < 2; k++) {
			const int64_t t = k ? m->segments[m->num_segments - 1].to_ns
					    : m->segments[0].from_ns;

			netsync_convert(netsync_host_clock(w.ns, 1),
					t + (k ? -SEC : SEC), &ref, &bound);
			assert_int_not_equal(bound, NETSYNC_UNKNOWN);
			netsync_convert(netsync_host_clock(w.ns, 1),
					t + (k ? SEC : -SEC), &ref, &bound);
			assert_int_equal(bound, NETSYNC_UNKNOWN);
		}
		netsync_free(w.ns);
	}
}

/*
 * Readings that begin some seconds after messages do, or end before them, while a slew goes on
 * in the time that is not read: only that time is wide.
 */
static void readings_are_fewer(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 16; i++) {
		const int64_t less = (2 + (int64_t)(i >> 1)) * SEC;
		const int64_t begin = i & 1 ? less : 0;
		const int64_t end = i & 1 ? SPAN : SPAN - less;
		const int64_t slew = i & 1 ? -SEC : end + SEC / 2;
		uint64_t s = 37 + i;
		struct world w;
		struct machine *m;
		struct errors e;

		make_world(&w, 81 + i);
		m = &w.m[i >> 1 & 1];
		steer(m, raw_time(m, slew), 1 + 500e-6, 0);
		if (i & 1)
			steer(m, raw_time(m, begin - SEC / 2), 1, 0);
		sample(&w, begin, end, &s);
		talk(&w, 0, SPAN);
		e = solve(&w);
		assert_int_equal(e.outside + e.unknown, 0);
		check_accurate(&w);
		e = i & 1 ? errors_at(&w, SEC / 10, 0, begin + SEC)
			  : errors_at(&w, SEC / 10, SPAN, less + SEC);
		assert_true(e.rms < 100);
		netsync_free(w.ns);
	}
}

static void sampled_ones_do(void **state)
{
	struct errors free_running = alone(41), e;
	uint64_t s = 8;
	struct world w;

	(void)state;
	make_world(&w, 41);
	chrony(&w.m[0], &s);
	chrony(&w.m[1], &s);
	sample(&w, 0, SPAN, &s);
	talk(&w, 0, SPAN);
	e = solve(&w);
	print_message("alone %lld / %.0f, sampled %lld / %.0f ns\n",
		      (long long)free_running.max, free_running.rms,
		      (long long)e.max, e.rms);
	assert_int_equal(e.outside, 0);
	check_accurate(&w);
	assert_true(e.rms <= 2 * free_running.rms + 100);
	netsync_free(w.ns);
}

/* Readings that come later than packets, and results all along, as netsync live has them. */
static void late_ones_are_waited_for(void **state)
{
	const int64_t apart = 30 * SEC, lag = 3 * SEC;
	struct netsync_steering told = { .size = sizeof(told) };
	struct netsync_pair_info pair = { .size = sizeof(pair) };
	struct errors e = { 0 }, last;
	uint64_t s = 8, noise = 9;
	struct world w;

	(void)state;
	make_world(&w, 41);
	chrony(&w.m[0], &s);
	chrony(&w.m[1], &s);
	for (int64_t t = 0; t < SPAN; t += apart) {
		/* Beginning before the first packet. */
		sample(&w, t ? t - lag : -SEC, t + apart - lag, &noise);
		talk(&w, t, t + apart);
		for (uint32_t host = 0; host < 2; host++)
			assert_int_equal(netsync_advance(w.ns, host,
				reading(&w.m[host], t + apart - lag)), 0);
		assert_int_equal(netsync_solve(w.ns, NULL), 0);
		for (int64_t at = 0; at < t + apart; at += SEC) {
			uint32_t ref = (uint32_t)netsync_reference(w.ns);
			int64_t got, bound, truth = reading(&w.m[ref], at);

			assert_int_equal(netsync_convert(
				netsync_host_clock(w.ns, !ref),
				reading(&w.m[!ref], at), &got, &bound), 0);
			e.outside += llabs(got - truth) > bound;
			if (at < t + apart - lag && llabs(got - truth) > e.max)
				e.max = llabs(got - truth);
		}
	}
	sample(&w, SPAN - lag, SPAN, &noise);
	for (uint32_t host = 0; host < 2; host++)
		assert_int_equal(netsync_advance(w.ns, host, INT64_MAX), 0);
	last = solve(&w);
	print_message("on the way %lld ns, at the end %lld / %.0f ns\n",
		      (long long)e.max, (long long)last.max, last.rms);
	assert_int_equal(e.outside, 0);
	assert_int_equal(last.outside, 0);
	assert_in_range(last.max, 0, 400);
	/* None of them is used too early, or lost. */
	assert_int_equal(netsync_get_pair(w.ns, 0, &pair), 0);
	assert_true((double)(pair.messages[0] + pair.messages[1]) >
		    0.97 * (double)(2 * RATE * (SPAN / SEC)));
	assert_int_equal(netsync_get_steering(w.ns, 0, &told), 0);
	assert_int_equal(told.until_ns, reading(&w.m[0], SPAN - SEC / 10));
	netsync_free(w.ns);
}

static void a_gap_falls_back(void **state)
{
	uint64_t s = 13;
	struct world w;
	struct errors e;

	(void)state;
	make_world(&w, 51);
	chrony(&w.m[1], &s);
	tell_but(&w, 1, SPAN / 3, SPAN / 2);
	talk(&w, 0, SPAN);
	assert_int_equal(netsync_solve(w.ns, NULL), 0);
	check_steering(&w, 1, SPAN / 6);
	/* Where it is told, it is as good as ever. */
	e = errors_at(&w, SEC / 10, SPAN / 12 * 5, SPAN / 6);
	print_message("beside the gap %lld / %.0f ns\n", (long long)e.max, e.rms);
	assert_in_range(e.max, 0, 20000);
	netsync_free(w.ns);
}

/* As of a recording without packets: there are no spans, but a reference. */
static void nothing_to_correct(void **state)
{
	for (int spans = 0; spans < 3; spans++) {
		int64_t at = EPOCH, got, bound;
		uint64_t s = 5;
		struct world w;

		(void)state;
		make_world(&w, 61);
		sample(&w, 0, 9 * SEC, &s);
		for (int i = 0; i < spans; i++)
			assert_int_equal(netsync_extend_span(w.ns, 0,
				reading(&w.m[0], (2 + 3 * i) * SEC)), 0);
		assert_int_equal(netsync_solve(w.ns, NULL), 0);
		assert_int_equal(netsync_convert(netsync_host_clock(w.ns,
				(uint32_t)netsync_reference(w.ns)), at, &got, &bound), 0);
		assert_int_equal(got, at);
		netsync_free(w.ns);
	}
}

static void senseless_ones_are_refused(void **state)
{
	struct netsync_clock_point p = {
		.size = sizeof(p), .time_ns = EPOCH, .raw_ns = SEC, .rate = 1,
	}, q = p;
	struct netsync *ns = netsync_new();

	(void)state;
	assert_int_equal(netsync_push_clock(ns, &p), -EINVAL);
	netsync_add_host(ns, "a");
	netsync_add_host(ns, "b");
	q.size = 8;
	assert_int_equal(netsync_push_clock(ns, &q), -EINVAL);
	q = p;
	q.rate = -1;
	assert_int_equal(netsync_push_clock(ns, &q), -EINVAL);
	q.rate = NAN;
	assert_int_equal(netsync_push_clock(ns, &q), -EINVAL);
	q = p;
	q.within_ns = -1;
	assert_int_equal(netsync_push_clock(ns, &q), -EINVAL);
	q.within_ns = NETSYNC_MAX_SPAN;
	assert_int_equal(netsync_push_clock(ns, &q), -EINVAL);
	q = p;
	q.time_ns = INT64_MIN;
	assert_int_equal(netsync_push_clock(ns, &q), -ERANGE);
	q = p;
	q.raw_ns = NETSYNC_MAX_TIME;
	assert_int_equal(netsync_push_clock(ns, &q), -ERANGE);
	assert_int_equal(netsync_push_clock(ns, &p), 0);
	q = p;
	q.raw_ns -= NETSYNC_MAX_SPAN + SEC;
	assert_int_equal(netsync_push_clock(ns, &q), -ERANGE);
	/* What is told of a clock, and what the clock shows, are of one time. */
	assert_int_equal(netsync_push_message(ns, 0, 1, EPOCH - FAR, EPOCH),
			 -ERANGE);
	/* A point alone says nothing, and does no harm. */
	assert_int_equal(netsync_push_message(ns, 0, 1, EPOCH, EPOCH + US), 0);
	assert_int_equal(netsync_push_message(ns, 1, 0, EPOCH + SEC,
					      EPOCH + SEC + US), 0);
	q = p;
	q.host = 1;
	q.time_ns -= FAR;
	assert_int_equal(netsync_push_clock(ns, &q), -ERANGE);
	assert_int_equal(netsync_solve(ns, NULL), 0);
	netsync_free(ns);

	ns = netsync_new();
	netsync_add_host(ns, "a");
	netsync_add_host(ns, "b");
	assert_int_equal(netsync_push_message(ns, 0, 1, EPOCH + 5 * SEC,
					      EPOCH + 5 * SEC + US), 0);
	assert_int_equal(netsync_push_clock(ns, &p), -EALREADY);
	assert_string_not_equal(netsync_error(ns), "");
	netsync_free(ns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_go_both_ways),
		cmocka_unit_test(lines_are_thinned),
		cmocka_unit_test(as_if_nobody_steered),
		cmocka_unit_test(told_on_the_way),
		cmocka_unit_test(set_clocks_are_told),
		cmocka_unit_test(lost_ones_cost_their_time),
		cmocka_unit_test(set_when_points_were_lost),
		cmocka_unit_test(a_setting_may_be_lost),
		cmocka_unit_test(wrong_ones_are_left_out),
		cmocka_unit_test(set_between_samples),
		cmocka_unit_test(set_reference_between_samples),
		cmocka_unit_test(set_back_and_slow),
		cmocka_unit_test(set_without_messages),
		cmocka_unit_test(results_reach_so_far),
		cmocka_unit_test(readings_are_fewer),
		cmocka_unit_test(sampled_ones_do),
		cmocka_unit_test(late_ones_are_waited_for),
		cmocka_unit_test(a_gap_falls_back),
		cmocka_unit_test(nothing_to_correct),
		cmocka_unit_test(senseless_ones_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
