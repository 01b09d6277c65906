/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Read a file that may be compressed, and decompress it. The first bytes identify the compression
 * (gzip, Zstandard, xz or LZ4). For any file, memory use is limited to a buffer of compressed bytes
 * and the decoder's window.
 */
#ifndef NETSYNC_IO_UNPACK_H
#define NETSYNC_IO_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "io/disk/disk.h"

/* Input and output of a decoder. The decoder advances the pointers and reduces the sizes. */
struct decoding {
	const uint8_t *in;
	size_t in_size;
	uint8_t *out;
	size_t out_size;
	bool is_last; /* whether no bytes of the file follow @in */
};

struct compression {
	const char *name;
	const char *command; /* command that decompresses the file */
	const char *magic;   /* first bytes */
	size_t magic_size;
	/*
	 * Create a decoder. If netsync was built without the library, this and all other functions
	 * are NULL.
	 */
	void *(*begin)(void); /* returns NULL if out of memory */
	/*
	 * Decode some bytes. Return 1 if the compressed data may end here, 0 if they must not, or a
	 * negative errno value. -EILSEQ means that the data after the decoded bytes are damaged,
	 * and -E2BIG that the decoder needs more memory than UNPACK_MAX_MEMORY.
	 */
	int (*decode)(void *decoder, struct decoding *d);
	void (*end)(void *decoder);
};

/*
 * Maximum size of a decoder's window (bytes). Chosen; zstd --ultra -22 needs 128 MiB, and xz -9
 * needs 65 MiB.
 */
#define UNPACK_MAX_MEMORY ((size_t)128 << 20)
#define UNPACK_MAX_WINDOW_LOG 27

extern const struct compression gzip_compression;
extern const struct compression zstd_compression;
extern const struct compression xz_compression;
extern const struct compression lz4_compression;

/* Number of bytes at the beginning of a file that identify its compression. */
#define UNPACK_MAGIC_SIZE 6

/* Identify the compression of a file by the file's first bytes. If the compression is not known,
 * return NULL. */
const struct compression *find_compression(const uint8_t *head, size_t size);

struct unpacked {
	struct disk_file *from;		       /* the file, or NULL if it is closed */
	const struct compression *compression; /* NULL if the file is not compressed */
	void *decoder;			       /* NULL before decoding begins */
	uint8_t *buffer;		       /* compressed bytes */
	size_t buffer_at;
	size_t buffer_size;
	uint64_t file_at;   /* number of bytes of the file that have been read into the buffer */
	uint64_t at;	    /* number of decompressed bytes that have been read */
	bool can_end;	    /* whether the compressed data may end here */
	const char *damage; /* the reason why the rest cannot be read, as a clause */
};

/*
 * Open a file. This function takes ownership of @from, and unpacked_close() always closes it.
 * Return 0 or a negative errno value. -ENOSYS means that this kind of compression is not built in.
 */
int unpacked_open(struct unpacked *file, struct disk_file *from);
void unpacked_close(struct unpacked *file);

/*
 * Read at most @size bytes at @at. A compressed file should be read from front to back, because
 * decompression starts again to read at an earlier position. Return the number of bytes, 0 at the
 * end of the file, or a negative errno value. -EILSEQ means that the file is damaged at this
 * position; file->damage describes the damage.
 */
ssize_t unpacked_read(struct unpacked *file, void *to, size_t size, uint64_t at);

#endif
