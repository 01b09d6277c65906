// SPDX-License-Identifier: LGPL-2.1-or-later
/* Decompress LZ4 files, which may have several frames, with liblz4. */
#ifdef HAS_LZ4
#include <errno.h>
#include <lz4frame.h>
#include <stdlib.h>
#endif

#include "io/unpack/unpack.h"

#ifdef HAS_LZ4
struct lz4 {
	LZ4F_dctx *context;
	bool has_ended; /* whether a frame has ended; another one may follow */
};

static void *begin_lz4(void)
{
	struct lz4 *lz4 = calloc(1, sizeof(*lz4));

	if (lz4 && !LZ4F_isError(LZ4F_createDecompressionContext(&lz4->context, LZ4F_VERSION)))
		return lz4;
	free(lz4);
	return NULL;
}

static int decode_lz4(void *decoder, struct decoding *d)
{
	struct lz4 *lz4 = decoder;
	size_t in = d->in_size, out = d->out_size, ret;

	/* Without input, this call would begin a new frame, which does not exist. */
	if (!d->in_size && lz4->has_ended)
		return 1;
	ret = LZ4F_decompress(lz4->context, d->out, &out, d->in, &in, NULL);
	/* After an error, the sizes are not valid. */
	if (LZ4F_isError(ret))
		return -EILSEQ;
	d->in += in;
	d->in_size -= in;
	d->out += out;
	d->out_size -= out;
	lz4->has_ended = !ret;
	return lz4->has_ended;
}

static void end_lz4(void *decoder)
{
	struct lz4 *lz4 = decoder;

	LZ4F_freeDecompressionContext(lz4->context);
	free(lz4);
}
#endif

const struct compression lz4_compression = {
	.name = "lz4",
	.command = "unlz4",
	.magic = "\x04\x22\x4d\x18",
	.magic_size = 4,
#ifdef HAS_LZ4
	.begin = begin_lz4,
	.decode = decode_lz4,
	.end = end_lz4,
#endif
};
