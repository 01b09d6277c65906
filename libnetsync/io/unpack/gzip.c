// SPDX-License-Identifier: LGPL-2.1-or-later
/* Decompress gzip files (RFC 1952), which may have several members. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

#include "io/unpack/unpack.h"

/*
 * Argument of inflateInit2(): the largest window, plus 32 for the header and checksum of gzip, or of
 * zlib (RFC 1950), which Perfetto uses within its files.
 */
#define GZIP_WINDOW (15 + 32)

struct gzip {
	z_stream stream;
	bool has_ended; /* whether a member has ended; another one may follow */
};

static void *begin_gzip(void)
{
	struct gzip *gzip = calloc(1, sizeof(*gzip));

	if (gzip && inflateInit2(&gzip->stream, GZIP_WINDOW) == Z_OK)
		return gzip;
	free(gzip);
	return NULL;
}

static int decode_gzip(void *decoder, struct decoding *d)
{
	struct gzip *gzip = decoder;
	z_stream *stream = &gzip->stream;
	int ret;

	if (!d->in_size)
		return gzip->has_ended;
	if (gzip->has_ended)
		inflateReset(stream);
	stream->next_in = (uint8_t *)d->in;
	stream->avail_in = (uInt)d->in_size;
	stream->next_out = d->out;
	stream->avail_out = d->out_size < UINT_MAX ? (uInt)d->out_size : UINT_MAX;
	ret = inflate(stream, Z_NO_FLUSH);
	d->in = stream->next_in;
	d->in_size = stream->avail_in;
	d->out_size -= (size_t)(stream->next_out - d->out);
	d->out = stream->next_out;
	gzip->has_ended = ret == Z_STREAM_END;
	if (ret == Z_MEM_ERROR)
		return -ENOMEM;
	return ret == Z_OK || ret == Z_BUF_ERROR ? 0 : ret == Z_STREAM_END ? 1 : -EILSEQ;
}

static void end_gzip(void *decoder)
{
	struct gzip *gzip = decoder;

	inflateEnd(&gzip->stream);
	free(gzip);
}

const struct compression gzip_compression = {
	.name = "gzip",
	.command = "gunzip",
	.magic = "\x1f\x8b\x08",
	.magic_size = 3,
	.begin = begin_gzip,
	.decode = decode_gzip,
	.end = end_gzip,
};
