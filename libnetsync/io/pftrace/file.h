/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A file in Perfetto's format -> its packets, one at a time. */
#ifndef NETSYNC_PFTRACE_FILE_H
#define NETSYNC_PFTRACE_FILE_H

#include "io/io.h"
#include "io/unpack/unpack.h"
#include "util/bytes.h"

/*
 * Maximum size of a packet, also after decompression, in bytes. Chosen: Perfetto's packets have at
 * most some hundred KB.
 */
#define PFTRACE_MAX_PACKET (16 << 20)

/* Number of TracePacket.compressed_packets. */
#define PFTRACE_COMPRESSED 50

struct pftrace_file {
	struct unpacked file;
	uint8_t *buffer; /* bytes of the file, from @at on */
	size_t have;	 /* number of bytes in the buffer */
	size_t used;	 /* number of these bytes that were consumed */
	size_t room;	 /* number of bytes allocated */
	uint64_t at;	 /* position of the buffer in the file */
	/* Packets that were decompressed, and their rest. */
	uint8_t *inner;
	size_t inner_room;
	struct bytes_take rest;
	const char *problem; /* why the file is damaged */
};

/* Open a file. On failure, call io_fail() and return a negative value. Close the file even then. */
int pftrace_open(struct pftrace_file *file, struct netsync_io *io, const char *path);
void pftrace_close(struct pftrace_file *file);

/*
 * Get the next packet, valid until the next call. Return 1; 0 at the end of the file; -EILSEQ if the
 * file is damaged from here on; or another negative errno value.
 */
int pftrace_next_packet(struct pftrace_file *file, struct bytes_take *packet);

/* Return whether the first bytes of a file are the beginning of Perfetto's packets. */
bool pftrace_is_head(const uint8_t *head, size_t size);

#endif
