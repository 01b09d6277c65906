// SPDX-License-Identifier: GPL-2.0-only
/* Several objects that share packets find the same messages as one object. */
#include <errno.h>

#include "traffic.h"

#define ALL ((UINT32_C(1) << NETSYNC_SHARDS) - 1)
#define TRANSMISSIONS 30000

struct found {
	uint32_t from;
	uint32_t to;
	int64_t send;
	int64_t recv;
};

struct messages {
	struct found *found;
	size_t num;
	size_t room;
	size_t events; /* number of events that netsync_watch_packets() reported */
};

static void keep_shard_message(void *data, const struct netsync_message *msg)
{
	struct messages *m = data;

	if (m->num == m->room) {
		m->room = m->room * 2 + 1024;
		m->found = realloc(m->found, m->room * sizeof(*m->found));
		assert_non_null(m->found);
	}
	m->found[m->num++] = (struct found){ msg->from, msg->to, msg->send_ns, msg->recv_ns };
}

static void count_shard_packet(void *data, const struct netsync_packet *pkt)
{
	struct messages *m = data;

	assert_true(pkt->host < TRAFFIC_HOSTS);
	m->events++;
}

static int compare_found_bytes(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct found));
}

static void add_shard_stats(struct netsync_stats *sum, const struct netsync_stats *s)
{
	sum->packets += s->packets;
	sum->matched += s->matched;
	sum->unmatched += s->unmatched;
	sum->ambiguous += s->ambiguous;
	sum->nat += s->nat;
	sum->loopback += s->loopback;
	sum->unsupported += s->unsupported;
}

/* Push the packets of some shards. Advance all hosts. */
static void match_some_shards(const struct traffic *traffic, uint32_t shards,
			      struct messages *messages, struct netsync_stats *sum)
{
	const struct netsync_options opt = { .size = sizeof(opt), .method = NETSYNC_METHOD_HULL };
	struct netsync_stats stats = { .size = sizeof(stats) };
	struct netsync *ns = netsync_new();

	for (uint32_t h = 0; h < TRAFFIC_HOSTS; h++)
		assert_int_equal(netsync_add_host(ns, "h"), h);
	assert_int_equal(netsync_keep_shards(ns, shards), 0);
	netsync_watch_messages(ns, keep_shard_message, messages);
	netsync_watch_packets(ns, count_shard_packet, messages);
	for (size_t i = 0; i < traffic->num; i++) {
		const struct netsync_packet *p = &traffic->event[i];

		if (netsync_packet_shards(p) & shards)
			assert_int_equal(netsync_push_packet(ns, p), 0);
		for (uint32_t h = 0; h < TRAFFIC_HOSTS && i % 1000 == 999; h++)
			assert_int_equal(netsync_advance(ns, h,
							 p->time_ns + traffic_read_clock(h, 0) -
								 traffic_read_clock(p->host, SEC)),
					 0);
	}
	assert_int_equal(netsync_solve(ns, &opt), 0);
	netsync_get_stats(ns, &stats);
	add_shard_stats(sum, &stats);
	netsync_free(ns);
}

static void test_shared_out(void **state)
{
	static const uint32_t numbers[] = { 2, 3, 5, 16 };

	(void)state;
	for (uint64_t seed = 1; seed < 4; seed++) {
		struct traffic traffic = traffic_make(seed, TRANSMISSIONS);
		struct messages all = { 0 };
		struct netsync_stats whole = { 0 };

		match_some_shards(&traffic, ALL, &all, &whole);
		assert_true(all.num > TRANSMISSIONS / 2);
		assert_true(whole.ambiguous > 100 && whole.nat > 100);
		assert_int_equal(all.events, traffic.num);
		qsort(all.found, all.num, sizeof(*all.found), compare_found_bytes);
		for (size_t k = 0; k < sizeof(numbers) / sizeof(*numbers); k++) {
			struct messages parts = { 0 };
			struct netsync_stats sum = { 0 };

			for (uint32_t part = 0; part < numbers[k]; part++) {
				uint32_t shards = 0;

				for (uint32_t s = part; s < NETSYNC_SHARDS; s += numbers[k])
					shards |= UINT32_C(1) << s;
				match_some_shards(&traffic, shards, &parts, &sum);
			}
			assert_int_equal(parts.num, all.num);
			qsort(parts.found, parts.num, sizeof(*parts.found), compare_found_bytes);
			assert_memory_equal(parts.found, all.found, all.num * sizeof(*all.found));
			assert_int_equal(parts.events, traffic.num);
			assert_int_equal(whole.packets, traffic.num);
			assert_memory_equal(&sum, &whole, sizeof(sum));
			free(parts.found);
		}
		free(all.found);
		free(traffic.event);
	}
}

/* Each shard has a part of each kind of traffic, and few events belong to several shards. */
static void test_shares_of_shards(void **state)
{
	struct traffic traffic = traffic_make(9, TRANSMISSIONS);
	size_t in[NETSYNC_SHARDS] = { 0 }, several = 0;

	(void)state;
	for (size_t i = 0; i < traffic.num; i++) {
		const uint32_t shards = netsync_packet_shards(&traffic.event[i]);

		assert_true(shards && !(shards & ~ALL));
		several += !!(shards & (shards - 1));
		for (int s = 0; s < NETSYNC_SHARDS; s++)
			in[s] += shards >> s & 1;
	}
	assert_true(several > 100 && several < traffic.num / 10);
	for (int s = 0; s < NETSYNC_SHARDS; s++) {
		assert_true(in[s] > traffic.num / NETSYNC_SHARDS / 2);
		assert_true(in[s] < traffic.num / NETSYNC_SHARDS * 2);
	}
	free(traffic.event);
}

/* Packets of kinds that are not matched are counted only once as well. */
static void test_not_matched(void **state)
{
	struct netsync_packet p = make_tcp_segment();
	uint32_t shards = netsync_packet_shards(&p);

	(void)state;
	assert_true(shards && !(shards & (shards - 1)));
	p.protocol = 47;
	shards = netsync_packet_shards(&p);
	assert_true(shards && !(shards & (shards - 1)));
	p.size = 4;
	assert_int_equal(netsync_packet_shards(&p), 0);
}

static void test_errors_of_shards(void **state)
{
	struct netsync *ns = netsync_new();
	struct netsync_packet p = make_tcp_segment();

	(void)state;
	assert_int_equal(netsync_add_host(ns, "a"), 0);
	assert_int_equal(netsync_keep_shards(ns, 0), -EINVAL);
	assert_int_equal(netsync_keep_shards(ns, 1 << NETSYNC_SHARDS), -EINVAL);
	assert_string_not_equal(netsync_error(ns), "");
	/* A packet of another shard is ignored, and the set of shards can still be changed. */
	assert_int_equal(netsync_keep_shards(ns, ALL & ~netsync_packet_shards(&p)), 0);
	assert_int_equal(netsync_push_packet(ns, &p), 0);
	assert_int_equal(netsync_keep_shards(ns, ALL), 0);
	assert_int_equal(netsync_push_packet(ns, &p), 0);
	assert_int_equal(netsync_keep_shards(ns, 1), -EALREADY);
	netsync_free(ns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shared_out),
		cmocka_unit_test(test_shares_of_shards),
		cmocka_unit_test(test_not_matched),
		cmocka_unit_test(test_errors_of_shards),
	};

	return cmocka_run_group_tests_name("shards", tests, NULL, NULL);
}
