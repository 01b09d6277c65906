// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run the module's packet parser in user space, where every invalid read is detected, on a million
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

static unsigned int draw_below_limit(unsigned int limit)
{
	return random() % limit;
}

static void put_be16_at(u8 *p, unsigned int value)
{
	p[0] = value >> 8;
	p[1] = value;
}

static void fill_randomly(u8 *p, unsigned int len)
{
	while (len--)
		*p++ = random();
}

/* ---- packets -------------------------------------------------------------- */

static void make_random_transport(u8 *p, u8 protocol, unsigned int room)
{
	static const u8 types[] = { 0, 8, 128, 129 }, options[] = { 0, 1, 2, 8, 10 };
	unsigned int i;

	switch (protocol) {
	case IPPROTO_TCP:
		p[12] = draw_below_limit(8) ? (5 + draw_below_limit(11)) << 4 : random();
		for (i = 20; i < 60; i++)
			p[i] = draw_below_limit(4) ? options[draw_below_limit(5)] : random();
		if (draw_below_limit(2))
			memcpy(p + 20, "\1\1\x08\x0a", 4);
		break;
	case IPPROTO_UDP:
		put_be16_at(p + 4, draw_below_limit(4) ? room :
				   draw_below_limit(2) ? draw_below_limit(100) :
							 0);
		break;
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		p[0] = types[draw_below_limit(4)];
		p[1] = draw_below_limit(8) ? 0 : random();
		break;
	case IPPROTO_SCTP:
		for (i = 12; i + 4 <= room; i += 4 + 4 * draw_below_limit(3)) {
			p[i] = draw_below_limit(8) ? draw_below_limit(5) : random();
			put_be16_at(p + i + 2, draw_below_limit(20));
		}
		break;
	}
}

/* Build a packet. Return its length; *end is the length according to its header. */
static unsigned int make_random_packet(u8 family, unsigned int nhoff, unsigned int *end)
{
	static const u8 protocols[] = { IPPROTO_TCP,	IPPROTO_TCP,  IPPROTO_UDP, IPPROTO_ICMP,
					IPPROTO_ICMPV6, IPPROTO_SCTP, IPPROTO_IPIP };
	static const u8 extensions[] = { 0,	     IPPROTO_ROUTING, IPPROTO_FRAGMENT,
					 IPPROTO_AH, IPPROTO_DSTOPTS, IPPROTO_NONE };
	unsigned int len = nhoff + 20 + draw_below_limit(200), i, faults;
	u8 protocol = protocols[draw_below_limit(sizeof(protocols))];
	u8 *ip = bytes + nhoff, *p, *next;

	fill_randomly(bytes, ROOM);
	if (family == AF_INET) {
		ip[0] = 0x45 + (draw_below_limit(4) ? 0 : draw_below_limit(11));
		put_be16_at(ip + 6, draw_below_limit(8) ? 0 :
				    draw_below_limit(4) ? 0x2000 :
							  random());
		ip[9] = protocol;
		p = ip + (ip[0] & 15) * 4;
		*end = nhoff +
		       (draw_below_limit(4) ? len - nhoff : draw_below_limit(len - nhoff + 2));
		put_be16_at(ip + 2, *end - nhoff);
	} else {
		len += 20;
		ip[0] = 0x60;
		next = ip + 6;
		p = ip + 40;
		for (i = draw_below_limit(4) ? 0 : draw_below_limit(5); i > 0; i--) {
			*next = extensions[draw_below_limit(draw_below_limit(4) ? 5 : 6)];
			next = p;
			p[1] = draw_below_limit(8) ? draw_below_limit(2) : random();
			put_be16_at(p + 2, draw_below_limit(2) ? 0 :
					   draw_below_limit(2) ? 1 :
								 random());
			p += 8;
		}
		*next = protocol;
		*end = draw_below_limit(4) ? len : nhoff + 40 + draw_below_limit(len - nhoff - 38);
		put_be16_at(ip + 4, *end - nhoff - 40);
	}
	make_random_transport(p, protocol, len > p - bytes ? len - (p - bytes) : 0);
	for (faults = draw_below_limit(4) ? 0 : draw_below_limit(4); faults > 0; faults--)
		ip[draw_below_limit(80)] = random();
	/* If a fault changed the length field, extend the packet to this length. */
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

static unsigned int get_record_size(const struct parsed *p)
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

/* Parse a packet. Fields that the parser does not set keep their previous value, @before. */
static void parse_made_packet(unsigned int len, unsigned int linear, unsigned int nhoff, u8 family,
			      u8 before, struct parsed *parsed)
{
	struct sk_buff skb = {
		.data = malloc(linear),
		.rest = malloc(len - linear),
		.len = len,
		.data_len = len - linear,
		/* The values of these members only need to be reproducible. */
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

static void assert_same_records(const struct parsed *a, const struct parsed *b)
{
	assert_int_equal(a->protocol, b->protocol);
	if (a->protocol)
		assert_memory_equal(&a->rec, &b->rec, get_record_size(a));
}

static void test_many_packets(void **state)
{
	unsigned int found[NETSYNC_ALL + 1] = { 0 };
	long i;

	(void)state;
	srandom(1);
	for (i = 0; i < PACKETS; i++) {
		u8 family = draw_below_limit(2) ? AF_INET : AF_INET6;
		unsigned int nhoff = draw_below_limit(20), end, len;
		struct parsed whole, split, padded;

		netsync_sampling = draw_below_limit(8) ? 0 : draw_below_limit(4);
		len = make_random_packet(family, nhoff, &end);
		parse_made_packet(len, len, nhoff, family, 0x55, &whole);
		found[whole.protocol]++;
		parse_made_packet(len, draw_below_limit(len + 1), nhoff, family, 0xaa, &split);
		assert_same_records(&whole, &split);
		fill_randomly(bytes + end, len - end);
		parse_made_packet(len, len, nhoff, family, 0xaa, &padded);
		assert_same_records(&whole, &padded);
	}
	for (i = 0; i <= NETSYNC_SCTP; i = i ? 2 * i : 1) {
		print_message("# protocol %ld: %u\n", i, found[i]);
		assert_true(found[i] > PACKETS / 100);
	}
}

/* Another implementation, in Python, has computed the expected digest. */
static void test_known_digest(void **state)
{
	u8 data[64];
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(data); i++)
		data[i] = i;
	assert_int_equal(compute_siphash_1_3(data, 64), 0xf17997ec4b4a6065);
	assert_int_equal(compute_siphash_1_3(data, 13), 0x306f760c1229ffa7);
	for (i = 0; i <= sizeof(data); i++)
		assert_int_equal(compute_siphash_1_3(data, i), siphash_1_3_reference(data, i));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "A million packets are the same, however they lie in memory and "
		  "whatever is behind them",
		  test_many_packets, NULL, NULL, NULL },
		{ "Digests are SipHash-1-3", test_known_digest, NULL, NULL, NULL },
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
