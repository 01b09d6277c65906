// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The reader for trace.dat files, into which trace-cmd records ftrace events. The pages of each
 * processor and ring buffer form a stream. All streams are read up to the same time, but their
 * events are not merged, because no caller needs this. Only some pages of each stream are in
 * memory.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/tracedat/page.h"
#include "io/tracefs/format.h"
#include "io/events.h"
#include "util/hash.h"

#define RECORD_COMMAND "trace-cmd record -C mono -e netsync"

/* The 64-bit prime in the hash of Fowler, Noll and Vo. */
#define FNV_PRIME UINT64_C(0x100000001b3)

struct dat_stream {
	struct dat_pages pages;
	const struct dat_buffer *buffer;
	bool any;
	bool ended;
	int64_t last_ns;   /* time of the event that was read last, as printed (ns) */
	struct range span; /* time range of events in the window; if hi < lo, there are none */
};

struct tracedat {
	struct dat_file file;
	struct tracefs_formats formats;
	struct dat_stream *streams;
	size_t num_streams;
};

/* Trace clocks, and whether their times can be corrected. */
static const struct clock_kind {
	const char *name;
	const char *why_not; /* the reason why times cannot be corrected, or NULL */
	bool per_cpu;	     /* whether each processor has a clock of its own */
} clock_kinds[] = {
	{ "mono", NULL, false },
	{ "mono_raw", NULL, false },
	{ "boot", NULL, false },
	{ "tai", NULL, false },
	{ "global", NULL, false },
	{ "tsc2nsec", NULL, false },
	{ "local", NULL, true },
	{ "perf", NULL, true },
	{ "uptime", "counts ticks of several milliseconds", false },
	{ "counter", "counts events instead of time", false },
};

static bool is_dat_file(const struct found *found)
{
	return found->head_len >= DAT_MAGIC_SIZE && !memcmp(found->head, DAT_MAGIC, DAT_MAGIC_SIZE);
}

static int fail_dat_trace(struct trace *trace, int err)
{
	const struct tracedat *dat = trace->state;

	return dat_fail(&dat->file, trace->io, trace->path, err);
}

static int keep_dat_formats(struct trace *trace)
{
	struct tracedat *dat = trace->state;
	int ret = dat_read_formats(&dat->file, tracefs_keep_format, &dat->formats);

	if (!ret && dat->formats.no_memory)
		ret = -ENOMEM;
	if (ret < 0)
		return fail_dat_trace(trace, ret);
	tracefs_end_formats(&dat->formats, RECORD_COMMAND);
	return 0;
}

/* ---- streams ----------------------------------------------------------- */

static int64_t convert_stream_stamp(const struct tracedat *dat, const struct dat_stream *stream,
				    uint64_t ts)
{
	return dat_convert_stamp(&dat->file, stream->pages.cpu->number, ts);
}

static void end_dat_stream(struct dat_stream *stream)
{
	stream->ended = true;
	dat_release_pages(&stream->pages);
}

static void warn_of_damaged_dat(struct trace *trace, const struct dat_stream *stream)
{
	char *end = NULL;

	trace->info.damaged++;
	if (stream->any)
		end = io_format("read only up to its event at %lld ns", (long long)stream->last_ns);
	io_warn(trace->io, "%s: the data of processor %u%s%s is damaged; %s.", trace->path,
		stream->pages.cpu->number, *stream->buffer->name ? " in buffer " : "",
		stream->buffer->name, end ? end : "none of it was read");
	free(end);
}

/*
 * Extend the trace's range by a stream's first and last time. Return to the beginning of the
 * stream.
 */
static int find_stream_range(struct trace *trace, struct dat_stream *stream)
{
	const struct tracedat *dat = trace->state;
	const struct dat_cpu *cpu = stream->pages.cpu;
	struct dat_event first, last;
	int64_t begin_ns, end_ns;
	int ret;

	ret = dat_next_event(&stream->pages, &first);
	dat_release_pages(&stream->pages);
	if (ret <= 0)
		return ret;
	ret = dat_begin_events(&stream->pages, &dat->file, stream->buffer, cpu);
	if (!ret)
		ret = dat_find_last_event(&stream->pages, &last);
	dat_release_pages(&stream->pages);
	if (ret == -ENOMEM)
		return ret;
	begin_ns = convert_stream_stamp(dat, stream, first.ts);
	end_ns = ret > 0 ? convert_stream_stamp(dat, stream, last.ts) : begin_ns;
	range_extend(&trace->range, begin_ns, end_ns > begin_ns ? end_ns : begin_ns);
	trace->range_hash = (trace->range_hash ^ first.ts) * FNV_PRIME ^ end_ns;
	return dat_begin_events(&stream->pages, &dat->file, stream->buffer, cpu);
}

static int add_dat_stream(struct trace *trace, size_t buffer, const struct dat_cpu *cpu)
{
	struct tracedat *dat = trace->state;
	struct dat_stream *stream = &dat->streams[dat->num_streams];
	int ret;

	stream->buffer = &dat->file.buffers[buffer];
	stream->span.hi = -1;
	ret = dat_begin_events(&stream->pages, &dat->file, stream->buffer, cpu);
	if (!ret && cpu->size)
		ret = find_stream_range(trace, stream);
	if (ret == -ENOMEM)
		return ret;
	if (disk_is_stuck(dat->file.from))
		return -ETIMEDOUT;
	if (ret == -EILSEQ) {
		warn_of_damaged_dat(trace, stream);
		end_dat_stream(stream);
	}
	dat->num_streams++;
	return 0;
}

static int add_dat_streams(struct trace *trace)
{
	struct tracedat *dat = trace->state;
	const struct dat_file *file = &dat->file;
	size_t num = 0;
	int ret = 0;

	for (size_t i = 0; i < file->num_buffers; i++)
		num += file->buffers[i].num_cpus;
	dat->streams = calloc(num + 1, sizeof(*dat->streams));
	if (!dat->streams)
		return -ENOMEM;
	for (size_t i = 0; i < file->num_buffers && !ret; i++) {
		const struct dat_buffer *buffer = &file->buffers[i];

		if (!dat_has_data(buffer))
			continue;
		if (strcmp(dat_get_buffer_clock(file, buffer), trace->clock_name)) {
			io_warn(trace->io,
				"%s: buffer %s has a different clock (%s) from the others (%s) and was not used.",
				trace->path, buffer->name, dat_get_buffer_clock(file, buffer),
				trace->clock_name);
			continue;
		}
		for (uint32_t cpu = 0; cpu < buffer->num_cpus && !ret; cpu++)
			ret = add_dat_stream(trace, i, &buffer->cpus[cpu]);
	}
	return ret;
}

/* ---- host and clock ----------------------------------------------------- */

/*
 * Return the host's name. The name is the second word of the uname, such as "Linux web 6.1.0
 * x86_64", or the name of the file.
 */
static char *make_dat_host_name(const struct trace *trace, const struct dat_file *file)
{
	const char *from = file->uname ? strchr(file->uname, ' ') : NULL;
	const size_t len = from ? strcspn(from + 1, " \n") : 0;

	return len ? strndup(from + 1, len) : tracefs_get_host_of_file(trace->real_path);
}

static uint64_t add_to_session_hash(uint64_t hash, uint64_t value)
{
	return (hash ^ value) * HASH_MULTIPLIER;
}

/* Hash the offsets to add to times. Files of one session may have different offsets. */
static uint64_t hash_time_offsets(const struct dat_file *file)
{
	uint64_t sum = add_to_session_hash(1, file->offset_ns);

	for (uint32_t cpu = 0; cpu < file->num_shifts; cpu++)
		for (uint32_t i = 0; i < file->shifts[cpu].num; i++) {
			const struct dat_sample *s = &file->shifts[cpu].samples[i];

			sum = add_to_session_hash(add_to_session_hash(sum, s->time), s->offset);
		}
	return sum;
}

/*
 * Identify the clock, machine and boot by the session id, because the file does not contain them.
 * All parts of one session have one clock. Two sessions have two clocks.
 */
static int identify_dat_trace(struct trace *trace)
{
	const struct dat_file *file = &((struct tracedat *)trace->state)->file;
	const char *clock = dat_get_clock(file);
	uint64_t id = file->id;

	if (!clock) {
		io_warn(trace->io, "%s: the trace contains no events and was skipped.",
			trace->path);
		return 0;
	}
	if (!file->has_id)
		for (const char *c = trace->real_path; *c; c++)
			id = add_to_session_hash(id, *c);
	trace->host_name = make_dat_host_name(trace, file);
	trace->clock_name = strdup(clock);
	if (!trace->host_name || !trace->clock_name || io_make_printable(&trace->clock_name))
		return -ENOMEM;
	memcpy(trace->clock_uuid, &id, sizeof(id));
	id = hash_time_offsets(file);
	memcpy(trace->clock_uuid + sizeof(id), &id, sizeof(id));
	memcpy(trace->uuid, trace->clock_uuid, UUID_SIZE);
	trace->has_clock_uuid = true;
	trace->has_uuid = true;
	trace->is_shifted = file->offset_ns;
	trace->has_wall = file->has_date;
	trace->wall_shift_ns = (int64_t)(file->date_ns - file->offset_ns);
	return 1;
}

/* Check that times of the trace's clock can be corrected. */
static bool check_dat_clock(struct trace *trace)
{
	const struct clock_kind *kind = clock_kinds;
	const struct clock_kind *end = kind + sizeof(clock_kinds) / sizeof(*kind);

	while (kind < end && strcmp(kind->name, trace->clock_name))
		kind++;
	if (kind == end || kind->why_not) {
		io_warn(trace->io,
			"%s: the clock %s %s; the trace was skipped. Record with \"trace-cmd record -C mono\".",
			trace->path, trace->clock_name,
			kind == end ? "does not count nanoseconds" : kind->why_not);
		return false;
	}
	if (kind->per_cpu)
		io_warn(trace->io,
			"%s: the clock %s runs separately on each processor. These clocks agree only roughly, and the error bounds do not cover their differences. Record with \"trace-cmd record -C mono\".",
			trace->path, trace->clock_name);
	return true;
}

/* ---- the reader -------------------------------------------------------- */

static int dat_reader_open(struct trace *trace)
{
	struct tracedat *dat = calloc(1, sizeof(*dat));
	int ret;

	if (!dat)
		return io_fail_no_memory(trace->io);
	trace->state = dat;
	dat->formats.trace = trace;
	trace->range.hi = -1;
	ret = dat_open(&dat->file, trace->io, trace->path);
	if (ret < 0)
		return fail_dat_trace(trace, ret);
	ret = identify_dat_trace(trace);
	if (ret < 0)
		return fail_dat_trace(trace, ret);
	if (!ret || !check_dat_clock(trace))
		return 0;
	ret = keep_dat_formats(trace);
	if (ret < 0)
		return ret;
	ret = add_dat_streams(trace);
	if (ret < 0)
		return fail_dat_trace(trace, ret);
	if (trace->range.hi < trace->range.lo) {
		io_warn(trace->io, "%s: none of the pages can be read; the trace was skipped.",
			trace->path);
		return 0;
	}
	return 1;
}

static int use_dat_event(struct trace *trace, struct dat_stream *stream,
			 const struct dat_event *event)
{
	const struct tracedat *dat = trace->state;
	const bool big_endian = dat->file.big_endian;
	const struct tracefs_format *format = tracefs_find_format(&dat->formats, big_endian,
								  event->data, event->size);
	struct event_seen seen;

	stream->last_ns = convert_stream_stamp(dat, stream, event->ts);
	stream->any = true;
	if (!range_contains(&trace->window, stream->last_ns)) {
		/* Ignore losses before the window, like events before it. */
		if (stream->last_ns < trace->window.lo)
			stream->pages.lost = 0;
		return 0;
	}
	range_extend(&stream->span, stream->last_ns, stream->last_ns);
	if (!format || !tracefs_decode_event(format, big_endian, event->data, event->size, &seen) ||
	    !event_set_time(&seen, stream->last_ns, (int64_t)event->ts))
		return 0;
	/* If times were shifted or converted, they are not times of the kernel's clock. */
	if (seen.is_clock && (dat->file.num_shifts || dat->file.tsc_mult))
		return 0;
	if (!seen.is_clock)
		seen.at.buffer = stream->buffer - dat->file.buffers;
	return io_add_event(trace, &seen);
}

static int read_dat_stream(struct trace *trace, struct dat_stream *stream, int64_t until_ns)
{
	int ret = 0;

	while (!stream->ended && !(stream->any && stream->last_ns > until_ns)) {
		struct dat_event event;

		ret = dat_next_event(&stream->pages, &event);
		if (ret == -EILSEQ)
			warn_of_damaged_dat(trace, stream);
		else if (ret < 0)
			return io_fail_no_memory(trace->io);
		if (ret <= 0)
			end_dat_stream(stream);
		else
			ret = use_dat_event(trace, stream, &event);
		if (ret < 0 && ret != -EILSEQ)
			return ret;
	}
	trace->info.lost_events += stream->pages.lost;
	stream->pages.lost = 0;
	return stream->span.lo <= stream->span.hi ?
		       io_add_span(trace, stream->span.lo, stream->span.hi) :
		       0;
}

static int dat_reader_read(struct trace *trace, int64_t until_ns)
{
	struct tracedat *dat = trace->state;
	bool more = false;
	int ret = 0;

	for (size_t i = 0; i < dat->num_streams && ret >= 0; i++) {
		ret = read_dat_stream(trace, &dat->streams[i], until_ns);
		more |= !dat->streams[i].ended;
	}
	return ret < 0 ? ret : more;
}

static int dat_reader_file(const struct trace *trace)
{
	return ((const struct tracedat *)trace->state)->file.from->fd;
}

struct before {
	const struct tracedat *dat;
	const struct dat_stream *stream;
	int64_t time_ns; /* time as printed (ns) */
};

static bool is_stamp_before(const void *data, uint64_t ts)
{
	const struct before *before = data;

	return convert_stream_stamp(before->dat, before->stream, ts) < before->time_ns;
}

static void dat_reader_limit(struct trace *trace)
{
	struct tracedat *dat = trace->state;

	for (size_t i = 0; i < dat->num_streams; i++) {
		struct dat_stream *stream = &dat->streams[i];
		const struct before before = { dat, stream, trace->window.lo };

		if (!stream->ended)
			dat_skip_before(&stream->pages, is_stamp_before, &before);
	}
}

static void dat_reader_close(struct trace *trace)
{
	struct tracedat *dat = trace->state;

	if (!dat)
		return;
	for (size_t i = 0; i < dat->num_streams; i++)
		dat_release_pages(&dat->streams[i].pages);
	free(dat->streams);
	free(dat->formats.list);
	dat_close(&dat->file);
	free(dat);
}

const struct trace_reader tracedat_reader = {
	.format = "trace.dat",
	.avoids_loss = "larger buffers (trace-cmd record -b) avoid this",
	.to_record = "record the netsync events with \"" RECORD_COMMAND "\"",
	.claims = is_dat_file,
	.takes_compressed = true,
	.open = dat_reader_open,
	.file = dat_reader_file,
	.read = dat_reader_read,
	.limit = dat_reader_limit,
	.close = dat_reader_close,
	.read_events = dat_read_events,
};
