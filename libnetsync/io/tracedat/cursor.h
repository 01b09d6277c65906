/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reading through a trace.dat file, whose contents are not trusted. */
#ifndef NETSYNC_TRACEDAT_CURSOR_H
#define NETSYNC_TRACEDAT_CURSOR_H

#include "io/tracedat/file.h"

/*
 * A place in a file, or in a decompressed section. Reading beyond the end gives 0, and
 * sets bad.
 */
struct cursor {
	const struct dat_file *file;
	uint8_t *memory;	/* NULL: in the file */
	uint64_t at;
	uint64_t end;
	bool bad;
};

/* Read @size bytes, or skip them. */
void dat_get(struct cursor *cursor, void *to, size_t size);
void dat_skip(struct cursor *cursor, uint64_t size);
/* A number of 1, 2, 4 or 8 bytes. */
uint64_t dat_get_number(struct cursor *cursor, unsigned int size);
/* A text of @size bytes, with a 0 added; NULL: no memory, or bad. */
char *dat_get_text(struct cursor *cursor, uint64_t size);
/* A word that ends with a 0, which must fit into @room bytes. */
void dat_get_word(struct cursor *cursor, char *word, size_t room);

/* Set file->problem, why the file cannot be read. Return: -EILSEQ. */
int dat_problem(struct dat_file *file, const char *words);
#define CUT_SHORT "it ends before what it says that it holds"

/* Flags of a section, and of the option TIME_SHIFT. */
#define SECTION_COMPRESSED 1
#define SHIFT_INTERPOLATES 1

/* Numbers of options and sections; some exist in one of the two versions only. */
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
 * Read options up to the one that ends them. In version 7 that one has the place of the
 * next options, *next; *header_info is the place of the section HEADER_INFO. 0, or as
 * dat_open().
 */
int dat_read_options(struct dat_file *file, struct cursor *cursor,
		     uint64_t *header_info, uint64_t *next);
/* Read the list of a buffer's processors; version 6 numbers them from 0. */
int dat_read_cpus(struct cursor *cursor, struct dat_buffer *buffer,
		  uint32_t num);
/* Add an empty buffer. NULL: no memory. */
struct dat_buffer *dat_add_buffer(struct dat_file *file);
void dat_free_shifts(struct dat_file *file);

#endif
