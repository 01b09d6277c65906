// SPDX-License-Identifier: GPL-2.0-only
/*
 * Follow the clock offsets of containers by the packets that a BPF program reports. Each
 * network namespace is a host. All namespaces have the same clock, so that every true
 * offset is 0. Packets of other machines would be pushed in the same way.
 *
 *	cc -o packets packets.c $(pkg-config --cflags --libs netsync libbpf)
 *	./packets packets.bpf.o 10
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <netsync.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "packets.h"

#define MAX_HOSTS 64
/* Maximum number of packets that wait for their counterparts. Chosen. */
#define MAX_WAITING 100000

struct follower {
	struct netsync *ns;
	uint32_t netns[MAX_HOSTS];
	uint32_t num;
};

/* Return the host of a namespace, which is added if it is new, or a negative errno value. */
static int find_host(struct follower *f, uint32_t netns)
{
	char name[32];
	int host;

	for (uint32_t i = 0; i < f->num; i++)
		if (f->netns[i] == netns)
			return i;
	if (f->num == MAX_HOSTS)
		return -ENOSPC;
	snprintf(name, sizeof(name), "netns-%" PRIu32, netns);
	host = netsync_add_host(f->ns, name);
	if (host >= 0)
		f->netns[f->num++] = netns;
	return host;
}

static int push(void *data, void *at, size_t size)
{
	struct follower *f = data;
	const struct packet *packet = at;
	struct netsync_packet pkt = {
		.size = sizeof(pkt),
		.fields = NETSYNC_HAS_ADDRS | NETSYNC_HAS_PORTS | NETSYNC_HAS_LEN |
			  NETSYNC_HAS_WINDOW,
		.protocol = 6,
		.time_ns = packet->time_ns,
		.point = packet->ifindex,
		.dir = packet->is_in ? NETSYNC_IN : NETSYNC_OUT,
		.sport = packet->sport,
		.dport = packet->dport,
		.len = packet->len,
		.tcp = {
			.seq = packet->seq,
			.ack = packet->ack,
			.flags = packet->flags,
			.window = packet->window,
		},
	};
	const int host = size < sizeof(*packet) ? -EINVAL : find_host(f, packet->netns);

	if (host < 0)
		return host;
	pkt.host = host;
	memcpy(pkt.saddr, packet->saddr, sizeof(pkt.saddr));
	memcpy(pkt.daddr, packet->daddr, sizeof(pkt.daddr));
	return netsync_push_packet(f->ns, &pkt);
}

static int show(struct netsync *ns)
{
	struct timespec now;
	int64_t now_ns, t_ref, bound_ns;

	if (!netsync_num_hosts(ns))
		return 0;
	if (netsync_solve(ns, NULL))
		return -1;
	clock_gettime(CLOCK_MONOTONIC, &now);
	now_ns = now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
	for (uint32_t i = 0; i < netsync_num_hosts(ns); i++) {
		struct netsync_host_info info = { .size = sizeof(info) };
		const struct netsync_clock *clock = netsync_host_clock(ns, i);

		netsync_get_host(ns, i, &info);
		if (!clock || netsync_convert(clock, now_ns, &t_ref, &bound_ns) ||
		    bound_ns == NETSYNC_UNKNOWN)
			printf("%s %s", info.name, netsync_quality_name(info.quality));
		else
			printf("%s %s %" PRId64 " +- %" PRId64 " ns", info.name,
			       netsync_quality_name(info.quality), t_ref - now_ns, bound_ns);
		printf(" (%" PRIu64 " packets)\n", info.packets);
	}
	fflush(stdout);
	return 0;
}

/* Linux before 5.11 counts maps as locked memory; libbpf before 1.0 does not raise the limit. */
static void allow_maps(void)
{
	const struct rlimit any = { RLIM_INFINITY, RLIM_INFINITY };

	setrlimit(RLIMIT_MEMLOCK, &any);
}

/*
 * Load and attach the programs. Return the ring buffer, or NULL after an error that
 * libbpf has printed.
 */
static struct ring_buffer *start(struct bpf_object *object, struct follower *f)
{
	struct bpf_program *program;

	if (!object || bpf_object__load(object))
		return NULL;
	bpf_object__for_each_program(program,
				     object) if (!bpf_program__attach(program)) return NULL;
	return ring_buffer__new(bpf_object__find_map_fd_by_name(object, "packets"), push, f, NULL);
}

int main(int argc, char **argv)
{
	struct follower f = { .ns = netsync_new() };
	struct ring_buffer *ring;
	int left, ret = 0;

	if (argc != 3 || !f.ns) {
		fprintf(stderr, "usage: packets packets.bpf.o SECONDS\n");
		return 1;
	}
	netsync_limit_packets(f.ns, MAX_WAITING);
	allow_maps();
	ring = start(bpf_object__open_file(argv[1], NULL), &f);
	if (!ring) {
		fprintf(stderr, "packets: %s cannot be loaded: %s\n", argv[1], strerror(errno));
		return 1;
	}
	for (left = atoi(argv[2]); left > 0 && ret >= 0; left--) {
		const time_t end = time(NULL) + 1;

		while (time(NULL) < end && ret >= 0)
			ret = ring_buffer__poll(ring, 100);
		if (ret >= 0)
			ret = show(f.ns);
	}
	if (ret < 0)
		fprintf(stderr, "packets: %s\n",
			*netsync_error(f.ns) ? netsync_error(f.ns) : strerror(-ret));
	ring_buffer__free(ring);
	netsync_free(f.ns);
	return ret < 0;
}
