// SPDX-License-Identifier: LGPL-2.1-or-later
/* Decompress xz files, which may have several streams, with liblzma. */
#ifdef HAS_LZMA
#include <errno.h>
#include <lzma.h>
#include <stdlib.h>
#endif

#include "io/unpack/unpack.h"

#ifdef HAS_LZMA
static void *begin_xz(void)
{
	static const lzma_stream fresh = LZMA_STREAM_INIT;
	lzma_stream *stream = malloc(sizeof(*stream));

	if (!stream)
		return NULL;
	*stream = fresh;
	if (lzma_stream_decoder(stream, UNPACK_MAX_MEMORY, LZMA_CONCATENATED) == LZMA_OK)
		return stream;
	free(stream);
	return NULL;
}

static int decode_xz(void *decoder, struct decoding *d)
{
	lzma_stream *stream = decoder;
	lzma_ret ret;

	stream->next_in = d->in;
	stream->avail_in = d->in_size;
	stream->next_out = d->out;
	stream->avail_out = d->out_size;
	ret = lzma_code(stream, d->is_last ? LZMA_FINISH : LZMA_RUN);
	d->in_size = stream->avail_in;
	d->out_size = stream->avail_out;
	switch (ret) {
	case LZMA_STREAM_END:
		return 1;
	case LZMA_OK:
	case LZMA_BUF_ERROR:
		return 0;
	case LZMA_MEM_ERROR:
		return -ENOMEM;
	case LZMA_MEMLIMIT_ERROR:
		return -E2BIG;
	default:
		return -EILSEQ;
	}
}

static void end_xz(void *decoder)
{
	lzma_end(decoder);
	free(decoder);
}
#endif

const struct compression xz_compression = {
	.name = "xz",
	.command = "unxz",
	.magic = "\xfd"
		 "7zXZ\0",
	.magic_size = 6,
#ifdef HAS_LZMA
	.begin = begin_xz,
	.decode = decode_xz,
	.end = end_xz,
#endif
};
