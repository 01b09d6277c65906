/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Generate packet events of all kinds from a seed: TCP segments that are split, merged or
 * retransmitted along their path; datagrams with or without IP ids or digests, some of them merged;
 * SCTP; echoes; translated addresses; routers; and lost packets.
 */
#ifndef SELFTESTS_TRAFFIC_H
#define SELFTESTS_TRAFFIC_H

#include <string.h>

#include "test.h"

#define TRAFFIC_HOSTS 6
#define TRAFFIC_STEP (50 * US) /* interval between sent packets */
#define TRAFFIC_MSS 1448

struct traffic {
	struct netsync_packet *event;
	size_t num;
	size_t room;
	uint64_t seed;
	int64_t now;		 /* true time */
	struct netsync_packet p; /* the next event, whose fields are changed for each event */
	uint32_t from;
	uint32_t to;
};

/* Return the reading of a host's clock. Clocks are seconds apart. */
static inline int64_t traffic_read_clock(uint32_t host, int64_t t)
{
	return EPOCH + (int64_t)host * 3 * SEC + t;
}

static inline uint32_t traffic_draw(struct traffic *a, uint32_t below_it)
{
	return (uint32_t)draw_integer_below(&a->seed, below_it);
}

static inline void traffic_add_packet(struct traffic *a, uint32_t host, int dir, int64_t t)
{
	if (a->num == a->room) {
		a->room = a->room * 2 + 1024;
		a->event = realloc(a->event, a->room * sizeof(*a->event));
		assert_non_null(a->event);
	}
	a->p.host = host;
	a->p.dir = (uint8_t)dir;
	a->p.time_ns = traffic_read_clock(host, t);
	a->event[a->num++] = a->p;
}

static inline int64_t traffic_draw_delay(struct traffic *a)
{
	return 30 * US + (int64_t)draw_from_exponential(&a->seed, 40e3);
}

/*
 * Add the events of a packet that is sent and received, and that sometimes passes through a third
 * host. A few packets are not received.
 */
static inline void traffic_add_passage(struct traffic *a)
{
	int64_t t = a->now;

	traffic_add_packet(a, a->from, NETSYNC_OUT, t);
	if (!traffic_draw(a, 20)) {
		const uint32_t router = (a->to + 1) % TRAFFIC_HOSTS;

		if (router != a->from) {
			t += traffic_draw_delay(a);
			traffic_add_packet(a, router, NETSYNC_IN, t);
			t += traffic_draw_delay(a);
			traffic_add_packet(a, router, NETSYNC_OUT, t);
		}
	}
	if (traffic_draw(a, 30))
		traffic_add_packet(a, a->to, NETSYNC_IN, t + traffic_draw_delay(a));
}

static inline void traffic_begin(struct traffic *a, uint8_t protocol)
{
	a->from = traffic_draw(a, TRAFFIC_HOSTS);
	a->to = (a->from + 1 + traffic_draw(a, TRAFFIC_HOSTS - 1)) % TRAFFIC_HOSTS;
	a->p = (struct netsync_packet){
		.size = sizeof(a->p),
		.fields = NETSYNC_HAS_ADDRS | NETSYNC_HAS_PORTS | NETSYNC_HAS_IP_ID |
			  NETSYNC_HAS_LEN | NETSYNC_HAS_GSO,
		.saddr = { [10] = 0xff, 0xff, 10, 0, 0, (uint8_t)(a->from + 1) },
		.daddr = { [10] = 0xff, 0xff, 10, 0, 0, (uint8_t)(a->to + 1) },
		.sport = (uint16_t)(40000 + traffic_draw(a, 50)),
		.dport = 80,
		.protocol = protocol,
		.ip_id = (uint16_t)traffic_draw(a, 1 << 16),
		.len = 100 + traffic_draw(a, 1000),
	};
	if (protocol == 6) {
		a->p.tcp.seq = (uint32_t)draw_random64(&a->seed);
		a->p.tcp.ack = (uint32_t)draw_random64(&a->seed);
		a->p.tcp.flags = 0x8010;
	}
}

static inline void traffic_add_tcp(struct traffic *a)
{
	const uint32_t again = traffic_draw(a, 12);

	traffic_begin(a, 6);
	if (!again)
		a->p.fields &= ~(uint32_t)NETSYNC_HAS_IP_ID;
	traffic_add_passage(a);
	/* The same bytes are sent again, which is ambiguous without IP ids. */
	if (again < 2) {
		a->now += 20 * TRAFFIC_STEP;
		a->p.ip_id += 7;
		traffic_add_passage(a);
	}
}

/*
 * Send one segment that consists of @parts full-sized ones, and receive it in groups of these. Many
 * segments begin before a multiple of 64 KiB, and some of these multiples are also multiples of 4
 * MiB.
 */
static inline void traffic_add_bulk(struct traffic *a)
{
	const uint32_t parts = 2 + traffic_draw(a, 43);
	const bool is_sent_whole = traffic_draw(a, 4);
	struct netsync_packet first;
	int64_t t = a->now;

	traffic_begin(a, 6);
	if (traffic_draw(a, 2))
		a->p.tcp.seq = (a->p.tcp.seq & (traffic_draw(a, 2) ? 0xffc00000 : 0xffff0000)) -
			       traffic_draw(a, parts * TRAFFIC_MSS);
	first = a->p;
	for (int end = 0; end < 2; end++) {
		const int dir = end ? NETSYNC_IN : NETSYNC_OUT;

		for (uint32_t done = 0, n; done < parts; done += n) {
			n = end == is_sent_whole ? 1 + traffic_draw(a, 20) : parts;
			n = n > parts - done ? parts - done : n;
			a->p.tcp.seq = first.tcp.seq + done * TRAFFIC_MSS;
			a->p.ip_id = (uint16_t)(first.ip_id + done);
			a->p.len = n * TRAFFIC_MSS;
			a->p.gso_size = n > 1 ? TRAFFIC_MSS : 0;
			a->p.gso_segs = (uint16_t)n;
			t += US;
			if (traffic_draw(a, 60))
				traffic_add_packet(a, end ? a->to : a->from, dir, t);
		}
		t += traffic_draw_delay(a);
	}
}

/*
 * Send datagrams with IP ids or with digests, which not all sources know. Some datagrams are
 * translated.
 */
static inline void traffic_add_udp(struct traffic *a)
{
	const bool has_ids = traffic_draw(a, 2);

	traffic_begin(a, 17);
	a->p.udp.digest = draw_random64(&a->seed);
	if (!has_ids)
		a->p.ip_id = 0;
	if (!traffic_draw(a, 3))
		a->p.fields &= ~(uint32_t)NETSYNC_HAS_IP_ID;
	if (traffic_draw(a, 2))
		a->p.fields |= NETSYNC_HAS_DIGEST;
	traffic_add_packet(a, a->from, NETSYNC_OUT, a->now);
	if (traffic_draw(a, 2))
		a->p.fields |= NETSYNC_HAS_DIGEST;
	if (has_ids && !traffic_draw(a, 3)) {
		a->p.saddr[15] = 99;
		a->p.sport += 1000;
	}
	traffic_add_packet(a, a->to, NETSYNC_IN, a->now + traffic_draw_delay(a));
}

/*
 * Send several datagrams as one, and receive them in groups. Ids are near 0 and near multiples of
 * 1024.
 */
static inline void traffic_add_datagrams(struct traffic *a)
{
	const uint32_t parts = 2 + traffic_draw(a, 60);
	struct netsync_packet first;
	int64_t t = a->now + traffic_draw_delay(a);

	traffic_begin(a, 17);
	a->p.ip_id = (uint16_t)((traffic_draw(a, 16) ? 1024 * traffic_draw(a, 64) : 0) -
				traffic_draw(a, parts));
	a->p.gso_size = 500;
	a->p.gso_segs = (uint16_t)parts;
	a->p.len = parts * 500;
	first = a->p;
	traffic_add_packet(a, a->from, NETSYNC_OUT, a->now);
	for (uint32_t done = 0, n; done < parts; done += n) {
		n = 1 + traffic_draw(a, 3);
		n = n > parts - done ? parts - done : n;
		a->p.ip_id = (uint16_t)(first.ip_id + done);
		a->p.gso_segs = (uint16_t)n;
		a->p.gso_size = n > 1 ? 500 : 0;
		a->p.len = n * 500;
		t += US;
		if (traffic_draw(a, 40))
			traffic_add_packet(a, a->to, NETSYNC_IN, t);
	}
}

static inline void traffic_add_echo(struct traffic *a)
{
	traffic_begin(a, 1);
	a->p.fields = (a->p.fields & ~(uint32_t)NETSYNC_HAS_PORTS) | NETSYNC_HAS_ECHO;
	a->p.sport = a->p.dport = 0;
	a->p.icmp.id = (uint16_t)traffic_draw(a, 1 << 16);
	a->p.icmp.seq = (uint16_t)traffic_draw(a, 1 << 16);
	a->p.icmp.type = 8;
	traffic_add_packet(a, a->from, NETSYNC_OUT, a->now);
	if (!traffic_draw(a, 3)) {
		a->p.saddr[15] = 99;
		a->p.icmp.id++;
	}
	traffic_add_packet(a, a->to, NETSYNC_IN, a->now + traffic_draw_delay(a));
}

static inline void traffic_add_sctp(struct traffic *a)
{
	traffic_begin(a, 132);
	a->p.fields |= NETSYNC_HAS_SCTP;
	a->p.sctp.vtag = 1 + traffic_draw(a, 100000);
	if (traffic_draw(a, 3)) {
		a->p.fields |= NETSYNC_HAS_TSN;
		a->p.sctp.tsn = (uint32_t)draw_random64(&a->seed);
	} else {
		a->p.sctp.chunk = 3;
	}
	traffic_add_passage(a);
}

static inline int traffic_compare_times(const void *a, const void *b)
{
	const struct netsync_packet *p = a, *q = b;
	const int64_t s = p->time_ns - traffic_read_clock(p->host, 0);
	const int64_t t = q->time_ns - traffic_read_clock(q->host, 0);

	return s < t ? -1 : s > t;
}

/*
 * Return the events of @transmissions transmissions in order of true time. The caller must free()
 * them.
 */
static inline struct traffic traffic_make(uint64_t seed, uint32_t transmissions)
{
	static void (*const kinds[])(struct traffic * a) = {
		traffic_add_tcp,       traffic_add_tcp,	 traffic_add_bulk, traffic_add_udp,
		traffic_add_datagrams, traffic_add_echo, traffic_add_sctp,
	};
	struct traffic a = { .seed = seed };

	for (uint32_t i = 0; i < transmissions; i++) {
		a.now = i * TRAFFIC_STEP;
		kinds[traffic_draw(&a, sizeof(kinds) / sizeof(*kinds))](&a);
	}
	qsort(a.event, a.num, sizeof(*a.event), traffic_compare_times);
	return a;
}

#endif
