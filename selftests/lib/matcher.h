/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Test the matcher without the rest of the library: add packet events, and store the messages that
 * it finds.
 */
#ifndef SELFTESTS_MATCHER_H
#define SELFTESTS_MATCHER_H

#include <string.h>

#include "match/match.h"
#include "test.h"

enum { A, B, C, HOSTS };

struct found {
	uint32_t from;
	uint32_t to;
	int64_t send;
	int64_t recv;
};

struct bench {
	struct parallel parallel;
	struct matcher m;
	struct netsync_packet p; /* the next record; tests change its fields */
	struct found *found;
	size_t num;
	size_t room;
};

static inline int keep_found_message(void *arg, uint32_t from, uint32_t to, int64_t send,
				     int64_t recv)
{
	struct bench *b = arg;

	if (b->num == b->room) {
		b->room = b->room * 2 + 64;
		b->found = realloc(b->found, b->room * sizeof(*b->found));
		assert_non_null(b->found);
	}
	b->found[b->num++] = (struct found){ from, to, send, recv };
	return 0;
}

static inline int setup_matcher(void **state)
{
	const struct match_calls calls = { .found = keep_found_message };
	struct bench *b = calloc(1, sizeof(*b));

	parallel_init(&b->parallel);
	matcher_init(&b->m, &calls, b, &b->parallel);
	for (int i = 0; i < HOSTS; i++)
		assert_int_equal(matcher_add_host(&b->m), 0);
	b->p = make_tcp_segment();
	b->p.fields |= NETSYNC_HAS_GSO;
	*state = b;
	return 0;
}

static inline int teardown_matcher(void **state)
{
	struct bench *b = *state;

	matcher_release(&b->m);
	parallel_release(&b->parallel);
	free(b->found);
	free(b);
	return 0;
}

static inline void add_packet_at_host(struct bench *b, uint32_t host, int dir, int64_t time)
{
	b->p.host = host;
	b->p.dir = (uint8_t)dir;
	b->p.time_ns = time;
	assert_int_equal(matcher_add_packet(&b->m, &b->p), 0);
}

/* Send a packet from A to B. */
static inline void add_packet_at_both(struct bench *b, int64_t time)
{
	add_packet_at_host(b, A, NETSYNC_OUT, time);
	add_packet_at_host(b, B, NETSYNC_IN, time + 50);
}

/*
 * Count the records that are stored in all shards, and those that wait for the next round of
 * matching.
 */
static inline uint32_t count_kept_records(const struct matcher *m)
{
	uint32_t num = m->batch[m->filling].all;

	for (int i = 0; i < NETSYNC_SHARDS; i++)
		num += ring_count(&m->shard[i].ring);
	return num;
}

static inline struct match_counts sum_match_counts(const struct matcher *m)
{
	return (struct match_counts){
		.matched = m->past.matched + m->live.matched,
		.nat = m->past.nat + m->live.nat,
		.ambiguous = m->past.ambiguous + m->live.ambiguous,
		.unmatched = m->past.unmatched + m->live.unmatched,
	};
}

static inline void expect_match_counts(struct bench *b, uint64_t matched, uint64_t ambiguous,
				       uint64_t unmatched)
{
	struct match_counts t;

	assert_int_equal(matcher_settle(&b->m), 0);
	t = sum_match_counts(&b->m);
	assert_int_equal(t.matched, matched);
	assert_int_equal(t.ambiguous, ambiguous);
	assert_int_equal(t.unmatched, unmatched);
}

/* Check that the matcher found this message, and remove the message from the list. */
static inline void expect_found_message(struct bench *b, uint32_t from, uint32_t to, int64_t send,
					int64_t recv)
{
	for (size_t i = 0; i < b->num; i++) {
		const struct found *f = &b->found[i];

		if (f->from != from || f->to != to || f->send != send || f->recv != recv)
			continue;
		b->found[i] = b->found[--b->num];
		return;
	}
	fail_msg("no message from %u at %lld to %u at %lld", from, (long long)send, to,
		 (long long)recv);
}

#define TEST(t) cmocka_unit_test_setup_teardown(t, setup_matcher, teardown_matcher)

#endif
