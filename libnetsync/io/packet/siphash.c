// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Compute SipHash-1-3: J.-P. Aumasson, D. J. Bernstein, "SipHash: a fast short-input PRF", 2012.
 * SipHash-1-3 has one round for each word and three rounds at the end.
 */
#include "io/packet/siphash.h"

struct state {
	uint64_t a, b, c, d;
};

static uint64_t rotate_left(uint64_t value, unsigned int by)
{
	return value << by | value >> (64 - by);
}

static void mix_siphash_state(struct state *s)
{
	s->a += s->b;
	s->c += s->d;
	s->b = rotate_left(s->b, 13) ^ s->a;
	s->d = rotate_left(s->d, 16) ^ s->c;
	s->a = rotate_left(s->a, 32) + s->d;
	s->c += s->b;
	s->d = rotate_left(s->d, 21) ^ s->a;
	s->b = rotate_left(s->b, 17) ^ s->c;
	s->c = rotate_left(s->c, 32);
}

static void mix_siphash_word(struct state *s, uint64_t word)
{
	s->d ^= word;
	mix_siphash_state(s);
	s->a ^= word;
}

/* Load at most 8 bytes. The first byte is the lowest. */
static uint64_t load_little_endian_word(const uint8_t *bytes, size_t len)
{
	uint64_t word = 0;

	for (size_t i = 0; i < len; i++)
		word |= (uint64_t)bytes[i] << (8 * i);
	return word;
}

uint64_t siphash_1_3(const uint8_t *data, size_t len)
{
	const uint64_t low = UINT64_C(0x0706050403020100);
	const uint64_t high = UINT64_C(0x0f0e0d0c0b0a0908);
	/* The initial state in the paper: "somepseudorandomlygeneratedbytes", xor the key. */
	struct state s = {
		UINT64_C(0x736f6d6570736575) ^ low,
		UINT64_C(0x646f72616e646f6d) ^ high,
		UINT64_C(0x6c7967656e657261) ^ low,
		UINT64_C(0x7465646279746573) ^ high,
	};
	size_t at = 0;

	for (; len - at >= 8; at += 8)
		mix_siphash_word(&s, load_little_endian_word(data + at, 8));
	mix_siphash_word(&s, (uint64_t)len << 56 | load_little_endian_word(data + at, len - at));
	s.c ^= 0xff;
	for (int i = 0; i < 3; i++)
		mix_siphash_state(&s);
	return s.a ^ s.b ^ s.c ^ s.d;
}
