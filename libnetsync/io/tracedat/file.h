/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The contents of a trace.dat file of trace-cmd, versions 6 and 7. trace-cmd.dat(5) describes the
 * format. libtracecmd is not used for two reasons. libtracecmd does not report the clock, the
 * machine and the time span of a trace. libtracecmd also trusts its input: a damaged file makes it
 * write outside of its memory or end the process. The file is not mapped, because it may shrink
 * while it is read.
 */
#ifndef NETSYNC_TRACEDAT_FILE_H
#define NETSYNC_TRACEDAT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/tracefs/format.h"

/* Magic number of a file: 3 bytes and a word. */
#define DAT_MAGIC "\x17\x08\x44tracing"
#define DAT_MAGIC_SIZE 10

/*
 * Maximum number of processors, and maximum size of a page (bytes). Both limits exceed what
 * machines have. The limits are needed because the numbers in a file are not trusted.
 */
#define DAT_MAX_CPUS 8192
#define DAT_MAX_PAGE (1 << 20)

/* The data of one processor. */
struct dat_cpu {
	uint32_t number;
	uint64_t at;
	uint64_t size;
};

/* A ring buffer: the main buffer or a named one. */
struct dat_buffer {
	char *name;  /* "" for the main buffer */
	char *clock; /* NULL if it is the file's clock */
	uint32_t page_size;
	bool compressed;
	struct dat_cpu *cpus;
	uint32_t num_cpus;
	uint64_t list_at;    /* offset of the list of processors (bytes) */
	uint64_t stored_at;  /* version 6: where the file stores the offset of the list, or 0 */
	uint64_t section_at; /* version 7: section whose flags tell whether data are compressed */
};

/*
 * A knot of the TIME_SHIFT option: a time, and the offset to add to a processor's times at this
 * time.
 */
struct dat_sample {
	uint64_t time;
	int64_t offset;
	uint64_t scaling;
	uint64_t fraction;
};

struct dat_shift {
	struct dat_sample *samples; /* in order of time */
	uint32_t num;
};

enum dat_compression { DAT_PLAIN, DAT_ZLIB, DAT_ZSTD };

struct dat_file {
	struct disk_file *from; /* the file, or NULL if it could not be opened */
	uint64_t size;
	unsigned int version;
	bool big_endian;
	uint32_t page_size;
	unsigned int long_size; /* size of the kernel's long: 4 or 8 bytes */
	enum dat_compression compression;
	uint64_t formats_at;	/* 0 if the file has no event formats */
	uint32_t sections_size; /* size of the decompressed sections so far (bytes) */

	/* Contents of options. */
	char *clock; /* NULL if unknown, like @uname */
	char *uname;
	bool has_id;
	uint64_t id;	    /* id of the session */
	uint64_t offset_ns; /* to be added to times, modulo 2^64 */
	bool has_date;	    /* whether @offset_ns includes @date_ns */
	uint64_t date_ns;   /* offset to add to times to get times since 1970 */
	uint32_t tsc_mult;  /* 0 if cycles need not be converted to ns */
	uint32_t tsc_shift;
	bool interpolate;
	struct dat_shift *shifts; /* indexed by processor */
	uint32_t num_shifts;
	struct dat_buffer *buffers;
	size_t num_buffers;
	uint32_t cpu_count; /* 0 if not known */

	/*
	 * Version 6: offset after the last option. Another option can be inserted at this offset.
	 */
	uint64_t options_end;
	bool no_options; /* version 6: whether the file has no options */
	/* Version 7: where the file stores the offset of the next option section. Never 0. */
	uint64_t next_at;
	uint8_t description[4]; /* description that option sections have */
	const char *problem;	/* the reason why the file cannot be read, as a clause */
};

/*
 * Read the contents of the file. Return 0 or a negative errno value. For -EILSEQ and
 * -EPROTONOSUPPORT, file->problem is the reason. Call dat_close() even on failure.
 */
int dat_open(struct dat_file *file, struct netsync_io *io, const char *path);
void dat_close(struct dat_file *file);

/* Set the error sentence of a file that failed. Return @err. */
int dat_fail(const struct dat_file *file, struct netsync_io *io, const char *path, int err);

/* Call @use for the format of each event. Return 0 or an error like dat_open(). */
int dat_read_formats(struct dat_file *file, tracefs_use_format use, void *data);

/* Return the number that consists of @size bytes (1, 2, 4 or 8). */
uint64_t dat_read_number(const struct dat_file *file, const uint8_t *bytes, unsigned int size);

/* Decompress data. Return false if the result does not have exactly @to_size bytes. */
bool dat_decompress(const struct dat_file *file, void *to, size_t to_size, const void *from,
		    size_t from_size);

/* Write a number with @size bytes. Return the position after it. */
uint8_t *dat_put_number(const struct dat_file *file, uint8_t *bytes, uint64_t number,
			unsigned int size);

/* Return whether any processor has recorded data in the buffer. */
bool dat_has_data(const struct dat_buffer *buffer);

/* Return the clock of a buffer. In version 6, all buffers have the file's clock. */
const char *dat_get_buffer_clock(const struct dat_file *file, const struct dat_buffer *buffer);
/*
 * If the main buffer has data, return its clock. Otherwise, return the clock of another buffer that
 * has data, or NULL if no buffer has data.
 */
const char *dat_get_clock(const struct dat_file *file);

/* Convert a raw timestamp of a processor to the time that trace-cmd report -t prints. */
int64_t dat_convert_stamp(const struct dat_file *file, uint32_t cpu, uint64_t ts);

#endif
