/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Declarations that the files share which read the sections and options of a trace.dat file. */
#ifndef NETSYNC_TRACEDAT_SECTION_H
#define NETSYNC_TRACEDAT_SECTION_H

#include "io/tracedat/file.h"

/* Set file->problem to the reason why the file cannot be read. Return -EILSEQ. */
int dat_set_problem(struct dat_file *file, const char *words);
#define CUT_SHORT "the file is shorter than it declares"

/* Flags of a section, and of the TIME_SHIFT option. */
#define SECTION_COMPRESSED 1
#define SHIFT_INTERPOLATES 1

/* Numbers of options and sections. Some exist only in one of the two versions. */
enum {
	OPTION_DONE = 0, /* the option section has this number, too */
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
 * Read options up to the end marker. In version 7, the end marker contains the position of the next
 * options; *next is set to it. *header_info is set to the position of the section HEADER_INFO.
 * Return 0 or an error like dat_open().
 */
int dat_read_options(struct dat_file *file, struct cursor *cursor, uint64_t *header_info,
		     uint64_t *next);
/* Read the list of a buffer's processors. Version 6 numbers them from 0. */
int dat_read_cpus(const struct dat_file *file, struct cursor *cursor, struct dat_buffer *buffer,
		  uint32_t num);
/* Add an empty buffer. Return NULL if out of memory. */
struct dat_buffer *dat_add_buffer(struct dat_file *file);
void dat_free_shifts(struct dat_file *file);

#endif
