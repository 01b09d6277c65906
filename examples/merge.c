// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Print packets of several hosts in the order of corrected time. Each line of standard
 * input describes a TCP packet as seen by a host, with the time on the host's own clock:
 *
 *	HOST TIME_NS out|in SPORT DPORT SEQ ACK FLAGS LEN
 *
 *	cc -o merge merge.c $(pkg-config --cflags --libs netsync)
 */
#include <inttypes.h>
#include <netsync.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_HOSTS 64
#define MAX_EVENTS 100000

static struct event {
	int host;
	int64_t time_ns; /* recorded time; replaced by the corrected time later */
	int64_t bound_ns;
	char dir[4];
	uint32_t seq;
} events[MAX_EVENTS];

static char names[MAX_HOSTS][32];
static int num_hosts;

static void fail(const char *why)
{
	fprintf(stderr, "merge: %s\n", why);
	exit(1);
}

static int find_host(struct netsync *ns, const char *name)
{
	for (int i = 0; i < num_hosts; i++)
		if (!strcmp(names[i], name))
			return i;
	if (num_hosts == MAX_HOSTS)
		fail("there are too many hosts");
	if (netsync_add_host(ns, name) != num_hosts)
		fail(netsync_error(ns));
	strcpy(names[num_hosts], name);
	return num_hosts++;
}

/* Push a packet to the library, and store it. */
static void add_event(struct netsync *ns, struct event *event, const char *line)
{
	struct netsync_packet pkt = {
		.size = sizeof(pkt),
		.fields = NETSYNC_HAS_PORTS | NETSYNC_HAS_LEN,
		.protocol = 6,
	};
	char name[32];

	if (sscanf(line,
		   "%31s %" SCNd64 " %3s %" SCNu16 " %" SCNu16 " %" SCNu32 " %" SCNu32 " %" SCNu16
		   " %" SCNu32,
		   name, &event->time_ns, event->dir, &pkt.sport, &pkt.dport, &pkt.tcp.seq,
		   &pkt.tcp.ack, &pkt.tcp.flags, &pkt.len) != 9)
		fail("a line is not a packet");
	event->host = find_host(ns, name);
	event->seq = pkt.tcp.seq;
	pkt.host = event->host;
	pkt.time_ns = event->time_ns;
	pkt.dir = strcmp(event->dir, "out") ? NETSYNC_IN : NETSYNC_OUT;
	if (netsync_push_packet(ns, &pkt))
		fail(netsync_error(ns));
}

static void correct(const struct netsync *ns, struct event *event)
{
	const struct netsync_clock *clock = netsync_host_clock(ns, event->host);

	if (!clock)
		fail("a host shares no packet with the others");
	if (netsync_convert(clock, event->time_ns, &event->time_ns, &event->bound_ns))
		fail("a corrected time does not fit into 64 bits");
}

static int by_time(const void *a, const void *b)
{
	const struct event *p = a, *q = b;

	return (p->time_ns > q->time_ns) - (p->time_ns < q->time_ns);
}

int main(void)
{
	struct netsync *ns = netsync_new();
	char line[256];
	int num = 0;

	if (!ns)
		fail("there is not enough memory");
	while (fgets(line, sizeof(line), stdin)) {
		if (num == MAX_EVENTS)
			fail("there are too many packets");
		add_event(ns, &events[num++], line);
	}
	if (netsync_solve(ns, NULL))
		fail(netsync_error(ns));
	for (int i = 0; i < num; i++)
		correct(ns, &events[i]);
	netsync_free(ns);
	qsort(events, num, sizeof(events[0]), by_time);
	for (int i = 0; i < num; i++) {
		const struct event *e = &events[i];

		printf("%" PRId64 " ", e->time_ns);
		if (e->bound_ns == NETSYNC_UNKNOWN)
			printf("+-? ");
		else
			printf("+-%" PRId64 " ", e->bound_ns);
		printf("%s %s %" PRIu32 "\n", names[e->host], e->dir, e->seq);
	}
	return 0;
}
