// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz a server of traces. The reader must use valid data and refuse other data, quickly and with
 * little memory, and continue afterwards.
 *
 * An input is everything that the connection delivers, or only its uncompressed records, so that
 * the fuzzer need not produce valid zstd data.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <netsync-io.h>
#include <zstd.h>

#include "io/remote/protocol.h"

/* Maximum size of an input, which must fit into a pipe, bytes. */
#define MAX_SIZE 60000

static void put_connection_bytes(int fd, const void *data, size_t size)
{
	if (write(fd, data, size) != (ssize_t)size)
		abort();
}

/* Compress records as a server does. */
static void put_compressed_records(int fd, const uint8_t *data, size_t size)
{
	static ZSTD_CCtx *zstd;
	static uint8_t bytes[REMOTE_MAX_FRAME];
	uint8_t hello[REMOTE_HELLO_SIZE] = REMOTE_MAGIC, length[4];
	ZSTD_outBuffer out = { bytes, sizeof(bytes), 0 };
	ZSTD_inBuffer in = { data, size, 0 };

	if (!zstd)
		zstd = ZSTD_createCCtx();
	ZSTD_CCtx_reset(zstd, ZSTD_reset_session_only);
	if (ZSTD_compressStream2(zstd, &out, &in, ZSTD_e_flush))
		abort();
	hello[REMOTE_HELLO_SIZE - 1] = REMOTE_VERSION;
	put_connection_bytes(fd, hello, sizeof(hello));
	remote_put_32(length, (uint32_t)out.pos);
	put_connection_bytes(fd, length, sizeof(length));
	put_connection_bytes(fd, bytes, out.pos);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct netsync *ns = netsync_new();
	struct netsync_io *io = netsync_io_new(ns);
	int fds[2], out = open("/dev/null", O_WRONLY);

	if (size > MAX_SIZE)
		size = MAX_SIZE;
	if (pipe2(fds, O_NONBLOCK))
		abort();
	if (size && data[0] == REMOTE_MAGIC[0])
		put_connection_bytes(fds[1], data, size);
	else
		put_compressed_records(fds[1], data, size);
	close(fds[1]);
	if (netsync_io_add_served(io, "host", size % 2 ? "name" : NULL, fds[0], out) > 0) {
		const struct netsync_io_window window = {
			.size = sizeof(window),
			.begin_is = size % 5 ? NETSYNC_IO_NO_LIMIT : NETSYNC_IO_SINCE_BEGIN,
			.end_is = size % 7 ? NETSYNC_IO_NO_LIMIT : NETSYNC_IO_AT,
			.begin_ns = 1000000,
			.end_ns = INT64_C(1700000001000000000),
		};

		netsync_io_set_window(io, &window);
		netsync_io_set_split_netns(io, size % 3 == 0);
		if (!netsync_io_read(io, NULL, NULL))
			netsync_solve(ns, NULL);
	}
	netsync_io_free(io);
	netsync_free(ns);
	close(fds[0]);
	close(out);
	return 0;
}
