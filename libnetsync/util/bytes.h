/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Encode numbers as bytes, independently of the machine's byte order. LEB128 (DWARF 5, section 7.6)
 * stores seven bits per byte, and is short for numbers near 0. The little-endian encoding is for
 * numbers that mostly need all of their bytes. All input is checked.
 */
#ifndef NETSYNC_UTIL_BYTES_H
#define NETSYNC_UTIL_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Maximum size of a number in LEB128, in bytes. */
#define LEB128_MAX 10

/* Write a number as LEB128. Return the number of bytes written, at most LEB128_MAX. */
static inline size_t leb128_put(uint8_t *to, uint64_t v)
{
	size_t n = 0;

	/* Most numbers fit into one byte or two. */
	if (v < 128) {
		to[0] = (uint8_t)v;
		return 1;
	}
	to[n++] = (uint8_t)(v | 128);
	for (v >>= 7; v >= 128; v >>= 7)
		to[n++] = (uint8_t)(v | 128);
	to[n++] = (uint8_t)v;
	return n;
}

/*
 * Read a number in LEB128. Return the number of bytes that were read, or 0 if the number does not
 * end or exceeds 64 bits.
 */
static inline size_t leb128_take(const uint8_t *from, size_t num, uint64_t *v)
{
	*v = 0;
	for (size_t n = 0; n < num && n < LEB128_MAX; n++) {
		/* The tenth byte has space for only one bit. */
		if (n == LEB128_MAX - 1 && from[n] > 1)
			break;
		*v |= (uint64_t)(from[n] & 127) << (7 * n);
		if (from[n] < 128)
			return n + 1;
	}
	*v = 0;
	return 0;
}

/* Move the sign to the lowest bit, so that 0, -1, 1, -2, ... become 0, 1, 2, 3, ... */
static inline uint64_t fold_signed_number(int64_t v)
{
	return v < 0 ? ~((uint64_t)v << 1) : (uint64_t)v << 1;
}

static inline int64_t leb128_to_signed(uint64_t v)
{
	return (int64_t)(v >> 1 ^ (0 - (v & 1)));
}

/* Output buffer. The caller ensures that the buffer is large enough. */
struct bytes_put {
	uint8_t *at;
};

/* Input buffer. @bad is set if bytes are missing or a number exceeds its limit. */
struct bytes_take {
	const uint8_t *at, *end;
	bool bad;
};

static inline void bytes_put_raw(struct bytes_put *p, const void *bytes, size_t num)
{
	memcpy(p->at, bytes, num);
	p->at += num;
}

static inline void bytes_put_number(struct bytes_put *p, uint64_t v)
{
	p->at += leb128_put(p->at, v);
}

static inline void bytes_put_signed(struct bytes_put *p, int64_t v)
{
	bytes_put_number(p, fold_signed_number(v));
}

/* Write the lowest @num bytes of a number. The lowest byte is first. */
static inline void bytes_put_fixed(struct bytes_put *p, uint64_t v, unsigned int num)
{
	for (unsigned int i = 0; i < num; i++)
		*p->at++ = (uint8_t)(v >> (8 * i));
}

static inline void bytes_put_double(struct bytes_put *p, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	bytes_put_fixed(p, bits, sizeof(bits));
}

static inline struct bytes_take bytes_take_all(const void *bytes, size_t num)
{
	return (struct bytes_take){ bytes, (const uint8_t *)bytes + num, false };
}

/* Consume @num bytes without copying them. Return NULL if the input is invalid. */
static inline const uint8_t *bytes_take_raw(struct bytes_take *t, size_t num)
{
	const uint8_t *at = t->at;

	if (t->bad || num > (size_t)(t->end - t->at)) {
		t->bad = true;
		return NULL;
	}
	t->at += num;
	return at;
}

/* Copy @num bytes to @to. If the input is bad, fill @to with zeros. */
static inline void bytes_take_copy(struct bytes_take *t, void *to, size_t num)
{
	const uint8_t *from = bytes_take_raw(t, num);

	if (from)
		memcpy(to, from, num);
	else
		memset(to, 0, num);
}

/* Read a number in LEB128. If the input is bad, this call and all later calls return 0. */
static inline uint64_t bytes_take_number(struct bytes_take *t)
{
	uint64_t v = 0;
	size_t n = 0;

	/* Most numbers fit into one byte or two. */
	if (!t->bad && t->end - t->at > 1) {
		const uint8_t *at = t->at;

		if (at[0] < 128) {
			t->at = at + 1;
			return at[0];
		}
		if (at[1] < 128) {
			t->at = at + 2;
			return (at[0] & 127) | (uint64_t)at[1] << 7;
		}
	}
	if (!t->bad)
		n = leb128_take(t->at, (size_t)(t->end - t->at), &v);
	t->bad = !n;
	t->at += n;
	return v;
}

/* Read a number that must not exceed @most. */
static inline uint64_t bytes_take_up_to(struct bytes_take *t, uint64_t most)
{
	const uint64_t v = bytes_take_number(t);

	t->bad |= v > most;
	return t->bad ? 0 : v;
}

static inline int64_t bytes_take_signed(struct bytes_take *t)
{
	return leb128_to_signed(bytes_take_number(t));
}

/* Read a number whose magnitude must not exceed @most. */
static inline int64_t bytes_take_within(struct bytes_take *t, int64_t most)
{
	const int64_t v = bytes_take_signed(t);

	t->bad |= v > most || v < -most;
	return t->bad ? 0 : v;
}

/* Read a little-endian number of @num bytes. */
static inline uint64_t bytes_take_fixed(struct bytes_take *t, unsigned int num)
{
	const uint8_t *b = bytes_take_raw(t, num);
	uint64_t v = 0;

	for (unsigned int i = 0; b && i < num; i++)
		v |= (uint64_t)b[i] << (8 * i);
	return v;
}

static inline double bytes_take_double(struct bytes_take *t)
{
	const uint64_t bits = bytes_take_fixed(t, sizeof(bits));
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

/*
 * Read the number of items that follow. For each item, at least @size bytes of input must remain.
 */
static inline size_t bytes_take_count(struct bytes_take *t, size_t size)
{
	return (size_t)bytes_take_up_to(t, t->bad ? 0 : (uint64_t)(t->end - t->at) / size);
}

#endif
