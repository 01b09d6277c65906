// SPDX-License-Identifier: GPL-2.0-only
/* Test the callbacks that report packet events and messages. */
#include <errno.h>
#include <string.h>

#include "test.h"

enum { A, B, HOSTS };

#define TOLD 256

struct net {
	struct netsync *ns;
	struct netsync_packet p; /* the next event; tests change its fields */
	struct netsync_packet packet[TOLD];
	size_t packets;
	struct netsync_message message[TOLD];
	size_t messages;
};

static void keep_seen_packet(void *data, const struct netsync_packet *pkt)
{
	struct net *n = data;

	assert_int_equal(pkt->size, sizeof(*pkt));
	assert_true(n->packets < TOLD);
	n->packet[n->packets++] = *pkt;
}

static bool was_packet_reported(const struct net *n, uint32_t host, int64_t time, int dir)
{
	for (size_t i = 0; i < n->packets; i++)
		if (n->packet[i].host == host && n->packet[i].time_ns == time &&
		    n->packet[i].dir == dir)
			return true;
	return false;
}

/* The message is reported after both of its packets. */
static void check_first_message(void *data, const struct netsync_message *msg)
{
	struct net *n = data;

	assert_int_equal(msg->size, sizeof(*msg));
	assert_true(n->messages < TOLD);
	if (msg->protocol) {
		assert_true(was_packet_reported(n, msg->from, msg->send_ns, NETSYNC_OUT));
		assert_true(was_packet_reported(n, msg->to, msg->recv_ns, NETSYNC_IN));
	}
	n->message[n->messages++] = *msg;
}

/* The message is reported with the addresses of its packet. */
static void count_any_message(void *data, const struct netsync_message *msg)
{
	struct net *n = data;

	assert_int_equal(msg->saddr[15], 1);
	assert_int_equal(msg->daddr[15], 2);
	assert_int_equal(msg->daddr[0], (msg->send_ns - EPOCH) / SEC % 7);
	n->messages++;
}

static int setup_watched_net(void **state)
{
	struct net *n = calloc(1, sizeof(*n));

	n->ns = netsync_new();
	assert_int_equal(netsync_add_host(n->ns, "a"), A);
	assert_int_equal(netsync_add_host(n->ns, "b"), B);
	netsync_watch_packets(n->ns, keep_seen_packet, n);
	netsync_watch_messages(n->ns, check_first_message, n);
	n->p = make_tcp_segment();
	*state = n;
	return 0;
}

static int teardown_watched_net(void **state)
{
	struct net *n = *state;

	netsync_free(n->ns);
	free(n);
	return 0;
}

static void push_watched_packet(struct net *n, uint32_t host, int dir, int64_t after)
{
	n->p.host = host;
	n->p.dir = (uint8_t)dir;
	n->p.time_ns = EPOCH + after;
	assert_int_equal(netsync_push_packet(n->ns, &n->p), 0);
}

/* Push a packet that A sends at @after and B receives 50 ns later. */
static void push_packet_through(struct net *n, int64_t after)
{
	push_watched_packet(n, A, NETSYNC_OUT, after);
	push_watched_packet(n, B, NETSYNC_IN, after + 50);
	n->p.tcp.seq += 100;
	n->p.ip_id++;
}

static void solve_watched(struct net *n)
{
	assert_int_equal(netsync_solve(n->ns, NULL), 0);
}

static void test_reported_message(void **state)
{
	struct net *n = *state;
	const struct netsync_message *m = n->message;

	push_packet_through(n, 10);
	solve_watched(n);
	assert_int_equal(n->messages, 1);
	assert_int_equal(m->from, A);
	assert_int_equal(m->to, B);
	assert_int_equal(m->send_ns, EPOCH + 10);
	assert_int_equal(m->recv_ns, EPOCH + 60);
	assert_int_equal(m->fields, NETSYNC_HAS_ADDRS | NETSYNC_HAS_PORTS | NETSYNC_HAS_LEN);
	assert_memory_equal(m->saddr, n->p.saddr, 16);
	assert_memory_equal(m->daddr, n->p.daddr, 16);
	assert_int_equal(m->sport, 40000);
	assert_int_equal(m->dport, 80);
	assert_int_equal(m->protocol, 6);
	assert_int_equal(m->len, 100);
	/* The message is reported only once. */
	solve_watched(n);
	assert_int_equal(n->messages, 1);
}

static void test_pushed_message(void **state)
{
	struct net *n = *state;
	const struct netsync_message *m = n->message;

	assert_int_equal(netsync_push_message(n->ns, B, A, EPOCH, NETSYNC_MAX_TIME), -ERANGE);
	assert_int_equal(n->messages, 0);
	assert_int_equal(netsync_push_message(n->ns, B, A, EPOCH - 7, EPOCH), 0);
	assert_int_equal(n->messages, 1);
	assert_int_equal(m->from, B);
	assert_int_equal(m->to, A);
	assert_int_equal(m->send_ns, EPOCH - 7);
	assert_int_equal(m->recv_ns, EPOCH);
	assert_int_equal(m->fields, 0);
	assert_int_equal(m->protocol, 0);
	solve_watched(n);
	assert_int_equal(n->messages, 1);
}

/* Packets that the library ignores are also reported, but packets that it refuses are not. */
static void test_reported_packets(void **state)
{
	struct net *n = *state;

	push_watched_packet(n, A, NETSYNC_OUT, 1);
	n->p.protocol = 2;
	push_watched_packet(n, A, NETSYNC_IN, 2);
	n->p.protocol = 6;
	n->p.daddr[12] = 127;
	push_watched_packet(n, A, NETSYNC_OUT, 3);
	assert_int_equal(n->packets, 3);
	n->p.time_ns = NETSYNC_MAX_TIME;
	assert_int_equal(netsync_push_packet(n->ns, &n->p), -ERANGE);
	assert_int_equal(n->packets, 3);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(n->packet[i].time_ns, EPOCH + i + 1);
		assert_int_equal(n->packet[i].sport, 40000);
	}
	/* For an older caller, which does not know some members, these members are 0. */
	n->p.time_ns = EPOCH;
	n->p.protocol = 17;
	n->p.size = offsetof(struct netsync_packet, udp.checksum);
	n->p.udp.digest = 7;
	n->p.udp.checksum = 5;
	assert_int_equal(netsync_push_packet(n->ns, &n->p), 0);
	assert_int_equal(n->packet[3].udp.digest, 7);
	assert_int_equal(n->packet[3].udp.checksum, 0);
}

/* While packets are decided, more packets are pushed, and the log grows. */
static void test_on_the_way(void **state)
{
	struct net *n = *state;
	struct netsync_pair_info info = { .size = sizeof(info) };
	const int num = 10000;

	netsync_watch_packets(n->ns, NULL, NULL);
	netsync_watch_messages(n->ns, count_any_message, n);
	for (int i = 0; i < num; i++) {
		n->p.daddr[0] = (uint8_t)(i % 7);
		push_packet_through(n, i * SEC);
		assert_int_equal(netsync_advance(n->ns, A, EPOCH + i * SEC), 0);
		assert_int_equal(netsync_advance(n->ns, B, EPOCH + i * SEC), 0);
	}
	assert_in_range(n->messages, 1, num - 1);
	solve_watched(n);
	assert_int_equal(n->messages, num);
	assert_int_equal(netsync_get_pair(n->ns, 0, &info), 0);
	assert_int_equal(info.messages[0], num);
}

/*
 * For packets that were pushed before the callback was set, everything except the addresses is
 * known.
 */
static void test_asked_late(void **state)
{
	struct net *n = *state;

	netsync_watch_messages(n->ns, NULL, NULL);
	push_packet_through(n, 0);
	netsync_watch_messages(n->ns, check_first_message, n);
	push_packet_through(n, SEC);
	solve_watched(n);
	assert_int_equal(n->messages, 2);
	for (int i = 0; i < 2; i++) {
		bool late = n->message[i].send_ns == EPOCH + SEC;

		assert_int_equal(!!(n->message[i].fields & NETSYNC_HAS_ADDRS), late);
		assert_int_equal(n->message[i].daddr[15], late ? 2 : 0);
		assert_int_equal(n->message[i].dport, 80);
	}
	netsync_watch_messages(n->ns, NULL, NULL);
	push_packet_through(n, 2 * SEC);
	solve_watched(n);
	assert_int_equal(n->messages, 2);
}

#define TEST(t) cmocka_unit_test_setup_teardown(t, setup_watched_net, teardown_watched_net)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_reported_message), TEST(test_pushed_message), TEST(test_reported_packets),
		TEST(test_on_the_way),	     TEST(test_asked_late),
	};

	return cmocka_run_group_tests_name("watch", tests, NULL, NULL);
}
