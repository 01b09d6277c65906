/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Read the records of a perf.data file one by one, including compressed records (perf record -z),
 * and decode samples.
 */
#ifndef NETSYNC_PERF_RECORD_H
#define NETSYNC_PERF_RECORD_H

#include "io/perf/file.h"

/* Record types: those of the kernel, and from 64 on those of perf record. */
enum {
	PERF_RECORD_LOST = 2,
	PERF_RECORD_EXIT = 4,
	PERF_RECORD_THROTTLE = 5,
	PERF_RECORD_UNTHROTTLE = 6,
	PERF_RECORD_FORK = 7,
	PERF_RECORD_SAMPLE = 9,
	PERF_RECORD_LOST_SAMPLES = 13,
	PERF_RECORD_USER_BEGIN = 64,
	PERF_RECORD_HEADER_ATTR = 64,
	PERF_RECORD_TRACING_DATA = 66,
	PERF_RECORD_FINISHED_ROUND = 68,
	PERF_RECORD_AUXTRACE = 71,
	PERF_RECORD_TIME_CONV = 79,
	PERF_RECORD_HEADER_FEATURE = 80,
	PERF_RECORD_COMPRESSED = 81,
	PERF_RECORD_COMPRESSED2 = 83,
};

/*
 * Flag of PERF_RECORD_LOST_SAMPLES. This flag means that a filter has rejected the samples, so that
 * they were not lost.
 */
#define PERF_MISC_FILTERED (1 << 15)

/* Size of a record header, and maximum size of a record (bytes). The size field has 16 bits. */
#define PERF_HEAD_SIZE 8
#define PERF_MAX_RECORD 65535

/* A record without its header. */
struct perf_record {
	uint32_t type;
	uint16_t misc;	     /* flags */
	const uint8_t *data; /* valid until the next call of perf_next_record() */
	uint32_t size;
	uint64_t at; /* offset of the byte after the record (bytes), or 0 if it was compressed */
};

/* The current position in the records of a file. */
struct perf_records {
	const struct perf_file *file;
	uint64_t at;	   /* offset of the next record in the file (bytes) */
	uint8_t *chunk;	   /* part of the file in memory, or NULL before reading */
	uint64_t chunk_at; /* offset of the chunk in the file (bytes) */
	size_t chunk_size;
	struct perf_unpacked *unpacked; /* NULL until a compressed record has been read */
};

void perf_begin_records(struct perf_records *records, const struct perf_file *file);
/*
 * Read the next record. Return 1, 0 if there is none, -EILSEQ if the rest is damaged, or -ENOMEM.
 */
int perf_next_record(struct perf_records *records, struct perf_record *record);
/* Return the number of bytes that follow a perf record without belonging to a record. */
uint64_t perf_get_payload_size(const struct perf_file *file, const struct perf_record *record);
void perf_release_records(struct perf_records *records);

/*
 * In the pipe format, read the records before the first sample, which describe the file. Call this
 * function after perf_open() for files in any format. Return 0 or an error like perf_open().
 */
int perf_read_pipe_header(struct perf_file *file);

/* The contents of a sample, or of the trailer of another record. */
struct perf_sample {
	const struct perf_attr *attr;
	bool has_time;
	uint32_t time_at; /* offset of the time in the record's data (bytes) */
	int64_t time_ns;
	uint32_t pid, tid;  /* UINT32_MAX if not known */
	uint32_t cpu;	    /* NETSYNC_IO_NO_CPU if not known */
	const uint8_t *raw; /* raw event, which the kernel's formats describe, or NULL */
	uint32_t raw_size;
};

/*
 * Read a sample. From any other kernel record, read the time and the processor at its end. Return
 * false if the record is damaged or its attribute is not known.
 */
bool perf_read_sample(const struct perf_file *file, const struct perf_record *record,
		      struct perf_sample *sample);

#endif
