// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Read attributes of events and features from the records of the pipe format ("perf record -o
 * -").
 */
#include <errno.h>

#include "io/perf/record.h"

/* Read an attribute or feature from a record. Return 0 or an error like perf_open(). */
static int read_header_record(struct perf_file *file, const struct perf_record *record)
{
	struct cursor cursor = {
		.big_endian = file->big_endian,
		.memory = (uint8_t *)record->data,
		.end = record->size,
	};
	uint64_t feature;

	switch (record->type) {
	case PERF_RECORD_HEADER_ATTR:
		return perf_read_attr(file, &cursor);
	case PERF_RECORD_TRACING_DATA:
		file->formats_at = record->at;
		file->formats_size = perf_get_payload_size(file, record);
		return 0;
	case PERF_RECORD_HEADER_FEATURE:
		feature = cursor_read_number(&cursor, 8);
		return feature == PERF_HEADER_HOSTNAME || feature == PERF_HEADER_CLOCK_DATA ?
			       perf_read_feature(file, &cursor, feature) :
			       0;
	default:
		return 0;
	}
}

int perf_read_pipe_header(struct perf_file *file)
{
	struct perf_records records;
	struct perf_record record;
	int ret = 0, next = 1;

	perf_begin_records(&records, file);
	while (file->is_pipe && !ret && (next = perf_next_record(&records, &record)) > 0) {
		if (record.type == PERF_RECORD_SAMPLE)
			break;
		ret = read_header_record(file, &record);
	}
	perf_release_records(&records);
	perf_index_attrs(file);
	/* The function that reads all records reports the damage. */
	return ret ? ret : next == -ENOMEM ? next : 0;
}
