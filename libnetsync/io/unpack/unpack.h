/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Read a file that may be compressed, and decompress it while reading. The compression (gzip,
 * Zstandard, xz or LZ4) is identified by the first bytes. Memory is bounded for any file: a
 * buffer of compressed bytes, and the decoder's window.
 */
#ifndef NETSYNC_IO_UNPACK_H
#define NETSYNC_IO_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "io/disk/disk.h"

/* Input and output of a decoder, which advances the pointers and reduces the sizes. */
struct decoding {
	const uint8_t *in;
	size_t in_size;
	uint8_t *out;
	size_t out_size;
	bool is_last; /* the file has no bytes after @in */
};

struct compression {
	const char *name;
	const char *command; /* command that decompresses the file */
	const char *magic;   /* first bytes */
	size_t magic_size;
	/*
	 * Create a decoder. NULL, like the other functions, if netsync was built without the
	 * library.
	 */
	void *(*begin)(void); /* returns NULL if out of memory */
	/*
	 * Decode some bytes. Return 1 if the compressed data can end here; 0 if it cannot;
	 * -EILSEQ if it is damaged after the decoded bytes; -E2BIG if it needs more memory than
	 * UNPACK_MAX_MEMORY; -ENOMEM.
	 */
	int (*decode)(void *decoder, struct decoding *d);
	void (*end)(void *decoder);
};

/*
 * Maximum size of a decoder's window (bytes). Chosen: zstd --ultra -22 needs 128 MiB, and xz -9
 * 65 MiB.
 */
#define UNPACK_MAX_MEMORY ((size_t)128 << 20)
#define UNPACK_MAX_WINDOW_LOG 27

extern const struct compression gzip_compression;
extern const struct compression zstd_compression;
extern const struct compression xz_compression;
extern const struct compression lz4_compression;

/* Number of bytes at the beginning of a file that identify its compression. */
#define UNPACK_MAGIC_SIZE 6

/*
 * Identify the compression of a file by its first bytes. Return NULL if it is not a known
 * compression.
 */
const struct compression *find_compression(const uint8_t *head, size_t size);

struct unpacked {
	struct disk_file *from;		       /* NULL if the file is closed */
	const struct compression *compression; /* NULL if it is not compressed */
	void *decoder;			       /* NULL if not begun */
	uint8_t *buffer;		       /* compressed bytes */
	size_t buffer_at;
	size_t buffer_size;
	uint64_t file_at;   /* number of bytes of the file that were read into the buffer */
	uint64_t at;	    /* number of decompressed bytes that were read */
	bool can_end;	    /* the compressed data may end here */
	const char *damage; /* why the rest cannot be read; a clause */
};

/*
 * Take ownership of @from, which unpacked_close() closes in every case. Return 0; -ENOSYS if
 * this kind of compression is not built in; -ENOMEM, or another errno value of the system.
 */
int unpacked_open(struct unpacked *file, struct disk_file *from);
void unpacked_close(struct unpacked *file);

/*
 * Read up to @size bytes at @at. A compressed file should be read sequentially, because reading
 * before the last position restarts decompression. Return the number of bytes; 0 at the end of
 * the file; -EILSEQ if the file is damaged there, with a description in file->damage; -ENOMEM,
 * or another errno value of the system.
 */
ssize_t unpacked_read(struct unpacked *file, void *to, size_t size, uint64_t at);

#endif
