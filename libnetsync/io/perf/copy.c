// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Copy a perf.data file with corrected times. Records are copied one by one, and compressed records
 * are written uncompressed. The sections at the end of the file move accordingly.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/perf/record.h"

/* Number of bytes that are copied at a time. Chosen. */
#define BLOCK_SIZE 65536

/* Offset of the total size of all records (64 bits) in a file's header (bytes). */
#define DATA_SIZE_AT 48
/*
 * Size of an entry in the table of features, which consists of the feature's offset and size
 * (bytes).
 */
#define SECTION_SIZE 16

struct perf_copy {
	struct copy_task task;
	netsync_io_time_func time;
	void *data;
	struct perf_file file;
	FILE *out;
	uint64_t written;
	/* Time range of events in the original. If hi < lo, no event has a time. */
	struct range events;
	uint8_t record[PERF_MAX_RECORD];
};

/* ---- writing -------------------------------------------------------------- */

static int put_perf_bytes(struct perf_copy *copy, const void *bytes, size_t size)
{
	copy->written += size;
	return fwrite(bytes, 1, size, copy->out) == size ?
		       0 :
		       io_fail_file(copy->task.io, copy->task.to, -errno);
}

/* Overwrite a number in the copy at the offset @at. */
static int overwrite_number_at(struct perf_copy *copy, uint64_t at, uint64_t number)
{
	uint8_t bytes[8];

	number_to_bytes(bytes, number, sizeof(bytes), copy->file.big_endian);
	return !fseeko(copy->out, (off_t)at, SEEK_SET) &&
			       fwrite(bytes, 1, sizeof(bytes), copy->out) == sizeof(bytes) ?
		       0 :
		       io_fail_file(copy->task.io, copy->task.to, -errno);
}

/* Copy the bytes from offset @from to @to of the original. */
static int copy_perf_bytes(struct perf_copy *copy, uint64_t from, uint64_t to)
{
	uint8_t block[BLOCK_SIZE];
	int ret = 0;

	while (from < to && !ret) {
		const size_t size = to - from < sizeof(block) ? to - from : sizeof(block);

		if (read_bytes_at(copy->file.from, block, size, from) < size)
			ret = io_fail_file(copy->task.io, copy->task.from, -EIO);
		else
			ret = put_perf_bytes(copy, block, size);
		from += size;
	}
	return ret;
}

/* ---- times ---------------------------------------------------------------- */

/*
 * Get the corrected time of any record. Records that are not events, such as those of threads and
 * their memory, may be outside of the correction's range. Such records are shifted by the same
 * amount as the nearest event. Return 0 or NETSYNC_IO_LEFT_OUT. On failure, call io_fail() and
 * return a negative value.
 */
static int correct_perf_time(struct perf_copy *copy, int64_t time_ns, int64_t *new_ns)
{
	const int64_t event_ns = min64(max64(time_ns, copy->events.lo), copy->events.hi);
	int ret;

	*new_ns = 0;
	ret = copy->time(copy->data, event_ns, new_ns);
	if (ret < 0 || __builtin_add_overflow(*new_ns, time_ns - event_ns, new_ns))
		return io_fail(copy->task.io, ret < 0 ? ret : -ERANGE,
			       "%s: the time %lld ns cannot be corrected.", copy->task.from,
			       (long long)time_ns);
	if (*new_ns >= 0)
		return ret;
	return io_fail(
		copy->task.io, -ERANGE,
		"%s: some corrected times are negative, which perf does not support; use a reference whose clock shows a later time.",
		copy->task.from);
}

static void set_record_number(struct perf_copy *copy, uint32_t at, uint64_t number)
{
	number_to_bytes(copy->record + at, number, 8, copy->file.big_endian);
}

/*
 * Correct a time in a record's data, copy->record. Return the same values as correct_perf_time().
 */
static int set_record_time(struct perf_copy *copy, uint32_t at, int64_t time_ns)
{
	int64_t new_ns;
	int ret = correct_perf_time(copy, time_ns, &new_ns);

	if (ret >= 0)
		set_record_number(copy, at, new_ns);
	return ret;
}

/* In the data of a kernel record, find the offset of a time other than the one at its end. */
static bool find_own_time(const struct perf_record *record, uint32_t *at)
{
	switch (record->type) {
	case PERF_RECORD_EXIT:
	case PERF_RECORD_FORK:
		*at = 16;
		break;
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
		*at = 0;
		break;
	default:
		return false;
	}
	return record->size >= *at + 8;
}

/*
 * Correct all times of a kernel record, whose data is copy->record. Some records were recorded
 * without a time; their time is 0. Return the same values as correct_perf_time().
 */
static int correct_record_times(struct perf_copy *copy, const struct perf_record *record)
{
	struct perf_sample sample;
	uint32_t at;
	int ret;

	if (!perf_read_sample(&copy->file, record, &sample) || !sample.has_time || !sample.time_ns)
		return 0;
	ret = set_record_time(copy, sample.time_at, sample.time_ns);
	if (ret >= 0 && find_own_time(record, &at) &&
	    perf_read_number(&copy->file, record->data + at, 8) == (uint64_t)sample.time_ns)
		memcpy(copy->record + at, copy->record + sample.time_at, 8);
	/* Records of threads are needed even if events are skipped. */
	return ret == NETSYNC_IO_LEFT_OUT && record->type != PERF_RECORD_SAMPLE &&
			       record->type != PERF_RECORD_LOST ?
		       0 :
		       ret;
}

/*
 * Correct the times in a feature. In the pipe format, a record contains the feature. Return the
 * same values as correct_perf_time().
 */
static int correct_feature_times(struct perf_copy *copy, const struct perf_record *record)
{
	const struct perf_file *file = &copy->file;
	int ret;

	/* The data follow the number of the feature. */
	if (record->size < 8)
		return 0;
	switch (perf_read_number(file, record->data, 8)) {
	case PERF_HEADER_CLOCK_DATA:
		return file->has_wall && record->size >= 32 ?
			       set_record_time(copy, 24, (int64_t)file->clock_ns) :
			       0;
	case PERF_HEADER_SAMPLE_TIME:
		if (record->size < 24 || !perf_read_number(file, record->data + 16, 8))
			return 0;
		ret = set_record_time(copy, 8, copy->events.lo);
		return ret < 0 ? ret : set_record_time(copy, 16, copy->events.hi);
	default:
		return 0;
	}
}

/* ---- records -------------------------------------------------------------- */

static int put_perf_record(struct perf_copy *copy, const struct perf_record *record)
{
	const bool big_endian = copy->file.big_endian;
	uint8_t head[PERF_HEAD_SIZE], *at = head;
	int ret;

	at = number_to_bytes(at, record->type, 4, big_endian);
	at = number_to_bytes(at, record->misc, 2, big_endian);
	number_to_bytes(at, PERF_HEAD_SIZE + record->size, 2, big_endian);
	ret = put_perf_bytes(copy, head, sizeof(head));
	if (!ret)
		ret = put_perf_bytes(copy, copy->record, record->size);
	if (!ret && record->at)
		ret = copy_perf_bytes(copy, record->at,
				      record->at + perf_get_payload_size(&copy->file, record));
	return ret;
}

static int copy_perf_record(struct perf_copy *copy, const struct perf_record *record)
{
	int ret = 0;

	if (record->type == PERF_RECORD_AUXTRACE)
		return io_fail(
			copy->task.io, -ENOTSUP,
			"%s: the file contains hardware trace data (AUX area), whose timestamps cannot be corrected; record again without AUX tracing.",
			copy->task.from);
	memcpy(copy->record, record->data, record->size);
	if (record->type == PERF_RECORD_HEADER_FEATURE)
		ret = min64(correct_feature_times(copy, record), 0);
	else if (record->type < PERF_RECORD_USER_BEGIN)
		ret = correct_record_times(copy, record);
	if (ret)
		return ret < 0 ? ret : 0;
	return put_perf_record(copy, record);
}

static int copy_perf_records(struct perf_copy *copy)
{
	struct perf_records records;
	struct perf_record record;
	int ret = 0, next;

	perf_begin_records(&records, &copy->file);
	while (!ret && (next = perf_next_record(&records, &record)) > 0)
		ret = copy_perf_record(copy, &record);
	if (!ret && next == -ENOMEM)
		ret = io_fail_no_memory(copy->task.io);
	if (!ret && next == -EILSEQ)
		io_warn(copy->task.io, "%s: the file is damaged; copied only up to byte %llu.",
			copy->task.from, (unsigned long long)records.at);
	perf_release_records(&records);
	return ret;
}

/* ---- sections after the records ---------------------------------------------- */

/* Correct the time at offset @at of the original, and write it. Return 0 or a negative value. */
static int put_corrected_time(struct perf_copy *copy, uint64_t at, int64_t time_ns)
{
	int64_t new_ns;
	int ret = correct_perf_time(copy, time_ns, &new_ns);

	return ret < 0 ? ret : overwrite_number_at(copy, at, (uint64_t)new_ns);
}

static int change_features(struct perf_copy *copy, uint64_t moved)
{
	const struct perf_file *file = &copy->file;
	int ret = 0;

	if (file->has_wall)
		ret = put_corrected_time(copy, file->clock_ns_at + moved, (int64_t)file->clock_ns);
	if (!ret && file->span_at)
		ret = put_corrected_time(copy, file->span_at + moved, copy->events.lo);
	if (!ret && file->span_at)
		ret = put_corrected_time(copy, file->span_at + moved + 8, copy->events.hi);
	return ret;
}

/* Write the features, whose offsets have changed, and the new size of all records. */
static int copy_perf_features(struct perf_copy *copy)
{
	const struct perf_file *file = &copy->file;
	const uint64_t end = copy->written, moved = end - file->data_end;
	int ret = copy_perf_bytes(copy, file->data_end, file->size);

	for (uint32_t i = 0; i < file->num_features && !ret; i++) {
		uint8_t place[8];
		uint64_t at;

		if (read_bytes_at(file->from, place, sizeof(place),
				  file->data_end + i * SECTION_SIZE) < sizeof(place))
			return io_fail_file(copy->task.io, copy->task.from, -EIO);
		at = perf_read_number(file, place, sizeof(place));
		if (at >= file->data_end)
			ret = overwrite_number_at(copy, end + i * SECTION_SIZE, at + moved);
	}
	if (!ret)
		ret = change_features(copy, moved);
	return ret ? ret : overwrite_number_at(copy, DATA_SIZE_AT, end - file->data_at);
}

/* Find the time range of events. */
static int find_event_range(struct perf_copy *copy)
{
	struct perf_records records;
	struct perf_record record;
	struct perf_sample sample;
	int ret;

	copy->events.hi = -1;
	perf_begin_records(&records, &copy->file);
	while ((ret = perf_next_record(&records, &record)) > 0)
		if (record.type == PERF_RECORD_SAMPLE &&
		    perf_read_sample(&copy->file, &record, &sample) && sample.has_time)
			range_extend(&copy->events, sample.time_ns, sample.time_ns);
	perf_release_records(&records);
	if (ret == -ENOMEM)
		return io_fail_no_memory(copy->task.io);
	return copy->events.lo <= copy->events.hi ?
		       0 :
		       io_fail(copy->task.io, -ENODATA, "%s: no events with times to correct.",
			       copy->task.from);
}

/* ---- the public call ------------------------------------------------------- */

static int check_perf_file(struct perf_copy *copy)
{
	const struct perf_file *file = &copy->file;

	if (file->was_cut || file->has_folder)
		return io_fail(
			copy->task.io, -ENOTSUP,
			"%s: perf did not exit normally, or stored the events in separate files; the file cannot be copied.",
			copy->task.from);
	if (file->attrs_end > file->data_at)
		return io_fail(copy->task.io, -EILSEQ,
			       "%s: unexpected layout of perf.data; perf does not write such files.",
			       copy->task.from);
	return 0;
}

static int copy_perf_contents(void *arg)
{
	struct perf_copy *copy = arg;
	int ret = copy_perf_bytes(copy, 0, copy->file.data_at);

	if (!ret)
		ret = find_event_range(copy);
	if (!ret)
		ret = copy_perf_records(copy);
	return ret || copy->file.is_pipe ? ret : copy_perf_features(copy);
}

int netsync_io_copy_perf(struct netsync_io *io, const char *from, const char *to,
			 netsync_io_time_func time, void *data)
{
	struct perf_copy *copy = calloc(1, sizeof(*copy));
	int ret;

	if (!copy)
		return io_fail_no_memory(io);
	*copy = (struct perf_copy){ .task = { io, from, to }, .time = time, .data = data };
	ret = perf_open(&copy->file, io, from);
	if (!ret)
		ret = perf_read_pipe_header(&copy->file);
	if (ret)
		ret = perf_fail(&copy->file, io, from, ret);
	else
		ret = check_perf_file(copy);
	if (!ret)
		ret = io_write_copy(&copy->task, &copy->out, copy_perf_contents, copy);
	perf_close(&copy->file);
	free(copy);
	return ret;
}
