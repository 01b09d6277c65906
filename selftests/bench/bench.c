// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a message and a packet event cost, beside sorting the same data by time
 * with qsort() in the same run: any tool that merges traces does at least that.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "netsync.h"

#define EPOCH INT64_C(1700000000000000000)

struct message {
	int64_t send;
	int64_t recv;
	int back;
};

static uint64_t state = 1;

static double uniform(void)
{
	uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return ((double)((z ^ z >> 31) >> 11) + 0.5) * 0x1p-53;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static long peak_kib(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_maxrss;
}

static void die(const char *what)
{
	fprintf(stderr, "bench: %s\n", what);
	exit(1);
}

/* An hour between two hosts, 30 us + exponential 100 us, in order of time. */
static struct message *make_messages(long n)
{
	struct message *m = malloc((size_t)n * sizeof(*m));

	if (!m)
		die("not enough memory");
	for (long i = 0; i < n; i++) {
		int64_t t = EPOCH + (int64_t)((double)i / (double)n * 3600e9);
		int64_t d = (int64_t)(30e3 - 100e3 * log(uniform()));

		m[i].back = uniform() < 0.5;
		m[i].send = t + (m[i].back ? 7000000 : 0);
		m[i].recv = t + d + (m[i].back ? 0 : 7000000);
	}
	return m;
}

static int by_recv(const void *a, const void *b)
{
	const struct message *p = a, *q = b;

	return p->recv < q->recv ? -1 : p->recv > q->recv;
}

static struct netsync *two_hosts(void)
{
	struct netsync *ns = netsync_new();

	if (!ns || netsync_add_host(ns, "a") || netsync_add_host(ns, "b") != 1)
		die("not enough memory");
	return ns;
}

static double solve_messages(const struct message *m, long n)
{
	struct netsync *ns = two_hosts();
	double t = now();

	for (long i = 0; i < n; i++)
		if (netsync_push_message(ns, (uint32_t)m[i].back, !m[i].back,
					 m[i].send, m[i].recv))
			die(netsync_error(ns));
	if (netsync_solve(ns, NULL))
		die(netsync_error(ns));
	t = now() - t;
	netsync_free(ns);
	return t;
}

static void push(struct netsync *ns, const struct message *m, long i, int dir)
{
	struct netsync_packet p = {
		.size = sizeof(p),
		.host = (uint32_t)(dir == NETSYNC_OUT ? m->back : !m->back),
		.time_ns = dir == NETSYNC_OUT ? m->send : m->recv,
		.fields = NETSYNC_HAS_ADDRS | NETSYNC_HAS_PORTS |
			  NETSYNC_HAS_IP_ID | NETSYNC_HAS_LEN,
		.saddr = { [10] = 0xff, 0xff, 10, 0, 0, (uint8_t)m->back },
		.daddr = { [10] = 0xff, 0xff, 10, 0, 0, !m->back },
		.sport = m->back ? 80 : 40000,
		.dport = m->back ? 40000 : 80,
		.dir = (uint8_t)dir,
		.protocol = 6,
		.ip_id = (uint16_t)i,
		.seq = (uint32_t)i * 1448,
		.ack = (uint32_t)i * 100,
		.flags = 0x8010,
		.len = 1448,
	};

	if (netsync_push_packet(ns, &p))
		die(netsync_error(ns));
}

static double match_packets(const struct message *m, long n)
{
	struct netsync *ns = two_hosts();
	struct netsync_stats s = { .size = sizeof(s) };
	double t = now();

	for (long i = 0; i < n; i++) {
		push(ns, &m[i], i, NETSYNC_OUT);
		push(ns, &m[i], i, NETSYNC_IN);
		if (i % 1000 == 999 &&
		    (netsync_advance(ns, 0, m[i].send - 7000000) ||
		     netsync_advance(ns, 1, m[i].send)))
			die(netsync_error(ns));
	}
	if (netsync_solve(ns, NULL))
		die(netsync_error(ns));
	t = now() - t;
	if (netsync_get_stats(ns, &s) || s.matched != 2 * (uint64_t)n)
		die("not every packet was matched");
	netsync_free(ns);
	return t;
}

static void line(const char *what, long n, double t, double reference)
{
	printf("%-24s %10ld %8.0f ns each %8.2f x qsort %8ld MiB peak\n", what,
	       n, t * 1e9 / (double)n, t / reference, peak_kib() / 1024);
}

int main(void)
{
	const long sizes[] = { 1000000, 4000000 };

	for (int i = 0; i < 2; i++) {
		long n = sizes[i];
		struct message *m = make_messages(n);
		double solve = solve_messages(m, n), match, sort;

		match = match_packets(m, n);
		sort = now();
		qsort(m, (size_t)n, sizeof(*m), by_recv);
		sort = now() - sort;
		free(m);
		line("sort messages", n, sort, sort);
		line("estimate messages", n, solve, sort);
		line("match packet events", 2 * n, match, sort);
	}
	return 0;
}
