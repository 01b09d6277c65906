/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Records of a perf.data file, one after the other, and those that are compressed
 * (perf record -z); what samples have.
 */
#ifndef NETSYNC_PERF_RECORD_H
#define NETSYNC_PERF_RECORD_H

#include "io/perf/file.h"

/* Types of records: the kernel's, and from 64 on those of perf record. */
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

/* Flag of PERF_RECORD_LOST_SAMPLES: they were not lost, but a filter did not want them. */
#define PERF_MISC_FILTERED (1 << 15)

/* Bytes of the head of a record, and of a record at most: its size has 16 bits. */
#define PERF_HEAD_SIZE 8
#define PERF_MAX_RECORD 65535

/* A record after its header. */
struct perf_record {
	uint32_t type;
	uint16_t misc;	     /* flags */
	const uint8_t *data; /* valid until the next call of perf_next_record() */
	uint32_t size;
	uint64_t at; /* of what follows the record in the file; 0: it was compressed */
};

/* The place of reading in the records of a file. */
struct perf_records {
	const struct perf_file *file;
	uint64_t at;	   /* of the next record in the file */
	uint8_t *chunk;	   /* a part of the file; NULL if none was read */
	uint64_t chunk_at; /* where it is in the file */
	size_t chunk_size;
	struct perf_unpacked *unpacked; /* NULL if no data was compressed yet */
};

void perf_begin_records(struct perf_records *records, const struct perf_file *file);
/* Read the next record. Return 1; 0 if there is none; -EILSEQ if the rest is damaged; -ENOMEM. */
int perf_next_record(struct perf_records *records, struct perf_record *record);
/* The number of bytes that follow a record of perf and are not records. */
uint64_t perf_get_payload_size(const struct perf_file *file, const struct perf_record *record);
void perf_release_records(struct perf_records *records);

/*
 * In the pipe format, read the records before the first sample that describe the file. Call
 * this after perf_open() for every file. Return 0, or as perf_open().
 */
int perf_read_pipe_header(struct perf_file *file);

/* Contents of a sample, or of the trailer of another record. */
struct perf_sample {
	const struct perf_attr *attr;
	bool has_time;
	uint32_t time_at; /* in the record's data, bytes */
	int64_t time_ns;
	uint32_t pid, tid;  /* UINT32_MAX if unknown */
	uint32_t cpu;	    /* NETSYNC_IO_NO_CPU: unknown */
	const uint8_t *raw; /* as the kernel's formats describe it; NULL if none */
	uint32_t raw_size;
};

/*
 * Read a sample or, from the end of any other kernel record, its time and processor. Return
 * false if the record is damaged, or if its attribute is unknown.
 */
bool perf_read_sample(const struct perf_file *file, const struct perf_record *record,
		      struct perf_sample *sample);

#endif
