// SPDX-License-Identifier: LGPL-2.1-or-later
/* The pipe format ("perf record -o -"): records -> attributes of events and features. */
#include <errno.h>

#include "io/perf/record.h"

/* Return 0, or as perf_open(). */
static int learn_of_record(struct perf_file *file, const struct perf_record *record)
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
		file->formats_size = perf_payload(file, record);
		return 0;
	case PERF_RECORD_HEADER_FEATURE:
		feature = cursor_number(&cursor, 8);
		return feature == PERF_HEADER_HOSTNAME || feature == PERF_HEADER_CLOCK_DATA ?
			       perf_read_feature(file, &cursor, feature) :
			       0;
	default:
		return 0;
	}
}

int perf_learn(struct perf_file *file)
{
	struct perf_records records;
	struct perf_record record;
	int ret = 0, next = 1;

	perf_first(&records, file);
	while (file->is_pipe && !ret && (next = perf_next(&records, &record)) > 0) {
		if (record.type == PERF_RECORD_SAMPLE)
			break;
		ret = learn_of_record(file, &record);
	}
	perf_release(&records);
	perf_end_attrs(file);
	/* Whoever reads all records meets the damage. */
	return ret ? ret : next == -ENOMEM ? next : 0;
}
