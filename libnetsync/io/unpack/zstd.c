// SPDX-License-Identifier: LGPL-2.1-or-later
/* Decompress Zstandard files (RFC 8878), which may have several frames. */
#include <errno.h>
#include <stdlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "io/unpack/unpack.h"

struct zstd {
	ZSTD_DCtx *context;
	bool has_ended; /* whether a frame has ended; another one may follow */
};

static void *begin_zstd(void)
{
	struct zstd *zstd = calloc(1, sizeof(*zstd));

	if (zstd)
		zstd->context = ZSTD_createDCtx();
	if (zstd && zstd->context) {
		ZSTD_DCtx_setParameter(zstd->context, ZSTD_d_windowLogMax, UNPACK_MAX_WINDOW_LOG);
		return zstd;
	}
	free(zstd);
	return NULL;
}

static int zstd_error_to_errno(size_t ret)
{
	switch (ZSTD_getErrorCode(ret)) {
	case ZSTD_error_memory_allocation:
		return -ENOMEM;
	case ZSTD_error_frameParameter_windowTooLarge:
		return -E2BIG;
	default:
		return -EILSEQ;
	}
}

static int decode_zstd(void *decoder, struct decoding *d)
{
	struct zstd *zstd = decoder;
	ZSTD_inBuffer in = { d->in, d->in_size, 0 };
	ZSTD_outBuffer out = { d->out, d->out_size, 0 };
	size_t ret;

	/* Without input, this call would begin a new frame, which does not exist. */
	if (!d->in_size && zstd->has_ended)
		return 1;
	ret = ZSTD_decompressStream(zstd->context, &out, &in);
	d->in += in.pos;
	d->in_size -= in.pos;
	d->out += out.pos;
	d->out_size -= out.pos;
	if (ZSTD_isError(ret))
		return zstd_error_to_errno(ret);
	zstd->has_ended = !ret;
	return zstd->has_ended;
}

static void end_zstd(void *decoder)
{
	struct zstd *zstd = decoder;

	ZSTD_freeDCtx(zstd->context);
	free(zstd);
}

const struct compression zstd_compression = {
	.name = "zstd",
	.command = "unzstd",
	.magic = "\x28\xb5\x2f\xfd",
	.magic_size = 4,
	.begin = begin_zstd,
	.decode = decode_zstd,
	.end = end_zstd,
};
