// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measure the cost of a packet event, with few hosts and with many. Compare it with the cost of
 * sorting as many messages by time with qsort(), because any tool that merges traces sorts at
 * least. The memory is what the library allocates, without its input. text.c measures the cost of
 * messages.
 *
 * The second part measures how much faster two threads are than one: when they match packets, and
 * when they estimate the clocks of many hosts. Runs with one and two threads alternate, and the
 * fastest of each is used, because other programs may run at the same time. The clocks of all runs
 * must be equal. With --threads, only this part runs.
 *
 * With --stream HOURS, ten hosts send 10,000 packets per second for this time.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster.h"
#include "digest.h"
#include "measure.h"
#include "netsync.h"

#define SORTED 1000000
#define RUNS 3 /* number of runs; the fastest is used */

struct job {
	int hosts;
	long messages;
	bool packets; /* push packets instead of messages */
	enum netsync_method method;
	uint32_t threads;
};

struct cost {
	double ns;	 /* total time */
	double solve_ns; /* time of netsync_solve() alone */
	double memory;	 /* peak memory, bytes */
	double matched;	 /* matched fraction of the packet events */
	uint64_t clocks; /* digest of all clocks */
};

static void exit_with_bench_error(const char *what)
{
	fprintf(stderr, "bench: %s\n", what);
	exit(1);
}

static void make_cluster(struct cluster *c, const struct job *job)
{
	const struct cluster_spec spec = {
		.hosts = job->hosts,
		.messages = job->messages,
		.topology = SPARSE,
		.clocks = BEND,
		.span_s = 3600,
	};

	if (!cluster_make(c, &spec, 1))
		exit_with_bench_error("not enough memory");
}

static struct netsync *make_bench_netsync(int hosts)
{
	struct netsync *ns = netsync_new();

	for (int i = 0; i < hosts; i++) {
		char name[16];

		snprintf(name, sizeof(name), "h%d", i);
		if (!ns || netsync_add_host(ns, name) != i)
			exit_with_bench_error("not enough memory");
	}
	return ns;
}

static void push_cluster_messages(struct netsync *ns, const struct cluster *c)
{
	for (long i = 0; i < c->num; i++) {
		const struct cluster_message *m = &c->msg[i];

		if (netsync_push_message(ns, m->from, m->to, m->send_ns, m->recv_ns))
			exit_with_bench_error(netsync_error(ns));
	}
}

static void set_packet_address(uint8_t *address, uint32_t host)
{
	address[10] = 0xff;
	address[11] = 0xff;
	address[12] = 10;
	address[14] = (uint8_t)(host >> 8);
	address[15] = (uint8_t)host;
}

/*
 * Push a packet of bulk traffic. Each pair of hosts has one connection, on which @sent messages
 * were sent before in this direction. Each connection starts at a different sequence number.
 */
static void push_message_packet(struct netsync *ns, const struct cluster_message *m, uint32_t sent)
{
	uint32_t start = (m->from * 1000 + m->to) * UINT32_C(0x9e3779b1);
	uint32_t back = (m->to * 1000 + m->from) * UINT32_C(0x9e3779b1);
	struct netsync_packet p = {
		.size = sizeof(p),
		.fields = NETSYNC_HAS_ADDRS | NETSYNC_HAS_PORTS |
			  NETSYNC_HAS_IP_ID | NETSYNC_HAS_LEN,
		.sport = m->from > m->to ? 80 : 40000,
		.dport = m->from > m->to ? 40000 : 80,
		.protocol = 6,
		.ip_id = (uint16_t)(start + sent),
		.tcp = {
			.seq = start + sent * 1448,
			.ack = back + sent * 100,
			.flags = 0x8010,
		},
		.len = 1448,
	};

	set_packet_address(p.saddr, m->from);
	set_packet_address(p.daddr, m->to);
	for (int dir = NETSYNC_OUT; dir <= NETSYNC_IN; dir++) {
		p.dir = (uint8_t)dir;
		p.host = dir == NETSYNC_OUT ? m->from : m->to;
		p.time_ns = dir == NETSYNC_OUT ? m->send_ns : m->recv_ns;
		if (netsync_push_packet(ns, &p))
			exit_with_bench_error(netsync_error(ns));
	}
}

static void push_cluster_packets(struct netsync *ns, const struct cluster *c)
{
	uint32_t hosts = (uint32_t)c->spec.hosts;
	uint32_t *sent = calloc((size_t)hosts * hosts, sizeof(*sent));
	int64_t *last = calloc(hosts, sizeof(*last));

	if (!sent || !last)
		exit_with_bench_error("not enough memory");
	for (long i = 0; i < c->num; i++) {
		const struct cluster_message *m = &c->msg[i];

		push_message_packet(ns, m, sent[m->from * hosts + m->to]++);
		last[m->from] = m->send_ns;
		last[m->to] = m->recv_ns;
		/* Advance the hosts as readers do. No packet is more than a second late. */
		for (uint32_t h = 0; h < hosts && i % 8192 == 8191; h++)
			if (last[h] && netsync_advance(ns, h, last[h] - 1000000000))
				exit_with_bench_error(netsync_error(ns));
	}
	free(last);
	free(sent);
}

static void run_bench_job(const void *arg, void *result)
{
	const struct job *job = arg;
	const struct netsync_options opt = {
		.size = sizeof(opt),
		.method = job->method,
		.threads = job->threads,
	};
	struct netsync_stats stats = { .size = sizeof(stats) };
	struct netsync *ns = make_bench_netsync(job->hosts);
	struct cost *cost = result;
	struct cluster c;
	double start, pushed;

	make_cluster(&c, job);
	netsync_use_threads(ns, job->threads);
	measure_memory_start();
	start = measure_time();
	if (job->packets)
		push_cluster_packets(ns, &c);
	else
		push_cluster_messages(ns, &c);
	pushed = measure_time();
	if (netsync_solve(ns, &opt))
		exit_with_bench_error(netsync_error(ns));
	cost->ns = measure_time() - start;
	cost->solve_ns = measure_time() - pushed;
	cost->memory = measure_memory();
	netsync_get_stats(ns, &stats);
	cost->matched = (double)stats.matched / (double)stats.packets;
	cost->clocks = digest_clocks(ns);
}

static void print_job_costs(const struct job *job, double reference)
{
	const long num = 2 * job->messages;
	struct cost cost;

	if (!measure_in_child(run_bench_job, job, &cost, sizeof(cost)))
		exit_with_bench_error("a run failed");
	printf("%-22s %5d %9ld %8.0f %8.2f %6.0f %6.2f %%\n", "match packet events", job->hosts,
	       num, cost.ns / (double)num, cost.ns / (double)num / reference, cost.memory / 1048576,
	       100 * cost.matched);
}

/*
 * Print how much faster two threads are than one. With linear clocks, estimating is cheap compared
 * with matching. With other clocks, estimating is expensive compared with pushing.
 */
static void print_speed_up(struct job job)
{
	double fastest[2] = { INFINITY, INFINITY };
	struct cost cost = { 0 };

	for (int i = 0; i < 2 * RUNS; i++) {
		const uint64_t clocks = cost.clocks;

		job.threads = 1 + i % 2;
		if (!measure_in_child(run_bench_job, &job, &cost, sizeof(cost)))
			exit_with_bench_error("a run failed");
		if (i && cost.clocks != clocks)
			exit_with_bench_error("another number of threads gave another result");
		fastest[i % 2] = fmin(fastest[i % 2], job.packets ? cost.ns : cost.solve_ns);
	}
	printf("%-22s %5d %9ld %8.2f %8.2f %6.2f\n", job.packets ? "match packet events" : "solve",
	       job.hosts, job.packets ? 2 * job.messages : job.messages, fastest[0] / 1e9,
	       fastest[1] / 1e9, fastest[0] / fastest[1]);
}

/*
 * Measure the memory use for hours of packets at a steady rate. Clocks are estimated at intervals.
 */
static void measure_stream_memory(double hours)
{
	enum { HOSTS = 10, MESSAGES = 5000, STEPS = 12 };
	const struct cluster_spec spec = {
		.hosts = HOSTS,
		.topology = ALL_PAIRS,
		.clocks = BEND,
		.span_s = hours * 3600,
	};
	static uint32_t sent[HOSTS][HOSTS];
	long seconds = (long)spec.span_s;
	struct netsync *ns = make_bench_netsync(HOSTS);
	double start, last;
	struct cluster c;

	if (!cluster_make(&c, &spec, 1))
		exit_with_bench_error("not enough memory");
	srand48(1);
	measure_memory_start();
	start = measure_time();
	printf("%8s %12s %16s %10s %8s\n", "hours", "packets", "ns each, all told", "solve, ms",
	       "MiB");
	for (long s = 0, step = 1; s < seconds; s++) {
		for (long i = 0; i < MESSAGES; i++) {
			double t = ((double)s + (double)i / MESSAGES) * 1e9;
			double delay = 30e3 - 100e3 * log(1 - drand48());
			uint32_t from = (uint32_t)lrand48() % HOSTS;
			uint32_t to = (from + 1 + (uint32_t)lrand48() % (HOSTS - 1)) % HOSTS;
			const struct cluster_message m = {
				from,
				to,
				cluster_read_clock(&c, (int)from, t),
				cluster_read_clock(&c, (int)to, t + delay),
			};

			push_message_packet(ns, &m, sent[from][to]++);
		}
		for (int h = 0; h < HOSTS; h++)
			if (netsync_advance(ns, (uint32_t)h,
					    cluster_read_clock(&c, h, (double)s * 1e9)))
				exit_with_bench_error(netsync_error(ns));
		if (s + 1 < seconds * step / STEPS)
			continue;
		last = measure_time();
		if (netsync_solve(ns, NULL))
			exit_with_bench_error(netsync_error(ns));
		printf("%8.1f %12ld %16.0f %10.0f %8.0f\n", (double)(s + 1) / 3600,
		       2 * MESSAGES * (s + 1), (last - start) / (2.0 * MESSAGES * (double)(s + 1)),
		       (measure_time() - last) / 1e6, measure_memory() / 1048576);
		fflush(stdout);
		step++;
	}
	cluster_free(&c);
	netsync_free(ns);
}

static int compare_messages_by_receipt_time(const void *a, const void *b)
{
	const struct cluster_message *p = a, *q = b;

	return p->recv_ns < q->recv_ns ? -1 : p->recv_ns > q->recv_ns;
}

/* Return the cost per message of sorting. */
static double measure_sort_cost(void)
{
	const struct job job = { .hosts = 2, .messages = SORTED };
	struct cluster c;
	double start;

	make_cluster(&c, &job);
	start = measure_time();
	qsort(c.msg, (size_t)c.num, sizeof(*c.msg), compare_messages_by_receipt_time);
	start = measure_time() - start;
	cluster_free(&c);
	return start / SORTED;
}

static void print_speed_ups(void)
{
	printf("%-22s %5s %9s %8s %8s %6s\n", "by 1 and 2 threads", "hosts", "number", "1: s",
	       "2: s", "times");
	print_speed_up((struct job){ 64, 1000000, true, NETSYNC_METHOD_HULL, 0 });
	print_speed_up((struct job){ 64, 1000000, false, NETSYNC_METHOD_AUTO, 0 });
}

int main(int argc, char **argv)
{
	static const struct job jobs[] = {
		{ .hosts = 2, .messages = 1000000, .packets = true },
		{ .hosts = 2, .messages = 5000000, .packets = true },
		{ .hosts = 64, .messages = 5000000, .packets = true },
		{ .hosts = 1000, .messages = 5000000, .packets = true },
	};
	double reference;

	if (argc == 3 && !strcmp(argv[1], "--stream")) {
		measure_stream_memory(strtod(argv[2], NULL));
		return 0;
	}
	if (argc == 2 && !strcmp(argv[1], "--threads")) {
		print_speed_ups();
		return 0;
	}
	reference = measure_sort_cost();
	printf("%-22s %5s %9s %8s %8s %6s %8s\n", "", "hosts", "number", "ns each", "x qsort",
	       "MiB", "matched");
	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++)
		print_job_costs(&jobs[i], reference);
	printf("\n");
	print_speed_ups();
	return 0;
}
