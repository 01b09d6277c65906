/* SPDX-License-Identifier: GPL-2.0-only */
/* SipHash-1-3 with the key 00 01 .. 0f, to check the digests of payloads. */
#ifndef SIPHASH_H
#define SIPHASH_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t sip_rotate(uint64_t x, int bits)
{
	return x << bits | x >> (64 - bits);
}

static inline void sip_rounds(uint64_t v[4], int rounds)
{
	while (rounds--) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = sip_rotate(v[1], 13) ^ v[0];
		v[3] = sip_rotate(v[3], 16) ^ v[2];
		v[0] = sip_rotate(v[0], 32) + v[3];
		v[2] += v[1];
		v[3] = sip_rotate(v[3], 21) ^ v[0];
		v[1] = sip_rotate(v[1], 17) ^ v[2];
		v[2] = sip_rotate(v[2], 32);
	}
}

static inline uint64_t siphash_1_3_reference(const uint8_t *data, size_t len)
{
	const uint64_t k0 = 0x0706050403020100, k1 = 0x0f0e0d0c0b0a0908;
	uint64_t v[4] = { 0x736f6d6570736575 ^ k0, 0x646f72616e646f6d ^ k1, 0x6c7967656e657261 ^ k0,
			  0x7465646279746573 ^ k1 };
	uint64_t word = 0;
	size_t i;

	for (i = 0; i <= len; i++) {
		word |= (uint64_t)(i < len ? data[i] : 0) << (8 * (i % 8));
		if (i == len)
			word |= (uint64_t)len << 56;
		if (i % 8 != 7 && i != len)
			continue;
		v[3] ^= word;
		sip_rounds(v, 1);
		v[0] ^= word;
		word = 0;
	}
	v[2] ^= 0xff;
	sip_rounds(v, 3);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

#endif /* SIPHASH_H */
