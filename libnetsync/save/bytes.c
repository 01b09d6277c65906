// SPDX-License-Identifier: LGPL-2.1-or-later
/* Numbers <-> bytes. */
#include <string.h>

#include "save/bytes.h"

void put_bytes(struct bytes_put *p, const void *bytes, size_t num)
{
	const uint8_t *from = bytes;

	while (num) {
		const size_t n = num < BYTES_ROOM - p->used ? num :
							BYTES_ROOM - p->used;

		memcpy(p->room + p->used, from, n);
		p->used += n;
		from += n;
		num -= n;
		if (p->used == BYTES_ROOM)
			put_rest(p);
	}
}

void put_number(struct bytes_put *p, uint64_t v)
{
	uint8_t b[10];
	size_t n = 0;

	for (; v >= 128; v >>= 7)
		b[n++] = (uint8_t)(v | 128);
	b[n++] = (uint8_t)v;
	put_bytes(p, b, n);
}

/* The sign becomes the lowest bit, so that small numbers are short. */
void put_signed(struct bytes_put *p, int64_t v)
{
	put_number(p, v < 0 ? ~((uint64_t)v << 1) : (uint64_t)v << 1);
}

static void put_64(struct bytes_put *p, uint64_t v)
{
	uint8_t b[8];

	for (int i = 0; i < 8; i++)
		b[i] = (uint8_t)(v >> (8 * i));
	put_bytes(p, b, sizeof(b));
}

void put_128(struct bytes_put *p, __int128 v)
{
	put_64(p, (uint64_t)v);
	put_64(p, (uint64_t)((unsigned __int128)v >> 64));
}

void put_wide(struct bytes_put *p, struct wide v)
{
	put_64(p, v.low);
	put_128(p, v.high);
}

void put_double(struct bytes_put *p, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	put_64(p, bits);
}

int put_rest(struct bytes_put *p)
{
	if (!p->error && p->used)
		p->error = p->write(p->data, p->room, p->used);
	p->used = 0;
	return p->error;
}

const uint8_t *take_bytes(struct bytes_take *t, size_t num)
{
	const uint8_t *at = t->at;

	if (t->bad || num > (size_t)(t->end - t->at)) {
		t->bad = true;
		return NULL;
	}
	t->at += num;
	return at;
}

uint64_t take_number(struct bytes_take *t)
{
	uint64_t v = 0;

	for (unsigned int shift = 0; shift < 64; shift += 7) {
		const uint8_t *b = take_bytes(t, 1);

		if (!b)
			return 0;
		/* Of the tenth byte there is room for one bit. */
		if (shift == 63 && *b > 1)
			break;
		v |= (uint64_t)(*b & 127) << shift;
		if (*b < 128)
			return v;
	}
	t->bad = true;
	return 0;
}

uint64_t take_upto(struct bytes_take *t, uint64_t most)
{
	const uint64_t v = take_number(t);

	t->bad |= v > most;
	return t->bad ? 0 : v;
}

int64_t take_signed(struct bytes_take *t, int64_t most)
{
	const uint64_t u = take_number(t);
	const int64_t v = (int64_t)(u >> 1 ^ (0 - (u & 1)));

	t->bad |= v > most || v < -most;
	return t->bad ? 0 : v;
}

static uint64_t take_64(struct bytes_take *t)
{
	const uint8_t *b = take_bytes(t, 8);
	uint64_t v = 0;

	for (int i = 0; b && i < 8; i++)
		v |= (uint64_t)b[i] << (8 * i);
	return v;
}

__int128 take_128(struct bytes_take *t)
{
	const uint64_t low = take_64(t);

	return (__int128)((unsigned __int128)take_64(t) << 64 | low);
}

struct wide take_wide(struct bytes_take *t)
{
	const uint64_t low = take_64(t);

	return (struct wide){ low, take_128(t) };
}

double take_double(struct bytes_take *t)
{
	const uint64_t bits = take_64(t);
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

size_t take_count(struct bytes_take *t, size_t size)
{
	return (size_t)take_upto(t, t->bad ? 0 : (uint64_t)(t->end - t->at) / size);
}
