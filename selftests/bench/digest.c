// SPDX-License-Identifier: GPL-2.0-only
#include <stddef.h>

#include "digest.h"

/* The hash FNV-1a with 64 bits: http://www.isthe.com/chongo/tech/comp/fnv/ */
#define FNV_OFFSET UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME UINT64_C(0x100000001b3)

static uint64_t add_to_digest(uint64_t d, const void *data, size_t size)
{
	const uint8_t *byte = data;

	for (size_t i = 0; i < size; i++)
		d = (d ^ byte[i]) * FNV_PRIME;
	return d;
}

uint64_t digest_clocks(const struct netsync *ns)
{
	uint64_t d = FNV_OFFSET;

	for (uint32_t h = 0; h < netsync_num_hosts(ns); h++) {
		const struct netsync_clock *clock = netsync_host_clock(ns, h);
		struct netsync_model m = { .size = sizeof(m) };

		d = add_to_digest(d, &h, sizeof(h));
		if (!clock || netsync_clock_model(clock, &m))
			continue;
		d = add_to_digest(d, m.segments, m.num_segments * sizeof(*m.segments));
		d = add_to_digest(d, m.knots, m.num_knots * sizeof(*m.knots));
	}
	return d;
}
