// SPDX-License-Identifier: GPL-2.0-only
/*
 * Check that memory use does not depend on the number of messages. A thousand hosts, each of which
 * exchanges messages with eight others, exchange a thousand million messages within an hour. This
 * process generates the messages in the order of sending, pushes them and forgets them, so no file
 * is needed. It prints the memory use of the library after each tenth, the shares of processor
 * time, and finally the errors of the clocks. It fails if memory use grows in the second half, or
 * if a clock is outside its bound.
 *
 * usage: scale MESSAGES
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cluster.h"
#include "measure.h"
#include "netsync.h"
#include "random.h"

#define HOSTS 1000
#define LINKS (CLUSTER_EIGHT * HOSTS)
#define SPAN_S 3600.0
#define MIN_DELAY_NS 30e3
#define MEAN_DELAY_NS 100e3 /* mean exponential excess delay */
#define CHUNK 65536	    /* number of messages that are generated at a time */
#define STEPS 10
/*
 * Allowed growth of memory use in the second half, in which hulls get a few more corners. Chosen.
 */
#define GROWTH 1.125
#define INSTANTS 101 /* number of instants at which each clock is compared with the truth */

struct scale {
	struct cluster c;
	struct netsync *ns;
	uint64_t seed;
	double apart_ns;  /* interval between two messages, ns */
	double made_ns;	  /* time for generating messages */
	double pushed_ns; /* time for pushing messages */
	struct cluster_message chunk[CHUNK];
};

static void exit_with_scale_error(const char *what)
{
	fprintf(stderr, "scale: %s\n", what);
	exit(1);
}

static void make_scale_chunk(struct scale *s, long first, long num)
{
	for (long i = 0; i < num; i++) {
		const uint64_t r = draw_64_bits(&s->seed);
		const uint32_t link = (uint32_t)((r >> 32) % LINKS);
		const uint32_t a = link / CLUSTER_EIGHT;
		const uint32_t b = (a + (uint32_t)cluster_eight[link % CLUSTER_EIGHT]) % HOSTS;
		const uint32_t from = r & 1 ? a : b, to = r & 1 ? b : a;
		const double t = ((double)(first + i) + draw_uniform(&s->seed)) * s->apart_ns;
		const double delay = MIN_DELAY_NS - MEAN_DELAY_NS * log(draw_uniform(&s->seed));

		s->chunk[i] = (struct cluster_message){
			.from = from,
			.to = to,
			.send_ns = cluster_read_clock(&s->c, (int)from, t),
			.recv_ns = cluster_read_clock(&s->c, (int)to, t + delay),
		};
	}
}

static void push_scale_chunk(struct scale *s, long num)
{
	for (long i = 0; i < num; i++) {
		const struct cluster_message *m = &s->chunk[i];

		if (netsync_push_message(s->ns, m->from, m->to, m->send_ns, m->recv_ns))
			exit_with_scale_error(netsync_error(s->ns));
	}
}

/*
 * Set memory[] to the number of bytes that the library uses after the first half and after the
 * second half.
 */
static void push_all_chunks(struct scale *s, long messages, double memory[2])
{
	printf("%12s %8s %8s %8s %8s\n", "messages", "made, s", "pushed, s", "ns each", "MiB");
	for (long done = 0, num, step = 1; done < messages; done += num) {
		const double start = measure_processor_time();
		double made;

		num = messages - done < CHUNK ? messages - done : CHUNK;
		make_scale_chunk(s, done, num);
		made = measure_processor_time();
		push_scale_chunk(s, num);
		s->made_ns += made - start;
		s->pushed_ns += measure_processor_time() - made;
		if ((double)(done + num) < (double)messages * (double)step / STEPS)
			continue;
		memory[step > STEPS / 2] = measure_memory();
		printf("%12ld %8.1f %8.1f %8.0f %8.1f\n", done + num, s->made_ns / 1e9,
		       s->pushed_ns / 1e9, s->pushed_ns / (double)(done + num),
		       measure_memory() / 1048576);
		fflush(stdout);
		step++;
	}
}

/* Print the errors of the clocks, with the largest first, and whether bounds hold. */
static bool show_scale_errors(const struct scale *s)
{
	const int reference = netsync_reference(s->ns);
	double worst = 0, squares = 0;
	long outside = 0, unknown = 0, num = 0;

	for (int h = 0; h < HOSTS; h++) {
		const struct netsync_clock *clock = netsync_host_clock(s->ns, (uint32_t)h);

		for (int i = 0; i < INSTANTS; i++) {
			const double t = SPAN_S * 1e9 * i / (INSTANTS - 1);
			const int64_t read = cluster_read_clock(&s->c, h, t);
			const double ahead = cluster_compute_offset(&s->c, reference, h, t);
			int64_t at, bound;
			double error;

			if (netsync_convert(clock, read, &at, &bound))
				exit_with_scale_error("a host has no clock");
			error = (double)(at - read) - ahead;
			worst = fmax(worst, fabs(error));
			squares += error * error;
			/* The error contains rounding errors of both clocks' readings. */
			outside += bound != NETSYNC_UNKNOWN && fabs(error) > (double)bound + 1;
			unknown += bound == NETSYNC_UNKNOWN;
			num++;
		}
	}
	printf("error: %.0f ns at most, %.0f RMS; of %ld instants %ld are outside of the bound, %ld have none\n",
	       worst, sqrt(squares / (double)num), num, outside, unknown);
	return !outside;
}

static void make_scale_hosts(struct scale *s, long messages)
{
	const struct cluster_spec spec = {
		.hosts = HOSTS,
		.topology = SPARSE,
		.clocks = BEND,
		.span_s = SPAN_S,
	};

	if (!cluster_make(&s->c, &spec, 1))
		exit_with_scale_error("not enough memory");
	s->ns = netsync_new();
	for (int i = 0; i < HOSTS; i++) {
		char name[16];

		snprintf(name, sizeof(name), "h%d", i);
		if (!s->ns || netsync_add_host(s->ns, name) != i)
			exit_with_scale_error("not enough memory");
	}
	s->seed = 1;
	s->apart_ns = SPAN_S * 1e9 / (double)messages;
}

int main(int argc, char **argv)
{
	static struct scale s;
	const struct netsync_options opt = {
		.size = sizeof(opt),
		.threads = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN),
	};
	const long messages = argc == 2 ? (long)strtod(argv[1], NULL) : 0;
	double memory[2] = { 0 }, start, used;
	bool sound;

	if (messages < 10000000)
		exit_with_scale_error("usage: scale MESSAGES, ten millions at least");
	make_scale_hosts(&s, messages);
	measure_memory_start();
	push_all_chunks(&s, messages, memory);
	start = measure_time();
	used = measure_processor_time();
	if (netsync_solve(s.ns, &opt))
		exit_with_scale_error(netsync_error(s.ns));
	printf("solved by %u threads in %.1f s, %.1f s of processors, with %.1f MiB\n", opt.threads,
	       (measure_time() - start) / 1e9, (measure_processor_time() - used) / 1e9,
	       measure_memory() / 1048576);
	sound = show_scale_errors(&s);
	netsync_free(s.ns);
	cluster_free(&s.c);
	if (memory[1] > GROWTH * memory[0])
		exit_with_scale_error("memory grew with the number of messages");
	if (!sound)
		exit_with_scale_error("a clock is not within its bound");
	return 0;
}
