// SPDX-License-Identifier: LGPL-2.1-or-later
/* Decode a kernel record: its time, its processor, and the raw event of a sample. */
#include <netsync-io.h>

#include "io/perf/record.h"

/* The current position in a record's data. */
struct sample_cursor {
	const struct perf_file *file;
	const uint8_t *data;
	uint32_t size;
	uint32_t at;
	bool bad;
};

static uint64_t read_sample_number(struct sample_cursor *cursor, uint32_t size)
{
	uint64_t number;

	if (cursor->bad || size > cursor->size - cursor->at) {
		cursor->bad = true;
		return 0;
	}
	number = perf_read_number(cursor->file, cursor->data + cursor->at, size);
	cursor->at += size;
	return number;
}

static void skip_sample_words(struct sample_cursor *cursor, uint64_t words)
{
	if (cursor->bad || words > (cursor->size - cursor->at) / 8)
		cursor->bad = true;
	else
		cursor->at += words * 8;
}

/* ---- attribute of a record ---------------------------------------------- */

/* Fields before the id of a sample without PERF_SAMPLE_IDENTIFIER. */
#define BEFORE_ID (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR)
/* Fields after the id in a trailer. */
#define BEHIND_ID (PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU)
/* Fields that a trailer may have. */
#define IN_TRAILER                                                                     \
	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)

/* Return the size of fields of 8 bytes each (bytes). */
static uint32_t compute_fields_size(uint64_t fields)
{
	return 8 * (uint32_t)__builtin_popcountll(fields);
}

/* Return the attribute of a record, or NULL if it is unknown. */
static const struct perf_attr *find_attr_of_record(const struct perf_file *file,
						   const struct perf_record *record)
{
	const bool is_sample = record->type == PERF_RECORD_SAMPLE;
	const struct perf_attr *first = file->attrs;
	uint32_t at = 0;
	uint64_t id;

	if (file->num_attrs < 2 || !file->num_ids)
		return file->num_attrs ? first : NULL;
	if (!is_sample && !first->has_trailer)
		return first;
	/* perf ensures that all attributes have the id at the same position in records. */
	if (!(first->sample_type & (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ID)))
		return first;
	if (!(first->sample_type & PERF_SAMPLE_IDENTIFIER))
		at = compute_fields_size(first->sample_type & (is_sample ? BEFORE_ID : BEHIND_ID));
	if (!is_sample)
		at += 8;
	if (at > record->size || (is_sample && record->size - at < 8))
		return NULL;
	if (!is_sample)
		at = record->size - at;
	id = perf_read_number(file, record->data + at, 8);
	/* Records that perf synthesizes for threads that already ran have no id. */
	return id ? perf_find_attr(file, id) : first;
}

/* ---- samples ------------------------------------------------------------ */

static void read_sample_time(struct sample_cursor *cursor, struct perf_sample *sample)
{
	uint64_t time;

	sample->time_at = cursor->at;
	time = read_sample_number(cursor, 8);
	sample->has_time = !cursor->bad && time <= INT64_MAX;
	sample->time_ns = (int64_t)time;
}

static void read_sample_thread(struct sample_cursor *cursor, struct perf_sample *sample)
{
	sample->pid = read_sample_number(cursor, 4);
	sample->tid = read_sample_number(cursor, 4);
}

static void read_sample_cpu(struct sample_cursor *cursor, struct perf_sample *sample)
{
	sample->cpu = read_sample_number(cursor, 4);
	read_sample_number(cursor, 4);
}

/* Skip the values of counters. */
static void skip_counter_values(struct sample_cursor *cursor, uint64_t format)
{
	const uint64_t times = format &
			       (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING);
	const uint64_t each = format & (PERF_FORMAT_ID | PERF_FORMAT_LOST);
	uint64_t num = 1;

	if (format & PERF_FORMAT_GROUP)
		num = read_sample_number(cursor, 8);
	skip_sample_words(cursor, (uint64_t)__builtin_popcountll(times));
	if (num > cursor->size)
		cursor->bad = true;
	else
		skip_sample_words(cursor, num * (1 + (uint64_t)__builtin_popcountll(each)));
}

static void read_sample_raw_data(struct sample_cursor *cursor, struct perf_sample *sample)
{
	const uint32_t size = read_sample_number(cursor, 4);

	if (cursor->bad || size > cursor->size - cursor->at) {
		cursor->bad = true;
		return;
	}
	sample->raw = cursor->data + cursor->at;
	sample->raw_size = size;
}

/* Read the fields of a sample in the order of the kernel's perf_output_sample(). */
static void read_sample_fields(struct sample_cursor *cursor, struct perf_sample *sample)
{
	const uint64_t has = sample->attr->sample_type;

	skip_sample_words(cursor, !!(has & PERF_SAMPLE_IDENTIFIER) + !!(has & PERF_SAMPLE_IP));
	if (has & PERF_SAMPLE_TID)
		read_sample_thread(cursor, sample);
	if (has & PERF_SAMPLE_TIME)
		read_sample_time(cursor, sample);
	skip_sample_words(cursor, !!(has & PERF_SAMPLE_ADDR) + !!(has & PERF_SAMPLE_ID) +
					  !!(has & PERF_SAMPLE_STREAM_ID));
	if (has & PERF_SAMPLE_CPU)
		read_sample_cpu(cursor, sample);
	skip_sample_words(cursor, !!(has & PERF_SAMPLE_PERIOD));
	if (has & PERF_SAMPLE_READ)
		skip_counter_values(cursor, sample->attr->read_format);
	if (has & PERF_SAMPLE_CALLCHAIN)
		skip_sample_words(cursor, read_sample_number(cursor, 8));
	if (has & PERF_SAMPLE_RAW)
		read_sample_raw_data(cursor, sample);
}

/* Read the trailer that __perf_event__output_id_sample() of the kernel appends to a record. */
static void read_record_trailer(struct sample_cursor *cursor, struct perf_sample *sample)
{
	const uint64_t has = sample->attr->sample_type & IN_TRAILER;
	const uint32_t size = compute_fields_size(has);

	if (!sample->attr->has_trailer)
		return;
	if (size > cursor->size) {
		cursor->bad = true;
		return;
	}
	cursor->at = cursor->size - size;
	if (has & PERF_SAMPLE_TID)
		read_sample_thread(cursor, sample);
	if (has & PERF_SAMPLE_TIME)
		read_sample_time(cursor, sample);
	skip_sample_words(cursor, !!(has & PERF_SAMPLE_ID) + !!(has & PERF_SAMPLE_STREAM_ID));
	if (has & PERF_SAMPLE_CPU)
		read_sample_cpu(cursor, sample);
}

bool perf_read_sample(const struct perf_file *file, const struct perf_record *record,
		      struct perf_sample *sample)
{
	struct sample_cursor cursor = { .file = file, .data = record->data, .size = record->size };

	*sample = (struct perf_sample){
		.attr = find_attr_of_record(file, record),
		.pid = UINT32_MAX,
		.tid = UINT32_MAX,
		.cpu = NETSYNC_IO_NO_CPU,
	};
	if (!sample->attr)
		return false;
	if (record->type == PERF_RECORD_SAMPLE)
		read_sample_fields(&cursor, sample);
	else
		read_record_trailer(&cursor, sample);
	return !cursor.bad;
}
