// SPDX-License-Identifier: GPL-2.0-only
/*
 * Saving parts and merging them must give the same object as pushing everything, bit by bit.
 * Invalid data must be refused.
 */
#include <errno.h>
#include <stdio.h>

#include "traffic.h"

#define PARTS 3
#define TRANSMISSIONS 6000
#define STEERED 1 /* the host whose clock is reported */

struct bytes {
	uint8_t *at;
	size_t num;
};

static int append_saved_part(void *data, const void *bytes, size_t size)
{
	struct bytes *b = data;

	b->at = realloc(b->at, b->num + size);
	assert_non_null(b->at);
	memcpy(b->at + b->num, bytes, size);
	b->num += size;
	return 0;
}

/* Push a reading of one clock for each second. Every part has all readings. */
static void push_steering_points(struct netsync *ns, const struct traffic *traffic)
{
	const int64_t end = traffic->event[traffic->num - 1].time_ns;

	for (int64_t t = EPOCH; t < end + 20 * SEC; t += SEC) {
		const struct netsync_clock_point p = {
			.size = sizeof(p),
			.host = STEERED,
			.time_ns = t,
			.raw_ns = t - EPOCH,
			.rate = 1,
		};

		assert_int_equal(netsync_push_clock(ns, &p), 0);
	}
}

/* Make a part that has only some shards and adds hosts in an order of its own. */
static struct netsync *push_shards_of_traffic(const struct traffic *traffic, uint32_t shards,
					      bool steered)
{
	struct netsync *ns = netsync_new();
	char name[8];

	for (uint32_t h = 0; h < TRAFFIC_HOSTS; h++) {
		snprintf(name, sizeof(name), "h%u", h);
		assert_int_equal(netsync_add_host(ns, name), h);
	}
	if (steered)
		push_steering_points(ns, traffic);
	assert_int_equal(netsync_keep_shards(ns, shards), 0);
	for (size_t i = 0; i < traffic->num; i++) {
		const struct netsync_packet *p = &traffic->event[i];

		assert_int_equal(netsync_push_packet(ns, p), 0);
		for (uint32_t h = 0; h < TRAFFIC_HOSTS && i % 1000 == 999; h++)
			assert_int_equal(netsync_advance(ns, h,
							 p->time_ns + traffic_read_clock(h, 0) -
								 traffic_read_clock(p->host, SEC)),
					 0);
	}
	for (uint32_t h = 0; h < TRAFFIC_HOSTS; h++)
		assert_int_equal(netsync_advance(ns, h, INT64_MAX), 0);
	return ns;
}

static void assert_same_clocks(const struct netsync *a, const struct netsync *b)
{
	assert_int_equal(netsync_num_hosts(a), netsync_num_hosts(b));
	assert_int_equal(netsync_reference(a), netsync_reference(b));
	for (uint32_t h = 0; h < netsync_num_hosts(a); h++) {
		struct netsync_host_info i = { .size = sizeof(i) }, j = i;
		struct netsync_model m = { .size = sizeof(m) }, n = m;

		assert_int_equal(netsync_get_host(a, h, &i), 0);
		assert_int_equal(netsync_get_host(b, h, &j), 0);
		assert_string_equal(i.name, j.name);
		i.name = j.name = NULL;
		assert_memory_equal(&i, &j, sizeof(i));
		assert_int_equal(netsync_clock_model(netsync_host_clock(a, h), &m), 0);
		assert_int_equal(netsync_clock_model(netsync_host_clock(b, h), &n), 0);
		assert_int_equal(m.num_segments, n.num_segments);
		assert_int_equal(m.num_knots, n.num_knots);
		assert_memory_equal(m.segments, n.segments, m.num_segments * sizeof(*m.segments));
		assert_memory_equal(m.knots, n.knots, m.num_knots * sizeof(*m.knots));
		for (int d = 0; d < 2; d++) {
			struct netsync_stack s = { .size = sizeof(s) }, t = s;

			assert_int_equal(netsync_get_stack(a, h, d, &s), 0);
			assert_int_equal(netsync_get_stack(b, h, d, &t), 0);
			assert_memory_equal(&s, &t, sizeof(s));
		}
	}
}

/* Compare all results, including the decisions about the events of each pair. */
static void assert_same_pairs(const struct netsync *a, const struct netsync *b)
{
	assert_int_equal(netsync_num_pairs(a), netsync_num_pairs(b));
	for (uint32_t i = 0; i < netsync_num_pairs(a); i++) {
		struct netsync_pair_info p = { .size = sizeof(p) }, q = p;

		assert_int_equal(netsync_get_pair(a, i, &p), 0);
		assert_int_equal(netsync_get_pair(b, i, &q), 0);
		assert_memory_equal(&p, &q, sizeof(p));
		assert_true(q.matched > 0);
	}
}

/* The counts of events of all parts. */
struct counts {
	struct netsync_stats stats;
	uint64_t matched, ambiguous, unmatched; /* sums over all pairs */
};

static void add_netsync_counts(struct counts *sum, const struct netsync *ns)
{
	struct netsync_stats s = { .size = sizeof(s) };

	assert_int_equal(netsync_get_stats(ns, &s), 0);
	sum->stats.packets += s.packets;
	sum->stats.matched += s.matched;
	sum->stats.unmatched += s.unmatched;
	sum->stats.ambiguous += s.ambiguous;
	sum->stats.loopback += s.loopback;
	sum->stats.unsupported += s.unsupported;
	sum->stats.nat += s.nat;
	sum->stats.evicted += s.evicted;
	for (uint32_t i = 0; i < netsync_num_pairs(ns); i++) {
		struct netsync_pair_info p = { .size = sizeof(p) };

		assert_int_equal(netsync_get_pair(ns, i, &p), 0);
		sum->matched += p.matched;
		sum->ambiguous += p.ambiguous;
		sum->unmatched += p.unmatched;
	}
}

/* Save an object. Some objects were solved before they are saved. */
static struct bytes save_with_counts(struct netsync *ns, struct counts *sum)
{
	static const struct netsync_options opt = { .size = sizeof(opt),
						    .method = NETSYNC_METHOD_HULL };
	struct bytes b = { 0 };

	if (sum) {
		assert_int_equal(netsync_solve(ns, &opt), 0);
		add_netsync_counts(sum, ns);
	}
	assert_int_equal(netsync_save_messages(ns, append_saved_part, &b), 0);
	netsync_free(ns);
	return b;
}

static void check_orders(const struct traffic *traffic, bool steered)
{
	struct netsync *all = push_shards_of_traffic(traffic, (1 << NETSYNC_SHARDS) - 1, steered);
	struct counts sum_of_parts = { 0 }, of_all = { 0 };
	struct bytes part[PARTS];

	assert_int_equal(netsync_solve(all, NULL), 0);
	add_netsync_counts(&of_all, all);
	for (uint32_t k = 0; k < PARTS; k++) {
		uint32_t shards = 0;

		for (uint32_t s = k; s < NETSYNC_SHARDS; s += PARTS)
			shards |= UINT32_C(1) << s;
		part[k] = save_with_counts(push_shards_of_traffic(traffic, shards, steered),
					   &sum_of_parts);
	}
	for (uint32_t first = 0; first < PARTS; first++) {
		struct netsync *sum = netsync_new();
		struct counts counts = { 0 };

		for (uint32_t k = 0; k < PARTS; k++) {
			const struct bytes *b = &part[(first + (first + 1) * k) % PARTS];

			if (first == 2 && k)
				b = &part[k - 1];
			assert_int_equal(netsync_merge_messages(sum, b->at, b->num), 0);
		}
		for (uint32_t h = 0; h < TRAFFIC_HOSTS; h++)
			assert_int_equal(netsync_advance(sum, h, INT64_MAX), 0);
		assert_int_equal(netsync_solve(sum, NULL), 0);
		assert_same_clocks(all, sum);
		assert_same_pairs(all, sum);
		add_netsync_counts(&counts, sum);
		assert_memory_equal(&counts, &sum_of_parts, sizeof(counts));
		assert_memory_equal(&counts, &of_all, sizeof(counts));
		netsync_free(sum);
	}
	for (uint32_t k = 0; k < PARTS; k++)
		free(part[k].at);
	netsync_free(all);
}

static void test_any_order(void **state)
{
	struct traffic traffic = traffic_make(5, TRANSMISSIONS);

	(void)state;
	check_orders(&traffic, false);
	free(traffic.event);
}

static void test_saved_steering(void **state)
{
	struct traffic traffic = traffic_make(6, TRANSMISSIONS);

	(void)state;
	check_orders(&traffic, true);
	free(traffic.event);
}

/*
 * If saved data are changed or truncated, merging them either fails and does not change the object,
 * or adds a valid part.
 */
static void test_hostile_bytes(void **state)
{
	struct traffic traffic = traffic_make(7, 300);
	struct bytes b = save_with_counts(
		push_shards_of_traffic(&traffic, (1 << NETSYNC_SHARDS) - 1, true), NULL);
	uint64_t seed = 1;
	int refused = 0;

	(void)state;
	for (int i = 0; i < 4000; i++) {
		struct netsync *ns = netsync_new();
		const size_t at = (size_t)draw_integer_below(&seed, (int64_t)b.num);
		const uint8_t was = b.at[at];

		b.at[at] = (uint8_t)draw_random64(&seed);
		if (netsync_merge_messages(ns, b.at, i % 4 ? b.num : at)) {
			assert_string_not_equal(netsync_error(ns), "");
			assert_int_equal(netsync_num_hosts(ns), 0);
			refused++;
		} else if (i % 16 == 1) {
			netsync_solve(ns, NULL);
		}
		b.at[at] = was;
		netsync_free(ns);
	}
	assert_true(refused > 1000);
	free(b.at);
	free(traffic.event);
}

static int refuse_to_write(void *data, const void *bytes, size_t size)
{
	(void)data;
	(void)bytes;
	(void)size;
	return -ENOSPC;
}

static void test_errors_of_merging(void **state)
{
	struct traffic traffic = traffic_make(8, 300);
	struct netsync *ns = push_shards_of_traffic(&traffic, (1 << NETSYNC_SHARDS) - 1, false);
	struct netsync *other = netsync_new();
	struct bytes b = { 0 };

	(void)state;
	assert_int_equal(netsync_save_messages(ns, refuse_to_write, NULL), -ENOSPC);
	assert_int_equal(netsync_save_messages(ns, append_saved_part, &b), 0);
	netsync_add_host(other, "h1");
	netsync_add_host(other, "h0");
	assert_int_equal(netsync_merge_messages(other, b.at, b.num), -EINVAL);
	assert_int_equal(netsync_num_hosts(other), 2);
	assert_string_not_equal(netsync_error(other), "");
	b.at[16]++;
	assert_int_equal(netsync_merge_messages(other, b.at, b.num), -EPROTO);
	assert_int_equal(netsync_merge_messages(other, b.at + 1, b.num - 1), -EBADMSG);
	free(b.at);
	netsync_free(other);
	netsync_free(ns);
	free(traffic.event);
}

/*
 * What solving leaves behind is saved, too: a direction without messages, and stamps that were
 * rounded up to their resolution.
 */
static void test_after_solve(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		struct netsync *ns = netsync_new(), *copy = netsync_new();
		const int64_t resolution = i & 2 ? 1000 * US : 1;
		struct bytes b;

		assert_int_equal(netsync_add_host(ns, "a"), 0);
		assert_int_equal(netsync_add_host(ns, "b"), 1);
		for (int64_t k = 0; k < 200; k++) {
			const int64_t t = EPOCH + k * 77777777;
			const int64_t send = t - t % resolution, late = t + 300 * US;
			const bool back = i & 1 && k & 1;

			assert_int_equal(netsync_push_message(ns, back, !back, send,
							      late - late % resolution),
					 0);
		}
		assert_int_equal(netsync_solve(ns, NULL), 0);
		b = save_with_counts(ns, NULL);
		assert_int_equal(netsync_merge_messages(copy, b.at, b.num), 0);
		assert_int_equal(netsync_solve(copy, NULL), 0);
		free(b.at);
		netsync_free(copy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_order),	  cmocka_unit_test(test_saved_steering),
		cmocka_unit_test(test_after_solve),	  cmocka_unit_test(test_hostile_bytes),
		cmocka_unit_test(test_errors_of_merging),
	};

	return cmocka_run_group_tests_name("save", tests, NULL, NULL);
}
