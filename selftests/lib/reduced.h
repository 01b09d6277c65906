/* SPDX-License-Identifier: GPL-2.0-only */
/* Hosts and pairs with known clocks, for tests of each step of reduction. */
#ifndef SELFTESTS_REDUCED_H
#define SELFTESTS_REDUCED_H

#include <string.h>

#include "messages.h"
#include "reduce/reduce.h"
#include "reduce/span.h"

enum { REDUCED_HOSTS = 4 };

/* The clock of host h + 1 is a second ahead of that of host h. The hosts' names are d, c, b, a. */
struct reduced {
	struct pairs ps;
	struct host host[REDUCED_HOSTS];
	struct estimate est[REDUCED_HOSTS * REDUCED_HOSTS];
	struct task task;
};

/* Two hosts exchange a message in each direction once a second, for @seconds seconds. */
static inline void reduced_add_talk(struct reduced *r, uint32_t a, uint32_t b, int seconds,
				    int64_t delay)
{
	const int64_t ahead[] = { a * SEC, b * SEC };

	for (int i = 0; i < seconds; i++) {
		const int64_t t = i * SEC;

		add_message(&r->ps, a, b, t + ahead[0], t + ahead[1] + delay);
		add_message(&r->ps, b, a, t + ahead[1] + SEC / 2, t + ahead[0] + SEC / 2 + delay);
	}
}

static inline void reduced_init(struct reduced *r, enum netsync_method method)
{
	static char *const names[REDUCED_HOSTS] = { "d", "c", "b", "a" };

	*r = (struct reduced){
		.task = { .method = method_find(method),
			  .drift = 1e-16,
			  .limits = limits_of_clocks(500e-6, 1e-16, 0),
			  .reference = NO_HOST },
	};
	for (int h = 0; h < REDUCED_HOSTS; h++)
		r->host[h] = (struct host){
			.name = names[h],
			.origin = EPOCH,
			.first = h * SEC,
			.last = (h + 100) * SEC,
			.said = { INT64_MAX, INT64_MIN },
		};
}

/* Call this function after all messages were added. */
static inline void reduced_estimate(struct reduced *r)
{
	assert_int_equal(pairs_settle(&r->ps), 0);
	for (size_t i = 0; i < r->ps.num; i++)
		r->task.method->estimate(&r->est[i], r->ps.pair[i], r->task.limits.slope);
	assert_int_equal(
		spans_set(r->host, REDUCED_HOSTS, r->ps.pair, r->ps.num, r->task.limits.slope), 0);
}

static inline void reduced_run(struct reduced *r)
{
	reduced_estimate(r);
	assert_int_equal(reduce(r->host, REDUCED_HOSTS, r->est, (uint32_t)r->ps.num, &r->task), 0);
}

static inline void reduced_release(struct reduced *r)
{
	for (int h = 0; h < REDUCED_HOSTS; h++)
		host_clear(&r->host[h]);
	pairs_release(&r->ps);
}

/* Check whether a host has a claimed bound. */
static inline void reduced_check_claim(const struct host *h, bool claimed)
{
	assert_int_equal(h->quality, claimed ? NETSYNC_ACCURATE : NETSYNC_APPROXIMATE);
	assert_int_equal(h->bound_max == NETSYNC_UNKNOWN, !claimed);
}

#endif
