/* SPDX-License-Identifier: GPL-2.0-only */
/* Messages between hosts with known clocks, for tests of later stages. */
#ifndef SELFTESTS_MESSAGES_H
#define SELFTESTS_MESSAGES_H

#include "message/message.h"
#include "test.h"

/* Add a message; its times are relative to EPOCH. */
static inline void add_message(struct pairs *ps, uint32_t from, uint32_t to, int64_t sent,
			       int64_t received)
{
	const struct endpoint a = { .host = from, .origin = EPOCH, .t = sent };
	const struct endpoint b = { .host = to, .origin = EPOCH, .t = received };

	assert_int_equal(pairs_add(ps, &a, &b), 0);
}

/*
 * Once a second, for @seconds seconds, host 0 sends a request and host 1 sends a response. Each
 * message takes between @delay and 2 @delay. The clock of host 1 is @ahead of the clock of host 0.
 */
static inline void add_talk_of_two(struct pairs *ps, int seconds, int64_t ahead, int64_t delay)
{
	uint64_t seed = 7;

	for (int i = 0; i < seconds; i++) {
		const int64_t t = i * SEC + SEC / 2;

		add_message(ps, 0, 1, t, t + ahead + delay + draw_integer_below(&seed, delay));
		add_message(ps, 1, 0, t + ahead + SEC / 4,
			    t + SEC / 4 + delay + draw_integer_below(&seed, delay));
	}
	assert_int_equal(pairs_settle(ps), 0);
	assert_int_equal(ps->num, 1);
}

#endif
