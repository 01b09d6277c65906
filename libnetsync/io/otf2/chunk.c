// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Files of definitions, as OTF2 3.0's library writes them. A file consists of chunks of equal size,
 * except the last one:
 *
 *	3, byte order, two numbers		head
 *	type, length (1 byte; or 255, 8 bytes), contents	records
 *	2, zeros				end of the chunk
 *	1					instead of zeros: end of the file
 *
 * OTF2's library can only write whole archives, so it cannot change a record.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/otf2/copy.h"

enum { END_OF_FILE = 1, END_OF_CHUNK, BEGIN_OF_CHUNK };

/* Byte order of files from little-endian machines. Those of others are not written. */
#define LITTLE_ENDIAN_MARK 'B'
/* Size of the head of a chunk (bytes), from OTF2's file format. */
#define HEAD_BYTES 18
/* Length byte that a length of 8 bytes follows. */
#define LONG_RECORD 255
/* A record of ours fits: type, length, and three numbers of at most 9 bytes. */
#define MAX_RECORD 64

static int put_otf2_bytes(struct otf2_bytes *bytes, const void *data, size_t num)
{
	if (bytes->room - bytes->num < num) {
		const size_t room = 2 * bytes->room + num;
		uint8_t *bigger = realloc(bytes->data, room);

		if (!bigger)
			return -ENOMEM;
		bytes->data = bigger;
		bytes->room = room;
	}
	if (num)
		memcpy(bytes->data + bytes->num, data, num);
	bytes->num += num;
	return 0;
}

/* ---- records ---------------------------------------------------------------- */

static uint8_t *put_fixed_number(uint8_t *at, uint64_t number)
{
	const uint64_t bytes = htole64(number);

	memcpy(at, &bytes, sizeof(bytes));
	return at + sizeof(bytes);
}

/* Put a number without its leading zero bytes, after their number; all ones are 255. */
static uint8_t *put_short_number(uint8_t *at, uint64_t number)
{
	uint8_t num = 0;

	while (num < 8 && number >> (8 * num))
		num++;
	if (number == UINT64_MAX) {
		*at = 255;
		return at + 1;
	}
	*at = num;
	put_fixed_number(at + 1, number);
	return at + 1 + num;
}

static int put_record(struct otf2_bytes *records, uint8_t record[MAX_RECORD], uint8_t type,
		      const uint8_t *end)
{
	record[0] = type;
	record[1] = (uint8_t)(end - record - 2);
	return put_otf2_bytes(records, record, (size_t)(end - record));
}

int otf2_put_offset(struct otf2_bytes *records, const struct otf2_offset *offset)
{
	uint8_t record[MAX_RECORD], *at = put_fixed_number(record + 2, (uint64_t)offset->time);

	at = put_short_number(at, (uint64_t)offset->offset);
	/* The standard deviation, a double: unknown, which other tools write as 0. */
	return put_record(records, record, OTF2_CLOCK_OFFSET, put_fixed_number(at, 0));
}

int otf2_put_timer(struct otf2_bytes *records, const struct otf2_timer *timer)
{
	uint8_t record[MAX_RECORD], *at = put_short_number(record + 2, (uint64_t)timer->resolution);

	at = put_short_number(at, (uint64_t)timer->start);
	at = put_short_number(at, (uint64_t)timer->length);
	return put_record(records, record, OTF2_CLOCK_PROPERTIES,
			  put_short_number(at, (uint64_t)timer->realtime_ns));
}

int otf2_make_definitions(struct otf2_bytes *file)
{
	static const uint8_t empty[HEAD_BYTES + 2] = {
		BEGIN_OF_CHUNK, LITTLE_ENDIAN_MARK, 1, [HEAD_BYTES] = END_OF_CHUNK, END_OF_FILE,
	};

	return put_otf2_bytes(file, empty, sizeof(empty));
}

/* ---- files -------------------------------------------------------------------- */

/* Return the size of the record at @at, or 0 if it is damaged. */
static size_t get_record_size(const struct otf2_bytes *file, size_t at)
{
	const size_t left = file->num - at;
	uint64_t length;

	if (left < 2 || file->data[at] <= BEGIN_OF_CHUNK)
		return 0;
	if (file->data[at + 1] != LONG_RECORD)
		return left - 2 < file->data[at + 1] ? 0 : 2 + (size_t)file->data[at + 1];
	if (left < 10)
		return 0;
	memcpy(&length, file->data + at + 2, sizeof(length));
	length = le64toh(length);
	return left - 10 < length ? 0 : 10 + (size_t)length;
}

/* Copy the records of the first chunk, and replace those of a type. Set *@at to the chunk's end. */
static int copy_records(const struct otf2_bytes *file, uint8_t type,
			const struct otf2_bytes *records, struct otf2_bytes *copy, size_t *at)
{
	bool is_done = false;
	size_t size;
	int ret;

	if (file->num < HEAD_BYTES || file->data[0] != BEGIN_OF_CHUNK ||
	    file->data[1] != LITTLE_ENDIAN_MARK)
		return -EILSEQ;
	ret = put_otf2_bytes(copy, file->data, HEAD_BYTES);
	for (*at = HEAD_BYTES; !ret && *at < file->num && file->data[*at] != END_OF_CHUNK;
	     *at += size) {
		const bool is_old = file->data[*at] == type;

		size = get_record_size(file, *at);
		if (!size)
			return -EILSEQ;
		if (!is_old)
			ret = put_otf2_bytes(copy, file->data + *at, size);
		else if (!is_done)
			ret = put_otf2_bytes(copy, records->data, records->num);
		is_done |= is_old;
	}
	if (!ret && *at >= file->num)
		return -EILSEQ;
	return !ret && !is_done ? put_otf2_bytes(copy, records->data, records->num) : ret;
}

/* End the first chunk of a copy, which @at is the end of in the file, and copy all others. */
static int copy_other_chunks(const struct otf2_bytes *file, size_t at, uint64_t chunk,
			     bool only_chunk, struct otf2_bytes *copy)
{
	static const uint8_t zero;
	const bool is_last = file->num - at == 2 && file->data[at + 1] == END_OF_FILE;
	int ret;

	if (!is_last && (at >= chunk || file->num < chunk))
		return -EILSEQ;
	if (copy->num + 1 + is_last > chunk || (only_chunk && !is_last))
		return -E2BIG;
	ret = put_otf2_bytes(copy, file->data + at, is_last ? 2 : 1);
	while (!ret && !is_last && copy->num < chunk)
		ret = put_otf2_bytes(copy, &zero, 1);
	if (!ret && !is_last)
		ret = put_otf2_bytes(copy, file->data + chunk, file->num - chunk);
	return ret;
}

int otf2_replace_records(struct otf2_bytes *file, uint8_t type, const struct otf2_bytes *records,
			 uint64_t chunk, bool only_chunk)
{
	struct otf2_bytes copy = { 0 };
	size_t at;
	int ret = copy_records(file, type, records, &copy, &at);

	if (!ret)
		ret = copy_other_chunks(file, at, chunk, only_chunk, &copy);
	free(ret ? copy.data : file->data);
	if (!ret)
		*file = copy;
	return ret;
}
