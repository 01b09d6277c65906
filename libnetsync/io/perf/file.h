/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The contents of a perf.data file of perf record: attributes of events, features of the file, and
 * where the records are. The kernel's tools/perf/Documentation/perf.data-file-format.txt describes
 * the format. "perf record -o -" writes the pipe format, in which attributes and features are
 * records as well.
 */
#ifndef NETSYNC_PERF_FILE_H
#define NETSYNC_PERF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/tracefs/format.h"

/* First word of a file, in the byte order of the recording machine. */
#define PERF_MAGIC "PERFILE2"
#define PERF_MAGIC_SWAPPED "2ELIFREP"
#define PERF_MAGIC_SIZE 8

/* Bits of sample_type: the members of samples, in the order of enum perf_event_sample_format. */
enum {
	PERF_SAMPLE_IP = 1 << 0,
	PERF_SAMPLE_TID = 1 << 1,
	PERF_SAMPLE_TIME = 1 << 2,
	PERF_SAMPLE_ADDR = 1 << 3,
	PERF_SAMPLE_READ = 1 << 4,
	PERF_SAMPLE_CALLCHAIN = 1 << 5,
	PERF_SAMPLE_ID = 1 << 6,
	PERF_SAMPLE_CPU = 1 << 7,
	PERF_SAMPLE_PERIOD = 1 << 8,
	PERF_SAMPLE_STREAM_ID = 1 << 9,
	PERF_SAMPLE_RAW = 1 << 10,
	PERF_SAMPLE_IDENTIFIER = 1 << 16,
};

/* Bits of read_format: the members of PERF_SAMPLE_READ. */
enum {
	PERF_FORMAT_TOTAL_TIME_ENABLED = 1 << 0,
	PERF_FORMAT_TOTAL_TIME_RUNNING = 1 << 1,
	PERF_FORMAT_ID = 1 << 2,
	PERF_FORMAT_GROUP = 1 << 3,
	PERF_FORMAT_LOST = 1 << 4,
};

/* The members of struct perf_event_attr that netsync uses. */
struct perf_attr {
	uint64_t config; /* the event id if this is a tracepoint */
	uint64_t sample_type;
	uint64_t read_format;
	uint32_t copy; /* number of earlier attributes for the same tracepoint */
	int32_t clock; /* clockid_t, or PERF_OWN_CLOCK */
	bool is_tracepoint;
	bool has_trailer; /* whether records other than samples end with a time and a processor */
};

/* Value of perf_attr.clock if perf record had no option -k: the clock of the kernel's scheduler. */
#define PERF_OWN_CLOCK (-1)

/* An id in samples, and the index of its attribute. */
struct perf_id {
	uint64_t id;
	uint32_t attr;
};

struct perf_file {
	struct disk_file *from; /* the file, or NULL if it could not be opened */
	uint64_t size;
	bool big_endian;
	bool is_pipe;
	bool was_cut;	  /* whether perf record did not end properly */
	bool has_folder;  /* whether the records are in other files ("perf record --threads") */
	uint64_t data_at; /* offset of the records (bytes) */
	uint64_t data_end;
	uint64_t attrs_end;    /* end of the last attribute or id (bytes) */
	uint32_t num_features; /* number of features; the table at data_end has their positions */
	/* Positions in the file of features that contain times, or 0. */
	uint64_t clock_ns_at;
	uint64_t span_at;

	struct perf_attr *attrs;
	size_t num_attrs;
	size_t attr_room;    /* number of attributes allocated */
	struct perf_id *ids; /* in order of id after perf_index_attrs() */
	size_t num_ids;
	size_t id_room; /* number of ids allocated */

	/* Contents of features. */
	char *hostname;	     /* NULL if unknown */
	uint64_t formats_at; /* offset of tracefs's event formats (bytes); 0 if missing */
	uint64_t formats_size;
	/* HEADER_CLOCK_DATA: readings of two clocks at the same time (ns). */
	bool has_wall;
	int32_t wall_clock; /* the clockid_t of clock_ns */
	uint64_t wall_ns;   /* reading of CLOCK_REALTIME */
	uint64_t clock_ns;

	const char *problem; /* the reason why the file cannot be read, as a clause */
};

/*
 * Read the file, except its records. Return 0 or a negative errno value. For -EILSEQ and
 * -EPROTONOSUPPORT, file->problem is the reason. Call perf_close() even on failure.
 */
int perf_open(struct perf_file *file, struct netsync_io *io, const char *path);
void perf_close(struct perf_file *file);

/* Set the message for the user after a call for the file has failed with @err. Return @err. */
int perf_fail(const struct perf_file *file, struct netsync_io *io, const char *path, int err);
/* Set file->problem. Return -EILSEQ. */
int perf_set_problem(struct perf_file *file, const char *words);
#define PERF_CUT_SHORT "the file is shorter than it declares"

/* Numbers of features. */
enum {
	PERF_HEADER_TRACING_DATA = 1,
	PERF_HEADER_HOSTNAME = 3,
	PERF_HEADER_SAMPLE_TIME = 21,
	PERF_HEADER_DIR_FORMAT = 24,
	PERF_HEADER_CLOCK_DATA = 29,
	PERF_HEADER_BITS = 256,
};

/*
 * Read an attribute or feature at @cursor. In the pipe format, records contain attributes and
 * features. Return 0 or an error like perf_open().
 */
int perf_read_attr(struct perf_file *file, struct cursor *cursor);
int perf_read_feature(struct perf_file *file, struct cursor *cursor, unsigned int feature);

/*
 * Index all attributes. Call this function when all attributes have been read, before you read the
 * first event record.
 */
void perf_index_attrs(struct perf_file *file);
/* Return the attribute that has this id, or NULL. */
const struct perf_attr *perf_find_attr(const struct perf_file *file, uint64_t id);

/*
 * For each event type, call @use with its description in the file. Return 0 or an error like
 * perf_open().
 */
int perf_read_formats(struct perf_file *file, tracefs_use_format use, void *data);

/* Return the number that consists of @size bytes. */
uint64_t perf_read_number(const struct perf_file *file, const uint8_t *bytes, unsigned int size);

#endif
