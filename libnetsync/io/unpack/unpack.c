// SPDX-License-Identifier: LGPL-2.1-or-later
/* Read a file that may be compressed. The buffer has a fixed size. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/unpack/unpack.h"

/* Number of compressed bytes that are read at a time. Chosen. */
#define BUFFER_SIZE ((size_t)128 << 10)
/* Number of decompressed bytes that are skipped at a time. Chosen. */
#define PASS_SIZE 16384

static const struct compression *const compressions[] = {
	&gzip_compression,
	&zstd_compression,
	&xz_compression,
	&lz4_compression,
};

const struct compression *find_compression(const uint8_t *head, size_t size)
{
	for (size_t i = 0; i < sizeof(compressions) / sizeof(compressions[0]); i++) {
		const struct compression *c = compressions[i];

		if (size >= c->magic_size && !memcmp(head, c->magic, c->magic_size))
			return c;
	}
	return NULL;
}

/*
 * Read compressed bytes. If the file is stuck, treat the rest as damaged, so that the bytes before
 * it are used.
 */
static ssize_t read_raw_bytes(struct unpacked *file, void *to, size_t size, uint64_t at)
{
	const ssize_t len = disk_read(file->from, to, size, at);

	if (len != -ETIMEDOUT)
		return len;
	file->damage = "reading made no progress and was abandoned";
	return -EILSEQ;
}

static void end_decoding(struct unpacked *file)
{
	if (file->decoder)
		file->compression->end(file->decoder);
	file->decoder = NULL;
}

static int begin_decoding(struct unpacked *file)
{
	end_decoding(file);
	file->buffer_at = file->buffer_size = 0;
	file->file_at = file->at = 0;
	file->can_end = false;
	file->damage = NULL;
	file->decoder = file->compression->begin();
	return file->decoder ? 0 : -ENOMEM;
}

int unpacked_open(struct unpacked *file, struct disk_file *from)
{
	uint8_t head[UNPACK_MAGIC_SIZE];
	ssize_t len;

	*file = (struct unpacked){ .from = from };
	len = disk_read(from, head, sizeof(head), 0);
	if (len < 0)
		return (int)len;
	file->compression = find_compression(head, (size_t)len);
	if (!file->compression)
		return 0;
	if (!file->compression->begin)
		return -ENOSYS;
	file->buffer = malloc(BUFFER_SIZE);
	return file->buffer ? begin_decoding(file) : -ENOMEM;
}

void unpacked_close(struct unpacked *file)
{
	disk_close(file->from);
	file->from = NULL;
	end_decoding(file);
	free(file->buffer);
	file->buffer = NULL;
}

static int fail_damaged_file(struct unpacked *file, int err)
{
	file->damage =
		err == -E2BIG ?
			"decompressing it takes more than 128 MiB of memory; decompress it first" :
			"the compressed data is damaged";
	return -EILSEQ;
}

/*
 * If the buffer is empty, fill it. Return 1, 0 if there are no more bytes, or a negative errno
 * value.
 */
static int fill_decode_buffer(struct unpacked *file)
{
	ssize_t len;

	if (file->buffer_at < file->buffer_size)
		return 1;
	len = read_raw_bytes(file, file->buffer, BUFFER_SIZE, file->file_at);
	file->buffer_at = 0;
	file->buffer_size = len < 0 ? 0 : (size_t)len;
	file->file_at += file->buffer_size;
	return len < 0 ? (int)len : len > 0;
}

/* Decode at most @size bytes. Return the same values as unpacked_read(). */
static ssize_t decode_next_bytes(struct unpacked *file, uint8_t *to, size_t size)
{
	for (;;) {
		struct decoding d = { .out = to, .out_size = size };
		int ret = fill_decode_buffer(file);
		size_t in_size;

		if (ret < 0)
			return ret;
		d.in = file->buffer + file->buffer_at;
		d.in_size = file->buffer_size - file->buffer_at;
		d.is_last = !ret;
		in_size = d.in_size;
		ret = file->compression->decode(file->decoder, &d);
		/* If a decoder makes no progress, do not call it again. */
		if (!ret && in_size && d.in_size == in_size && d.out_size == size)
			ret = -EILSEQ;
		if (ret == -ENOMEM)
			return ret;
		if (ret < 0)
			ret = fail_damaged_file(file, ret);
		file->can_end = ret > 0;
		file->buffer_at = file->buffer_size - d.in_size;
		file->at += size - d.out_size;
		/* Return the bytes that precede the damage. */
		if (d.out_size < size)
			return (ssize_t)(size - d.out_size);
		if (ret < 0)
			return ret;
		if (!d.is_last)
			continue;
		if (file->can_end)
			return 0;
		file->damage = "the compressed data is truncated";
		return -EILSEQ;
	}
}

/*
 * Skip to a position after the current one. Return 1 when it is reached, or the same values as
 * unpacked_read().
 */
static ssize_t skip_to_offset(struct unpacked *file, uint64_t at)
{
	uint8_t passed[PASS_SIZE];

	while (file->at < at) {
		const uint64_t left = at - file->at;
		const ssize_t len = decode_next_bytes(file, passed,
						      left < PASS_SIZE ? left : PASS_SIZE);

		if (len <= 0)
			return len;
	}
	return 1;
}

ssize_t unpacked_read(struct unpacked *file, void *to, size_t size, uint64_t at)
{
	ssize_t ret;

	if (at > INT64_MAX - size)
		return 0;
	if (!file->compression)
		return read_raw_bytes(file, to, size, at);
	if (at < file->at) {
		ret = begin_decoding(file);
		if (ret)
			return ret;
	}
	if (file->damage)
		return -EILSEQ;
	ret = skip_to_offset(file, at);
	return ret <= 0 || !size ? ret : decode_next_bytes(file, to, size);
}
