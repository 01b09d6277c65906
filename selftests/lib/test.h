/* SPDX-License-Identifier: GPL-2.0-only */
/* Functions that all library tests share: cmocka, and random numbers from a seed. */
#ifndef SELFTESTS_TEST_H
#define SELFTESTS_TEST_H

#include <math.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "netsync.h"

#define EPOCH INT64_C(1700000000000000000)
#define US INT64_C(1000)
#define SEC INT64_C(1000000000)

/* splitmix64 */
static inline uint64_t draw_random64(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* Return a number in the open interval (0, 1). */
static inline double draw_between_0_and_1(uint64_t *state)
{
	return ((double)(draw_random64(state) >> 11) + 0.5) * 0x1p-53;
}

static inline double draw_from_exponential(uint64_t *state, double mean)
{
	return -mean * log(draw_between_0_and_1(state));
}

/* Return a TCP segment from 10.0.0.1 to 10.0.0.2 that has all fields except those of offload. */
static inline struct netsync_packet make_tcp_segment(void)
{
	return (struct netsync_packet){
		.size = sizeof(struct netsync_packet),
		.time_ns = EPOCH,
		.fields = NETSYNC_HAS_ADDRS | NETSYNC_HAS_PORTS |
			  NETSYNC_HAS_IP_ID | NETSYNC_HAS_LEN |
			  NETSYNC_HAS_WINDOW | NETSYNC_HAS_TSTAMP,
		.saddr = { [10] = 0xff, 0xff, 10, 0, 0, 1 },
		.daddr = { [10] = 0xff, 0xff, 10, 0, 0, 2 },
		.sport = 40000,
		.dport = 80,
		.protocol = 6,
		.ip_id = 77,
		.len = 100,
		.tcp = {
			.seq = 1000,
			.ack = 2000,
			.flags = 0x8010,
			.window = 512,
			.tsval = 5,
			.tsecr = 6,
		},
	};
}

static inline int64_t draw_integer_below(uint64_t *state, int64_t n)
{
	return (int64_t)(draw_random64(state) % (uint64_t)n);
}

#endif
