// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Copy a file of distributed tracing with new times. Only the digits of times and durations change.
 * All other bytes are copied from the decompressed file. A span that is omitted takes one separator
 * with it:
 *
 *	[ {kept} , {omitted} , {kept} ]		the one before it, if a span of the list was kept
 *	[ {omitted} , {kept} ]			the one after it, otherwise
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "io/spans/rpc.h"

/* Number of bytes copied at a time. Chosen. */
#define RPC_COPY_BLOCK ((size_t)256 << 10)

struct rpc_copy {
	struct copy_task task;
	netsync_io_host_time_func time;
	void *data;
	struct rpc_file file;
	struct unpacked raw; /* the same file, for the bytes between times */
	char *block;
	size_t block_at, block_size; /* in the block: next byte, and number of bytes */
	uint64_t done;		     /* number of bytes of the original copied or omitted */
	uint64_t list;		     /* number of the list of the previous span */
	uint64_t end;		     /* position after the previous span */
	bool has_kept;		     /* whether a span of this list was kept */
	uint64_t unchanged;	     /* number of spans of unknown hosts */
	FILE *out;
};

/* ---- bytes ------------------------------------------------------------------ */

/* Copy the bytes of the original up to @to, or omit them. */
static int pass_rpc_bytes(struct rpc_copy *copy, uint64_t to, bool is_omitted)
{
	while (copy->done < to) {
		uint64_t num = copy->block_size - copy->block_at;

		if (!num) {
			const ssize_t len = unpacked_read(&copy->raw, copy->block, RPC_COPY_BLOCK,
							  copy->done);

			if (len < 0)
				return io_fail_contents(copy->task.io, copy->task.from,
							copy->raw.from, copy->file.format->name,
							copy->raw.damage, (int)len);
			if (!len)
				return 0;
			copy->block_at = 0;
			copy->block_size = num = (uint64_t)len;
		}
		if (num > to - copy->done)
			num = to - copy->done;
		if (!is_omitted && fwrite(copy->block + copy->block_at, 1, num, copy->out) != num)
			return io_fail_file(copy->task.io, copy->task.to, -errno);
		copy->block_at += num;
		copy->done += num;
	}
	return 0;
}

/* Replace the digits of a number. */
static int put_rpc_number(struct rpc_copy *copy, const struct rpc_digits *digits, int64_t value)
{
	int ret;

	if (value == digits->value)
		return 0;
	ret = pass_rpc_bytes(copy, digits->at, false);
	if (!ret && fprintf(copy->out, "%" PRId64, value) < 0)
		ret = io_fail_file(copy->task.io, copy->task.to, -errno);
	return ret ? ret : pass_rpc_bytes(copy, digits->end, true);
}

/* ---- times ------------------------------------------------------------------ */

/*
 * Correct a time, in the unit of the file. Return 0, NETSYNC_IO_LEFT_OUT, or a negative value after
 * io_fail().
 */
static int correct_rpc_time(struct rpc_copy *copy, const struct rpc_span *span, const char *host,
			    int64_t value, int64_t *new_value)
{
	const int64_t unit_ns = copy->file.format->unit_ns;
	int64_t old_ns = 0, new_ns = 0;
	int ret = -ERANGE;

	*new_value = value;
	if (!__builtin_mul_overflow(value, unit_ns, &old_ns))
		ret = copy->time(copy->data, host, old_ns, &new_ns);
	if (ret == NETSYNC_IO_LEFT_OUT)
		return ret;
	if (ret < 0 || new_ns < 0)
		return io_fail(copy->task.io, ret < 0 ? ret : -ERANGE,
			       "%s: the times of the span at byte %" PRIu64
			       " cannot be corrected; remove this span from the file.",
			       copy->task.from, span->from);
	/* Correct the distance, so that an unchanged time keeps all its digits. */
	*new_value = value +
		     (new_ns - old_ns + (new_ns < old_ns ? -unit_ns / 2 : unit_ns / 2)) / unit_ns;
	return 0;
}

/* Move an event that is outside of its span as much as the start of the span. */
static int shift_rpc_event(int64_t old, int64_t by, int64_t *value)
{
	if (old < 0 || __builtin_add_overflow(old, by, value) || *value < 0)
		*value = old;
	return 0;
}

/*
 * Find the new value of a number. If a time has no new one, it is moved as much as the start of its
 * span. Negative durations become 0, because viewers expect none.
 */
static int correct_rpc_number(struct rpc_copy *copy, const struct rpc_span *span, const char *host,
			      int64_t new_start, const struct rpc_digits *digits, int64_t *value)
{
	const bool is_duration = digits->is == RPC_DURATION;
	int64_t old = digits->value;
	int ret;

	*value = new_start;
	if (digits->is == RPC_START)
		return 0;
	*value = old;
	/* The time of an event may be anything. */
	if (digits->is == RPC_EVENT && (old < span->start || old > rpc_get_end(span)))
		return shift_rpc_event(old, new_start - span->start, value);
	if (is_duration)
		old += span->start;
	ret = correct_rpc_time(copy, span, host, old, value);
	if (ret == NETSYNC_IO_LEFT_OUT)
		*value = old + (new_start - span->start);
	if (is_duration)
		*value = max64(*value - new_start, 0);
	return ret < 0 ? ret : 0;
}

/* ---- spans ------------------------------------------------------------------ */

static int keep_rpc_span(struct rpc_copy *copy, const struct rpc_span *span, const char *host,
			 int64_t new_start)
{
	int ret = 0;

	copy->has_kept = true;
	for (size_t i = 0; i < span->num_digits && host && !ret; i++) {
		int64_t value;

		ret = correct_rpc_number(copy, span, host, new_start, &span->digits[i], &value);
		if (!ret)
			ret = put_rpc_number(copy, &span->digits[i], value);
	}
	return ret ? ret : pass_rpc_bytes(copy, span->to, false);
}

/* Implement rpc_use_func. */
static int copy_rpc_span(struct rpc_file *file, const struct rpc_span *span, const char *host)
{
	struct rpc_copy *copy = file->use_data;
	const bool is_first = copy->list != span->list;
	int64_t start_ns, end_ns, new_start = span->start;
	int ret = 0;

	copy->unchanged += !host;
	if (!rpc_get_times(file, span, &start_ns, &end_ns))
		host = NULL;
	if (is_first) {
		copy->has_kept = false;
		ret = pass_rpc_bytes(copy, span->from, false);
	} else if (!copy->has_kept) {
		/* All spans before this one were omitted. */
		ret = pass_rpc_bytes(copy, span->from, true);
	} else {
		ret = pass_rpc_bytes(copy, copy->end, false);
	}
	copy->list = span->list;
	copy->end = span->to;
	if (!ret && host)
		ret = correct_rpc_time(copy, span, host, span->start, &new_start);
	if (ret == NETSYNC_IO_LEFT_OUT)
		return pass_rpc_bytes(copy, span->to, true);
	return ret ? ret : keep_rpc_span(copy, span, host, new_start);
}

/* ---- the file --------------------------------------------------------------- */

static const struct rpc_format *find_rpc_format(const struct trace_reader *reader)
{
	return reader == &otlp_reader	? &otlp_format :
	       reader == &jaeger_reader ? &jaeger_format :
	       reader == &zipkin_reader ? &zipkin_format :
					  NULL;
}

static int identify_rpc_file(struct rpc_copy *copy)
{
	struct stat st;
	struct found found = { .path = copy->task.from, .st = &st };
	const struct trace_reader *reader;
	int ret;

	if (stat(copy->task.from, &st))
		return io_fail_file(copy->task.io, copy->task.from, -errno);
	reader = io_find_reader(copy->task.io, &found, &ret);
	if (ret < 0)
		return io_fail_file(copy->task.io, copy->task.from, ret);
	copy->file.format = reader ? find_rpc_format(reader) : NULL;
	return copy->file.format ?
		       0 :
		       io_fail(copy->task.io, -EPROTONOSUPPORT,
			       "%s: not a file of OTLP, Jaeger or Zipkin spans.", copy->task.from);
}

static int copy_rpc_spans(void *arg)
{
	struct rpc_copy *copy = arg;
	int ret = rpc_scan_file(&copy->file, copy_rpc_span);

	return ret ? ret : pass_rpc_bytes(copy, UINT64_MAX, false);
}

static void warn_of_unchanged_spans(struct rpc_copy *copy)
{
	copy->unchanged += copy->file.not_held;
	if (copy->unchanged)
		io_warn(copy->task.io,
			"%s: the times of %" PRIu64
			" spans whose hosts are not known were not changed.",
			copy->task.from, copy->unchanged);
}

int netsync_io_copy_spans(struct netsync_io *io, const char *from, const char *to,
			  netsync_io_host_time_func time, void *data)
{
	struct rpc_copy copy = {
		.task = { io, from, to },
		.time = time,
		.data = data,
		.file = { .io = io, .path = from, .is_copied = true, .spool = -1 },
		.block = malloc(RPC_COPY_BLOCK),
		.list = UINT64_MAX,
	};
	int ret = copy.block ? identify_rpc_file(&copy) : io_fail_no_memory(io);

	copy.file.use_data = &copy;
	if (!ret)
		ret = io_open_unpacked(io, from, &copy.raw);
	if (!ret)
		ret = io_write_copy(&copy.task, &copy.out, copy_rpc_spans, &copy);
	if (!ret)
		warn_of_unchanged_spans(&copy);
	unpacked_close(&copy.raw);
	free(copy.block);
	return ret;
}
