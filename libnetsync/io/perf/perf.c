// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The reader of perf.data files, written by perf record, with samples of tracepoints.
 *
 * A file is read twice: to find its time span, and to push packets. perf writes the contents of
 * the buffers of all processors in rounds. Records of one round are unordered, but none is
 * earlier than all records of the round before the last one. The library sorts packets. The
 * rounds determine up to which time all packets were read.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "io/events.h"
#include "io/perf/record.h"
#include "util/hash.h"

#define RECORD_COMMAND "perf record -a -k mono -e 'netsync:*'"

struct perf {
	struct perf_file file;
	struct tracefs_formats formats;
	uint64_t num_records; /* number of readable records */
	struct perf_records records;
	uint64_t num_read; /* number of records that were read, or 0 before reading begins */
	int64_t latest_ns; /* latest time so far (ns) */
	int64_t round_ns;  /* latest time at the end of the last round (ns) */
	int64_t past_ns;   /* latest time at the end of the previous round (ns) */
	struct range span; /* time range of events in the window; if hi < lo, there are none */
	/* Number of lost events. Two kinds of records report the same losses. */
	uint64_t lost, lost_in_sum;
};

/* Clocks of option -k, with trace-cmd's names for them. */
static const struct perf_clock {
	int32_t id;
	const char *name;
} clocks[] = {
	{ CLOCK_REALTIME, "realtime" },
	{ CLOCK_MONOTONIC, "mono" },
	{ CLOCK_MONOTONIC_RAW, "mono_raw" },
	{ CLOCK_BOOTTIME, "boot" },
	{ CLOCK_TAI, "tai" },
	{ PERF_OWN_CLOCK, "perf" },
};

static bool is_perf_file(const struct found *found)
{
	return found->head_len >= PERF_MAGIC_SIZE &&
	       (!memcmp(found->head, PERF_MAGIC, PERF_MAGIC_SIZE) ||
		!memcmp(found->head, PERF_MAGIC_SWAPPED, PERF_MAGIC_SIZE));
}

static int fail_perf_trace(struct trace *trace, int err)
{
	const struct perf *perf = trace->state;

	return perf_fail(&perf->file, trace->io, trace->path, err);
}

/* ---- contents of a file ------------------------------------------------ */

/* Properties of a file that scan_perf_records() determines from the samples. */
struct perf_scan {
	uint64_t samples;
	uint64_t timeless; /* samples without a time */
	int32_t clock;	   /* clock of the first sample that has a time */
};

static void scan_perf_sample(struct trace *trace, struct perf_scan *look,
			     const struct perf_record *record)
{
	const struct perf *perf = trace->state;
	struct perf_sample sample;

	look->samples++;
	if (!perf_read_sample(&perf->file, record, &sample))
		return;
	if (!sample.has_time) {
		look->timeless++;
		return;
	}
	if (trace->range.hi < trace->range.lo)
		look->clock = sample.attr->clock;
	if (sample.attr->clock != look->clock)
		return;
	range_extend(&trace->range, sample.time_ns, sample.time_ns);
	trace->range_hash = (trace->range_hash ^ (uint64_t)sample.time_ns) * HASH_MULTIPLIER;
}

static void warn_of_damaged_perf(struct trace *trace, uint64_t at)
{
	trace->info.damaged++;
	trace->readable = trace->path;
	io_warn(trace->io, "%s: the file is damaged; read only up to byte %llu.", trace->path,
		(unsigned long long)at);
}

/* Read the whole file to find the file's time span. */
static int scan_perf_records(struct trace *trace, struct perf_scan *look)
{
	struct perf *perf = trace->state;
	struct perf_records records;
	struct perf_record record;
	int ret;

	perf_begin_records(&records, &perf->file);
	while ((ret = perf_next_record(&records, &record)) > 0) {
		perf->num_records++;
		if (record.type == PERF_RECORD_SAMPLE)
			scan_perf_sample(trace, look, &record);
	}
	if (ret == -EILSEQ && !disk_is_stuck(perf->file.from)) {
		warn_of_damaged_perf(trace, records.at);
		ret = 0;
	}
	perf_release_records(&records);
	return ret;
}

/*
 * Return whether the file contains usable events. If the file has no usable events, print a warning
 * with the reason.
 */
static bool check_perf_contents(struct trace *trace, const struct perf_scan *look)
{
	const struct perf_file *file = &((const struct perf *)trace->state)->file;
	const char *why = NULL;

	if (file->has_folder)
		why = "recorded with --threads, which stores the events in separate files; record without this option";
	else if (file->was_cut)
		why = "perf did not exit normally, so it did not write the descriptions of the events; stop perf with SIGINT (^C) and wait until it exits";
	else if (look->timeless && trace->range.hi < trace->range.lo)
		why = "the events have no times; record with \"" RECORD_COMMAND "\"";
	else if (!look->samples)
		why = "the trace contains no events; record with \"" RECORD_COMMAND "\"";
	else if (trace->range.hi < trace->range.lo)
		why = "none of the events can be read";
	if (why)
		io_warn(trace->io, "%s: %s. The trace was skipped.", trace->path, why);
	return !why;
}

static int keep_perf_formats(struct trace *trace)
{
	struct perf *perf = trace->state;
	int ret = perf_read_formats(&perf->file, tracefs_keep_format, &perf->formats);

	if (!ret && perf->formats.no_memory)
		ret = -ENOMEM;
	if (ret < 0)
		return fail_perf_trace(trace, ret);
	tracefs_end_formats(&perf->formats, RECORD_COMMAND);
	return 0;
}

/* ---- host and clock ----------------------------------------------------- */

/* If the file relates the clock of the samples to the wall clock, use this relation. */
static void relate_clock_to_wall(struct trace *trace, int32_t id)
{
	const struct perf_file *file = &((const struct perf *)trace->state)->file;

	if (id == CLOCK_REALTIME) {
		trace->has_wall = true;
	} else if (file->has_wall && file->wall_clock == id) {
		trace->has_wall = true;
		trace->wall_shift_ns = (int64_t)file->wall_ns - (int64_t)file->clock_ns;
	}
}

/* Find the trace's clock. If the clock cannot be corrected, print a warning and return false. */
static bool find_perf_clock(struct trace *trace, int32_t id)
{
	const struct perf_clock *clock = clocks, *end = clocks + sizeof(clocks) / sizeof(*clocks);

	while (clock < end && clock->id != id)
		clock++;
	if (clock == end) {
		io_warn(trace->io,
			"%s: unknown clock number %d; the trace was skipped. Record with \"" RECORD_COMMAND
			"\".",
			trace->path, (int)id);
		return false;
	}
	if (id == PERF_OWN_CLOCK)
		io_warn(trace->io,
			"%s: recorded without -k mono, so each processor has its own clock. The clocks agree only roughly, the error bounds do not cover their differences, and clock events cannot be used. Record with \"" RECORD_COMMAND
			"\".",
			trace->path);
	trace->clock_name = strdup(clock->name);
	relate_clock_to_wall(trace, id);
	return true;
}

static uint64_t add_to_clock_hash(uint64_t hash, uint64_t value)
{
	return (hash ^ value) * HASH_MULTIPLIER;
}

/*
 * Identify the clock, machine and boot by the time at which the recording began. All files of one
 * "perf record --switch-output" have this time. If there is no such time, use the file's path. All
 * recordings share the real-time clock.
 */
static int identify_perf_trace(struct trace *trace)
{
	const struct perf_file *file = &((const struct perf *)trace->state)->file;
	uint64_t id[2] = { 1, 2 };

	trace->host_name = file->hostname && *file->hostname ?
				   strdup(file->hostname) :
				   tracefs_get_host_of_file(trace->real_path);
	if (!trace->host_name || !trace->clock_name)
		return -ENOMEM;
	if (file->has_wall) {
		id[0] = add_to_clock_hash(add_to_clock_hash(id[0], file->wall_ns), file->clock_ns);
		id[1] = add_to_clock_hash(add_to_clock_hash(id[1], file->clock_ns), file->wall_ns);
	}
	for (const char *c = trace->real_path; *c && !file->has_wall; c++)
		id[0] = add_to_clock_hash(id[0], *c);
	memcpy(trace->uuid, id, UUID_SIZE);
	memcpy(trace->clock_uuid, id, UUID_SIZE);
	trace->has_uuid = true;
	trace->has_clock_uuid = strcmp(trace->clock_name, "realtime");
	if (!trace->has_clock_uuid)
		memset(trace->clock_uuid, 0, UUID_SIZE);
	return 0;
}

/* ---- the reader -------------------------------------------------------- */

static int perf_reader_open(struct trace *trace)
{
	struct perf *perf = calloc(1, sizeof(*perf));
	struct perf_scan look = { .clock = PERF_OWN_CLOCK };
	int ret;

	if (!perf)
		return io_fail_no_memory(trace->io);
	trace->state = perf;
	perf->formats.trace = trace;
	perf->span.hi = -1;
	perf->latest_ns = perf->round_ns = perf->past_ns = INT64_MIN;
	trace->range.hi = -1;
	ret = perf_open(&perf->file, trace->io, trace->path);
	if (!ret)
		ret = perf_read_pipe_header(&perf->file);
	if (!ret && !perf->file.was_cut && !perf->file.has_folder)
		ret = scan_perf_records(trace, &look);
	if (ret < 0)
		return fail_perf_trace(trace, ret);
	if (!check_perf_contents(trace, &look) || !find_perf_clock(trace, look.clock))
		return 0;
	ret = identify_perf_trace(trace);
	if (ret < 0)
		return fail_perf_trace(trace, ret);
	ret = keep_perf_formats(trace);
	return ret < 0 ? ret : 1;
}

/* Decode a tracepoint sample. If the sample is not used, return false. */
static bool decode_perf_sample(const struct perf *perf, const struct perf_sample *sample,
			       struct event_seen *seen)
{
	const bool big_endian = perf->file.big_endian;
	const struct tracefs_format *format;

	if (!sample->attr->is_tracepoint || !sample->raw)
		return false;
	format = tracefs_find_format(&perf->formats, big_endian, sample->raw, sample->raw_size);
	return format && format->id == sample->attr->config &&
	       tracefs_decode_event(format, big_endian, sample->raw, sample->raw_size, seen) &&
	       event_set_time(seen, sample->time_ns, sample->time_ns);
}

static int use_perf_sample(struct trace *trace, const struct perf_record *record)
{
	struct perf *perf = trace->state;
	struct perf_sample sample;
	struct event_seen seen;

	if (!perf_read_sample(&perf->file, record, &sample) || !sample.has_time)
		return 0;
	perf->latest_ns = max64(perf->latest_ns, sample.time_ns);
	if (!range_contains(&trace->window, sample.time_ns))
		return 0;
	range_extend(&perf->span, sample.time_ns, sample.time_ns);
	if (!decode_perf_sample(perf, &sample, &seen))
		return 0;
	if (!seen.is_clock)
		seen.at.buffer = sample.attr->copy;
	return io_add_event(trace, &seen);
}

/* Count a loss, unless it is outside of the window. */
static void use_perf_loss(struct trace *trace, const struct perf_record *record)
{
	struct perf *perf = trace->state;
	const bool is_sum = record->type == PERF_RECORD_LOST_SAMPLES;
	const uint32_t at = is_sum ? 0 : 8;
	struct perf_sample when;
	uint64_t num;

	if (record->size < at + 8 || (is_sum && (record->misc & PERF_MISC_FILTERED)) ||
	    (perf_read_sample(&perf->file, record, &when) && when.has_time && when.time_ns &&
	     !range_contains(&trace->window, when.time_ns)))
		return;
	num = perf_read_number(&perf->file, record->data + at, 8);
	if (is_sum)
		perf->lost_in_sum += num;
	else
		perf->lost += num;
}

static int use_perf_record(struct trace *trace, const struct perf_record *record)
{
	struct perf *perf = trace->state;

	switch (record->type) {
	case PERF_RECORD_SAMPLE:
		return use_perf_sample(trace, record);
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		use_perf_loss(trace, record);
		return 0;
	case PERF_RECORD_FINISHED_ROUND:
		perf->past_ns = perf->round_ns;
		perf->round_ns = perf->latest_ns;
		return 0;
	default:
		return 0;
	}
}

/*
 * Read the next record. Return 1, or 0 if there is none. On failure, call io_fail() and return a
 * negative value.
 */
static int read_perf_record(struct trace *trace)
{
	struct perf *perf = trace->state;
	struct perf_record record;
	int ret;

	if (perf->num_read == perf->num_records)
		return 0;
	if (!perf->num_read++)
		perf_begin_records(&perf->records, &perf->file);
	ret = perf_next_record(&perf->records, &record);
	/* The file has been changed since it was scanned. */
	if (ret == -EILSEQ)
		warn_of_damaged_perf(trace, perf->records.at);
	if (ret == -ENOMEM)
		return io_fail_no_memory(trace->io);
	if (ret <= 0)
		return 0;
	ret = use_perf_record(trace, &record);
	return ret < 0 ? ret : 1;
}

static void end_perf_reading(struct trace *trace)
{
	struct perf *perf = trace->state;

	perf_release_records(&perf->records);
	trace->info.lost_events += perf->lost > perf->lost_in_sum ? perf->lost : perf->lost_in_sum;
	perf->lost = perf->lost_in_sum = 0;
}

static int perf_reader_read(struct trace *trace, int64_t until_ns)
{
	struct perf *perf = trace->state;
	int ret = 1, spanned = 0;

	while (ret > 0 && perf->past_ns <= until_ns)
		ret = read_perf_record(trace);
	if (!ret)
		end_perf_reading(trace);
	if (ret >= 0 && perf->span.lo <= perf->span.hi)
		spanned = io_add_span(trace, perf->span.lo, perf->span.hi);
	return spanned < 0 ? spanned : ret;
}

static int perf_reader_file(const struct trace *trace)
{
	return ((const struct perf *)trace->state)->file.from->fd;
}

static void perf_reader_close(struct trace *trace)
{
	struct perf *perf = trace->state;

	if (!perf)
		return;
	perf_release_records(&perf->records);
	free(perf->formats.list);
	perf_close(&perf->file);
	free(perf);
}

const struct trace_reader perf_reader = {
	.format = "perf.data",
	.avoids_loss = "larger buffers (perf record -m) avoid this",
	.to_record = "record the netsync events with \"" RECORD_COMMAND "\"",
	.claims = is_perf_file,
	.takes_compressed = true,
	.open = perf_reader_open,
	.file = perf_reader_file,
	.read = perf_reader_read,
	.close = perf_reader_close,
	.read_events = perf_read_events,
};
