/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two hosts with steered and stepped clocks, and the messages between them, for tests of
 * netsync_push_clock().
 */
#ifndef SELFTESTS_STEERED_H
#define SELFTESTS_STEERED_H

#include <string.h>

#include "test.h"

/* Duration of the messages, and messages per second in each direction. Chosen. */
#define SPAN (900 * SEC)
#define RATE 40
/* Minimum delay and mean excess delay, ns, as on a LAN. Chosen. */
#define DELAY 30000
#define MEAN 100e3
/* Maximum number of changes of a clock: enough for those of chronyd over SPAN. */
#define MOST_CHANGES 4096
#define PPM 1e-6

/* An oscillator, and the steering of its clock by a daemon. */
struct machine {
	double skew; /* skew of the oscillator */
	int64_t offset;
	/* The rate of the clock relative to raw time applies from change[i] on, a raw time. */
	int64_t change[MOST_CHANGES];
	double rate[MOST_CHANGES];
	int64_t shown[MOST_CHANGES]; /* the clock's readings at these times */
	bool set[MOST_CHANGES];
	size_t num;
};

static inline int64_t compute_raw_time(const struct machine *m, int64_t t)
{
	return 77 * SEC + t + llround(m->skew * (double)t);
}

/* Return the reading of the clock at a raw time. */
static inline int64_t read_clock_at_raw(const struct machine *m, int64_t raw)
{
	size_t i = m->num - 1;

	while (i > 0 && m->change[i] > raw)
		i--;
	return m->shown[i] + (raw - m->change[i]) +
	       llround((m->rate[i] - 1) * (double)(raw - m->change[i]));
}

static inline int64_t read_clock_at_time(const struct machine *m, int64_t t)
{
	return read_clock_at_raw(m, compute_raw_time(m, t));
}

static inline void steer_clock(struct machine *m, int64_t raw, double rate, int64_t set_by)
{
	int64_t at = m->num ? read_clock_at_raw(m, raw) : EPOCH + m->offset;

	assert_true(m->num < MOST_CHANGES);
	m->change[m->num] = raw;
	m->rate[m->num] = rate;
	m->shown[m->num] = at + set_by;
	m->set[m->num++] = set_by;
}

/*
 * Slew the clock as chronyd does: each slew lasts some seconds, and then the clock runs at its own
 * rate.
 */
static inline void steer_like_chrony(struct machine *m, uint64_t *s)
{
	for (int64_t raw = compute_raw_time(m, 0); raw < compute_raw_time(m, SPAN);) {
		double own = 1 + (draw_between_0_and_1(s) - 0.5) * 10 * PPM;

		steer_clock(m, raw, own + (draw_between_0_and_1(s) - 0.5) * 200 * PPM, 0);
		raw += SEC / 2 + draw_integer_below(s, 7 * SEC);
		steer_clock(m, raw, own, 0);
		raw += 8 * SEC + draw_integer_below(s, 48 * SEC);
	}
}

struct world {
	struct netsync *ns;
	struct machine m[2];
	uint64_t seed;
};

static inline void make_steered_world(struct world *w, uint64_t seed)
{
	memset(w, 0, sizeof(*w));
	w->seed = seed;
	w->ns = netsync_new();
	for (int i = 0; i < 2; i++) {
		struct machine *m = &w->m[i];

		m->skew = (i ? 30 : -20) * PPM;
		m->offset = i * 3 * SEC;
		steer_clock(m, compute_raw_time(m, -SEC), 1, 0);
		assert_int_equal(netsync_add_host(w->ns, i ? "b" : "a"), i);
	}
}

static inline struct netsync_clock_point make_clock_point(const struct machine *m, uint32_t host,
							  int64_t raw)
{
	struct netsync_clock_point p = {
		.size = sizeof(p),
		.host = host,
		.raw_ns = raw,
		.time_ns = read_clock_at_raw(m, raw),
	};

	for (size_t i = 0; i < m->num; i++)
		if (m->change[i] <= raw) {
			p.rate = m->rate[i];
			p.was_set = m->change[i] == raw && m->set[i];
		}
	return p;
}

/* Push a reading at each change, and one every second, as the kernel module does. */
static inline void push_all_changes(struct world *w, uint32_t host, int64_t from, int64_t to)
{
	const struct machine *m = &w->m[host];

	for (int64_t raw = compute_raw_time(m, from); raw < compute_raw_time(m, to); raw += SEC) {
		const struct netsync_clock_point p = make_clock_point(m, host, raw);

		assert_int_equal(netsync_push_clock(w->ns, &p), 0);
	}
	for (size_t i = 0; i < m->num; i++) {
		const struct netsync_clock_point p = make_clock_point(m, host, m->change[i]);

		if (m->change[i] >= compute_raw_time(m, from) &&
		    m->change[i] < compute_raw_time(m, to))
			assert_int_equal(netsync_push_clock(w->ns, &p), 0);
	}
}

/* Push all readings of a host's clock, except those within a window. */
static inline void push_changes_with_losses(struct world *w, uint32_t host, int64_t from,
					    int64_t to)
{
	push_all_changes(w, host, 0, from);
	push_all_changes(w, host, to, SPAN);
}

/* Push a reading without a rate, with an error of up to @error that is reported as @within. */
static inline void push_sampled_reading(struct world *w, uint32_t host, int64_t t, int64_t within,
					int64_t error, uint64_t *s)
{
	struct netsync_clock_point p = make_clock_point(&w->m[host], host,
							compute_raw_time(&w->m[host], t));

	p.rate = 0;
	p.within_ns = within;
	p.raw_ns += draw_integer_below(s, 2 * error + 1) - error;
	assert_int_equal(netsync_push_clock(w->ns, &p), 0);
}

/*
 * Push ten readings per second without rates. Each has an error of up to 30 ns, and rate steps of
 * 100 ppm appear as curvature.
 */
static inline void push_sampled_readings(struct world *w, int64_t from, int64_t to, uint64_t *s)
{
	for (uint32_t host = 0; host < 2; host++)
		for (int64_t t = from; t < to; t += SEC / 10)
			push_sampled_reading(w, host, t, 30, 30, s);
}

static inline void exchange_messages(struct world *w, int64_t from, int64_t to)
{
	for (int64_t t = from; t < to; t += SEC / RATE) {
		int64_t at = t + draw_integer_below(&w->seed, SEC / RATE);
		int64_t late = at + DELAY + (int64_t)draw_from_exponential(&w->seed, MEAN);
		int way = (int)(draw_random64(&w->seed) & 1);

		for (int i = 0; i < 2; i++, way = !way)
			assert_int_equal(netsync_push_message(w->ns, way, !way,
							      read_clock_at_time(&w->m[way], at),
							      read_clock_at_time(&w->m[!way],
										 late)),
					 0);
	}
}

struct errors {
	double rms;
	int64_t max;
	int outside;
	int unknown;
};

/* Measure the errors of b relative to a's clock. Ignore times within @margin of @except. */
static inline struct errors measure_errors(const struct world *w, int64_t apart, int64_t except,
					   int64_t margin)
{
	uint32_t reference = (uint32_t)netsync_reference(w->ns);
	const struct netsync_clock *c = netsync_host_clock(w->ns, !reference);
	struct errors e = { 0 };
	int n = 0;

	assert_non_null(c);
	for (int64_t t = 0; t <= SPAN - SEC; t += apart) {
		int64_t truth = read_clock_at_time(&w->m[reference], t), got, bound;

		if (llabs(t - except) < margin)
			continue;
		assert_int_equal(netsync_convert(c, read_clock_at_time(&w->m[!reference], t), &got,
						 &bound),
				 0);
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

static inline struct errors solve_and_measure(struct world *w)
{
	assert_int_equal(netsync_solve(w->ns, NULL), 0);
	return measure_errors(w, SEC / 10, -SPAN, 0);
}

static inline void check_accurate(const struct world *w)
{
	for (uint32_t i = 0; i < 2; i++) {
		struct netsync_host_info info = { .size = sizeof(info) };

		assert_int_equal(netsync_get_host(w->ns, i, &info), 0);
		assert_int_equal(info.quality, NETSYNC_ACCURATE);
	}
}

/* Check what the result reports on the steering of a host. */
static inline void check_steering(const struct world *w, uint32_t host, int64_t unknown)
{
	struct netsync_steering info = { .size = sizeof(info) };
	const struct machine *m = &w->m[host];
	double lo = INFINITY, hi = -INFINITY;

	for (size_t i = 0; i < m->num; i++) {
		if (m->change[i] > compute_raw_time(m, SPAN - 2 * SEC))
			break;
		lo = fmin(lo, (m->rate[i] - 1) / PPM);
		hi = fmax(hi, (m->rate[i] - 1) / PPM);
	}
	assert_int_equal(netsync_get_steering(w->ns, host, &info), 0);
	assert_true(info.points > 0);
	/* The first line begins before the first observation. */
	assert_true(info.min_ppm >= lo - 1e-6 && info.min_ppm <= lo + 20);
	assert_true(info.max_ppm <= hi + 1e-6 && info.max_ppm >= hi - 20);
	assert_in_range(llabs(info.unknown_ns - unknown), 0, 3 * SEC);
}

#endif
