/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is where in a trace.dat file of trace-cmd, versions 6 and 7; the format
 * is in trace-cmd.dat(5).
 *
 * It is read here, and not by libtracecmd, for what that does not tell (the
 * clock, the machine, how far a trace reaches), and because it trusts what it
 * reads: a damaged file makes it write where it must not, or end the process.
 * Nothing here is mapped, so that a file may shrink meanwhile.
 */
#ifndef NETSYNC_TRACEDAT_FILE_H
#define NETSYNC_TRACEDAT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct netsync_io;

/* How a file begins: 3 bytes, then a word. */
#define DAT_MAGIC "\x17\x08\x44tracing"
#define DAT_MAGIC_SIZE 10

/* More than any machine has (pages: bytes); what a file says is not to be trusted. */
#define DAT_MAX_CPUS 8192
#define DAT_MAX_PAGE (1 << 20)

/* What one processor recorded. */
struct dat_cpu {
	uint32_t number;
	uint64_t at;
	uint64_t size;
};

/* A ring buffer: the main one, or one with a name. */
struct dat_buffer {
	char *name;		/* "" */
	char *clock;		/* NULL: it is the file's */
	uint32_t page_size;
	bool compressed;
	struct dat_cpu *cpus;
	uint32_t num_cpus;
	/* Version 6: where the list of these begins; where that is told, or 0. */
	uint64_t list_at;
	uint64_t told_at;
};

/* What has to be added to the times of a processor: at a time, so much. */
struct dat_sample {
	uint64_t time;
	int64_t offset;
	uint64_t scaling;
	uint64_t fraction;
};

struct dat_shift {
	struct dat_sample *samples;	/* by time */
	uint32_t num;
};

enum dat_compression { DAT_PLAIN, DAT_ZLIB, DAT_ZSTD };

struct dat_file {
	int fd;
	uint64_t size;
	unsigned int version;
	bool big_endian;
	uint32_t page_size;
	unsigned int long_size;		/* of the kernel: 4 or 8 */
	enum dat_compression compression;
	uint64_t formats_at;		/* 0: there are none */

	/* What the options say. */
	char *clock;			/* NULL: nothing; so for the next ones */
	char *uname;
	bool has_id;
	uint64_t id;			/* of the session */
	uint64_t offset_ns;		/* to be added to times, modulo 2^64 */
	uint32_t tsc_mult;		/* 0: times are in nanoseconds, if any */
	uint32_t tsc_shift;
	bool interpolate;
	struct dat_shift *shifts;	/* by number of the processor */
	uint32_t num_shifts;
	struct dat_buffer *buffers;
	size_t num_buffers;
	uint32_t cpu_count;		/* 0: the options do not say */

	/* Where an option more can be put. Version 6: behind the other ones, */
	uint64_t options_end;
	bool no_options;		/* of which there are none */
	/* Version 7: in a section, of which this tells the place; 0: nothing. */
	uint64_t next_at;
	uint8_t description[4];		/* of such sections */
	const char *problem;		/* why it cannot be read, in words */
};

/*
 * Find out what is in the file. 0; -EILSEQ or -EPROTONOSUPPORT with
 * file->problem; -ENOMEM; or what the system said. dat_close() is to be called
 * in every case.
 */
int dat_open(struct dat_file *file, const char *path);
void dat_close(struct dat_file *file);

/* Say in a sentence why that failed; gives @err back. */
int dat_fail(const struct dat_file *file, struct netsync_io *io,
	     const char *path, int err);

/* Tell the format of each event of a system. 0, or as dat_open(). */
typedef void (*dat_use_format)(void *data, const char *system, char *text);
int dat_read_formats(struct dat_file *file, dat_use_format use, void *data);

/* The number that @size bytes hold: 1, 2, 4 or 8. */
uint64_t dat_number(const struct dat_file *file, const uint8_t *bytes,
		    unsigned int size);

/* Up to @size bytes from there; how many were read. */
size_t dat_pread(const struct dat_file *file, void *to, size_t size,
		 uint64_t at);

/* Is it exactly @to_size bytes that @from, compressed, stands for? */
bool dat_decompress(const struct dat_file *file, void *to, size_t to_size,
		    const void *from, size_t from_size);

/* Make @size bytes of a number; return what is behind them. */
uint8_t *dat_put_number(const struct dat_file *file, uint8_t *bytes,
			uint64_t number, unsigned int size);

/* Was anything recorded in it? */
bool dat_has_data(const struct dat_buffer *buffer);

/* The clock of a buffer; that of version 6 is one for all. */
const char *dat_clock_of(const struct dat_file *file,
			 const struct dat_buffer *buffer);
/* That of the main buffer, or else of one that anything is in; NULL: there is none. */
const char *dat_clock(const struct dat_file *file);

/* The time, as trace-cmd report -t prints it, of what a processor noted. */
int64_t dat_time(const struct dat_file *file, uint32_t cpu, uint64_t ts);

#endif
