// SPDX-License-Identifier: LGPL-2.1-or-later
/* Numbers <-> bytes. */
#include <string.h>

#include "save/bytes.h"
#include "util/leb128.h"

void bytes_put_raw(struct bytes_put *p, const void *bytes, size_t num)
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
			bytes_flush(p);
	}
}

void bytes_put_number(struct bytes_put *p, uint64_t v)
{
	uint8_t b[LEB128_MAX];
	const size_t n = leb128_put(b, v);

	bytes_put_raw(p, b, n);
}

void bytes_put_signed(struct bytes_put *p, int64_t v)
{
	bytes_put_number(p, leb128_of_signed(v));
}

static void bytes_put_64(struct bytes_put *p, uint64_t v)
{
	uint8_t b[8];

	for (int i = 0; i < 8; i++)
		b[i] = (uint8_t)(v >> (8 * i));
	bytes_put_raw(p, b, sizeof(b));
}

void bytes_put_128(struct bytes_put *p, __int128 v)
{
	bytes_put_64(p, (uint64_t)v);
	bytes_put_64(p, (uint64_t)((unsigned __int128)v >> 64));
}

void bytes_put_wide(struct bytes_put *p, struct wide v)
{
	bytes_put_64(p, v.low);
	bytes_put_128(p, v.high);
}

void bytes_put_double(struct bytes_put *p, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	bytes_put_64(p, bits);
}

int bytes_flush(struct bytes_put *p)
{
	if (!p->error && p->used)
		p->error = p->write(p->data, p->room, p->used);
	p->used = 0;
	return p->error;
}

const uint8_t *bytes_take_raw(struct bytes_take *t, size_t num)
{
	const uint8_t *at = t->at;

	if (t->bad || num > (size_t)(t->end - t->at)) {
		t->bad = true;
		return NULL;
	}
	t->at += num;
	return at;
}

uint64_t bytes_take_number(struct bytes_take *t)
{
	uint64_t v = 0;
	size_t n = 0;

	if (!t->bad)
		n = leb128_take(t->at, (size_t)(t->end - t->at), &v);
	t->bad = !n;
	t->at += n;
	return v;
}

uint64_t bytes_take_up_to(struct bytes_take *t, uint64_t most)
{
	const uint64_t v = bytes_take_number(t);

	t->bad |= v > most;
	return t->bad ? 0 : v;
}

int64_t bytes_take_signed(struct bytes_take *t, int64_t most)
{
	const int64_t v = leb128_to_signed(bytes_take_number(t));

	t->bad |= v > most || v < -most;
	return t->bad ? 0 : v;
}

static uint64_t bytes_take_64(struct bytes_take *t)
{
	const uint8_t *b = bytes_take_raw(t, 8);
	uint64_t v = 0;

	for (int i = 0; b && i < 8; i++)
		v |= (uint64_t)b[i] << (8 * i);
	return v;
}

__int128 bytes_take_128(struct bytes_take *t)
{
	const uint64_t low = bytes_take_64(t);

	return (__int128)((unsigned __int128)bytes_take_64(t) << 64 | low);
}

struct wide bytes_take_wide(struct bytes_take *t)
{
	const uint64_t low = bytes_take_64(t);

	return (struct wide){ low, bytes_take_128(t) };
}

double bytes_take_double(struct bytes_take *t)
{
	const uint64_t bits = bytes_take_64(t);
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

size_t bytes_take_count(struct bytes_take *t, size_t size)
{
	return (size_t)bytes_take_up_to(t, t->bad ? 0 : (uint64_t)(t->end - t->at) / size);
}
