/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reading through a trace.dat file, none of which is trusted. */
#ifndef NETSYNC_TRACEDAT_CURSOR_H
#define NETSYNC_TRACEDAT_CURSOR_H

#include "io/tracedat/file.h"

/*
 * A place in a file, or in a section that was decompressed. What is beyond the
 * end reads as 0, and is remembered.
 */
struct cursor {
	const struct dat_file *file;
	uint8_t *memory;	/* NULL: it is in the file */
	uint64_t at;
	uint64_t end;
	bool bad;
};

/* Read that, and go on behind it. */
void dat_get(struct cursor *cursor, void *to, size_t size);
void dat_skip(struct cursor *cursor, uint64_t size);
/* Of 1, 2, 4 or 8 bytes. */
uint64_t dat_get_number(struct cursor *cursor, unsigned int size);
/* A text of that many bytes, with a 0 behind it; NULL: no memory, or bad. */
char *dat_get_text(struct cursor *cursor, uint64_t size);
/* A word that ends with a 0. */
void dat_get_word(struct cursor *cursor, char *word, size_t room);

/* Why the file cannot be read: -EILSEQ. */
int dat_problem(struct dat_file *file, const char *words);
#define CUT_SHORT "it ends before what it says that it holds"

/* Flags of a section, and of the option TIME_SHIFT. */
#define SECTION_COMPRESSED 1
#define SHIFT_INTERPOLATES 1

/* Of options and sections; what has a name only in one of the two versions. */
enum {
	OPTION_DONE = 0,	/* also the section of options */
	OPTION_DATE = 1,
	OPTION_BUFFER = 3,
	OPTION_TRACECLOCK = 4,
	OPTION_UNAME = 5,
	OPTION_OFFSET = 7,
	OPTION_CPUCOUNT = 8,
	OPTION_TRACEID = 11,
	OPTION_TIME_SHIFT = 12,
	OPTION_TSC2NSEC = 14,
	OPTION_HEADER_INFO = 16,
	OPTION_EVENT_FORMATS = 18,
};

/*
 * Read options up to the one that ends them, whose contents (version 7), the
 * place of the next ones, are given back, as is that of the section HEADER_INFO.
 * 0, or as dat_open().
 */
int dat_read_options(struct dat_file *file, struct cursor *cursor,
		     uint64_t *header_info, uint64_t *next);
/* The processors of a buffer; in version 6 they are counted from 0. */
int dat_read_cpus(struct cursor *cursor, struct dat_buffer *buffer,
		  uint32_t num);
/* NULL: no memory. */
struct dat_buffer *dat_add_buffer(struct dat_file *file);
void dat_free_shifts(struct dat_file *file);

#endif
