// SPDX-License-Identifier: GPL-2.0-only
/*
 * The packet parser in user space, where every invalid read is detected: a million
 * packets with random faults.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "kernel.h"

#include "../../module/parse.c"
#include "../module/siphash.h"

#define PACKETS 1000000
#define ROOM 512

static u8 bytes[ROOM];

static unsigned int below(unsigned int limit)
{
	return random() % limit;
}

static void put16(u8 *p, unsigned int value)
{
	p[0] = value >> 8;
	p[1] = value;
}

static void fill(u8 *p, unsigned int len)
{
	while (len--)
		*p++ = random();
}

/* ---- packets -------------------------------------------------------------- */

static void make_transport(u8 *p, u8 protocol, unsigned int room)
{
	static const u8 types[] = { 0, 8, 128, 129 }, options[] = { 0, 1, 2, 8, 10 };
	unsigned int i;

	switch (protocol) {
	case IPPROTO_TCP:
		p[12] = below(8) ? (5 + below(11)) << 4 : random();
		for (i = 20; i < 60; i++)
			p[i] = below(4) ? options[below(5)] : random();
		if (below(2))
			memcpy(p + 20, "\1\1\x08\x0a", 4);
		break;
	case IPPROTO_UDP:
		put16(p + 4, below(4) ? room : below(2) ? below(100) : 0);
		break;
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		p[0] = types[below(4)];
		p[1] = below(8) ? 0 : random();
		break;
	case IPPROTO_SCTP:
		for (i = 12; i + 4 <= room; i += 4 + 4 * below(3)) {
			p[i] = below(8) ? below(5) : random();
			put16(p + i + 2, below(20));
		}
		break;
	}
}

/* Build a packet. Return: its length; *end is the length according to its header. */
static unsigned int make_packet(u8 family, unsigned int nhoff, unsigned int *end)
{
	static const u8 protocols[] = { IPPROTO_TCP,	IPPROTO_TCP,  IPPROTO_UDP, IPPROTO_ICMP,
					IPPROTO_ICMPV6, IPPROTO_SCTP, IPPROTO_IPIP };
	static const u8 extensions[] = { 0,	     IPPROTO_ROUTING, IPPROTO_FRAGMENT,
					 IPPROTO_AH, IPPROTO_DSTOPTS, IPPROTO_NONE };
	unsigned int len = nhoff + 20 + below(200), i, faults;
	u8 protocol = protocols[below(sizeof(protocols))];
	u8 *ip = bytes + nhoff, *p, *next;

	fill(bytes, ROOM);
	if (family == AF_INET) {
		ip[0] = 0x45 + (below(4) ? 0 : below(11));
		put16(ip + 6, below(8) ? 0 : below(4) ? 0x2000 : random());
		ip[9] = protocol;
		p = ip + (ip[0] & 15) * 4;
		*end = nhoff + (below(4) ? len - nhoff : below(len - nhoff + 2));
		put16(ip + 2, *end - nhoff);
	} else {
		len += 20;
		ip[0] = 0x60;
		next = ip + 6;
		p = ip + 40;
		for (i = below(4) ? 0 : below(5); i > 0; i--) {
			*next = extensions[below(below(4) ? 5 : 6)];
			next = p;
			p[1] = below(8) ? below(2) : random();
			put16(p + 2, below(2) ? 0 : below(2) ? 1 : random());
			p += 8;
		}
		*next = protocol;
		*end = below(4) ? len : nhoff + 40 + below(len - nhoff - 38);
		put16(ip + 4, *end - nhoff - 40);
	}
	make_transport(p, protocol, len > p - bytes ? len - (p - bytes) : 0);
	for (faults = below(4) ? 0 : below(4); faults > 0; faults--)
		ip[below(80)] = random();
	/* If a fault changed the length, let it cover the whole packet. */
	i = ip[family == AF_INET ? 2 : 4] << 8 | ip[family == AF_INET ? 3 : 5];
	if (nhoff + (family == AF_INET ? i : i + 40) != *end || *end > len)
		*end = len;
	return len;
}

/* ---- parsing -------------------------------------------------------------- */

struct parsed {
	unsigned int protocol;
	union netsync_record rec;
};

static unsigned int record_size(const struct parsed *p)
{
	const union netsync_record *rec = &p->rec;

	switch (p->protocol) {
	case NETSYNC_TCP:
		return offsetof(struct netsync_tcp, addrs) + rec->tcp.addrs.size;
	case NETSYNC_UDP:
		return offsetof(struct netsync_udp, addrs) + rec->udp.addrs.size;
	case NETSYNC_ICMP:
		return offsetof(struct netsync_icmp, addrs) + rec->icmp.addrs.size;
	case NETSYNC_SCTP:
		return offsetof(struct netsync_sctp, addrs) + rec->sctp.addrs.size;
	}
	return 0;
}

/* Parse a packet. Fields that the parser does not set keep their value, @before. */
static void parse(unsigned int len, unsigned int linear, unsigned int nhoff, u8 family, u8 before,
		  struct parsed *parsed)
{
	struct sk_buff skb = {
		.data = malloc(linear),
		.rest = malloc(len - linear),
		.len = len,
		.data_len = len - linear,
		/* These values only need to be reproducible. */
		.ip_summed = len & 3,
		.shared = { .gso_segs = 3, .gso_size = len & 4 ? 20 : 0 },
	};

	memcpy(skb.data, bytes, linear);
	memcpy(skb.rest, bytes + linear, len - linear);
	memset(&parsed->rec, before, sizeof(parsed->rec));
	parsed->protocol = netsync_parse(&skb, nhoff, family, NETSYNC_ALL, 4711, &parsed->rec);
	/* The caller of the parser sets this field. */
	parsed->rec.ip.sk = 0;
	free(skb.data);
	free(skb.rest);
}

static void assert_same(const struct parsed *a, const struct parsed *b)
{
	assert_int_equal(a->protocol, b->protocol);
	if (a->protocol)
		assert_memory_equal(&a->rec, &b->rec, record_size(a));
}

static void many(void **state)
{
	unsigned int found[NETSYNC_ALL + 1] = { 0 };
	long i;

	(void)state;
	srandom(1);
	for (i = 0; i < PACKETS; i++) {
		u8 family = below(2) ? AF_INET : AF_INET6;
		unsigned int nhoff = below(20), end, len;
		struct parsed whole, split, padded;

		netsync_sampling = below(8) ? 0 : below(4);
		len = make_packet(family, nhoff, &end);
		parse(len, len, nhoff, family, 0x55, &whole);
		found[whole.protocol]++;
		parse(len, below(len + 1), nhoff, family, 0xaa, &split);
		assert_same(&whole, &split);
		fill(bytes + end, len - end);
		parse(len, len, nhoff, family, 0xaa, &padded);
		assert_same(&whole, &padded);
	}
	for (i = 0; i <= NETSYNC_SCTP; i = i ? 2 * i : 1) {
		print_message("# protocol %ld: %u\n", i, found[i]);
		assert_true(found[i] > PACKETS / 100);
	}
}

/* The expected digest was computed by another implementation, in Python. */
static void known_digest(void **state)
{
	u8 data[64];
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(data); i++)
		data[i] = i;
	assert_int_equal(compute_siphash_1_3(data, 64), 0xf17997ec4b4a6065);
	assert_int_equal(compute_siphash_1_3(data, 13), 0x306f760c1229ffa7);
	for (i = 0; i <= sizeof(data); i++)
		assert_int_equal(compute_siphash_1_3(data, i), siphash(data, i));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "A million packets are the same, however they lie in memory and "
		  "whatever is behind them",
		  many, NULL, NULL, NULL },
		{ "Digests are SipHash-1-3", known_digest, NULL, NULL, NULL },
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
