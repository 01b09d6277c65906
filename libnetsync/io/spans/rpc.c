// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The readers of OTLP, Jaeger and Zipkin files. One file contains spans of many hosts, so open()
 * scans the file, and it becomes a trace of each host. Times are those of CLOCK_REALTIME.
 *
 *	client	[=============]		client and server are one relation, whose key is the
 *	server	   [========]		identifier of the client span
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/spans/rpc.h"
#include "util/hash.h"
#include "util/utf8.h"

#define RPC_ADVICE \
	"record spans of clients and servers on several hosts, with the attribute host.name or k8s.node.name of each resource"

/* A trace: the spans of one host of a file. */
struct rpc_trace {
	struct rpc_file *file;
	size_t host; /* index */
	size_t block;
	size_t next, num; /* in @records, which is block number @block - 1 */
	struct rpc_record *records;
};

/* ---- claims ----------------------------------------------------------------- */

/* Return the position after a text in the head of a file, after white space, or 0. */
static size_t match_rpc_head(const struct found *found, size_t at, const char *text)
{
	const size_t len = strlen(text);

	while (at < found->head_len && isspace(found->head[at]))
		at++;
	return found->head_len - at >= len && !memcmp(found->head + at, text, len) ? at + len : 0;
}

static bool has_rpc_word(const struct found *found, const char *word)
{
	return memmem(found->head, found->head_len, word, strlen(word));
}

static bool is_otlp_file(const struct found *found)
{
	const size_t at = match_rpc_head(found, 0, "{");

	/* The file exporter writes all signals to one file, if it has several pipelines. */
	return at && (match_rpc_head(found, at, "\"resourceSpans\"") ||
		      match_rpc_head(found, at, "\"resourceMetrics\"") ||
		      match_rpc_head(found, at, "\"resourceLogs\""));
}

static bool is_jaeger_file(const struct found *found)
{
	return match_rpc_head(found, 0, "{") && has_rpc_word(found, "\"data\"") &&
	       has_rpc_word(found, "\"traceID\"");
}

static bool is_zipkin_file(const struct found *found)
{
	const size_t at = match_rpc_head(found, 0, "[");

	return at && (match_rpc_head(found, at, "{") || match_rpc_head(found, at, "[")) &&
	       has_rpc_word(found, "\"traceId\"") && has_rpc_word(found, "\"id\"");
}

/* ---- what the file lacks ------------------------------------------------------ */

static void warn_of_unused_spans(struct rpc_file *file)
{
	static const char *const why[RPC_NUM_UNUSED] = {
		[RPC_NO_HOST] =
			"the file does not report their hosts; add host.name or k8s.node.name to the attributes of the resource, for example by the collector's processor resourcedetection",
		[RPC_BROWSER] =
			"each browser has its own clock, and the file does not report which one it is; add session.id to the attributes of the resource",
		[RPC_MANY_HOSTS] = "the file has more hosts than netsync supports",
		[RPC_BAD_TIME] = "their times are not valid",
		[RPC_BAD_ID] = "they have no valid identifiers",
	};

	for (int i = 0; i < RPC_NUM_UNUSED; i++) {
		char *name = utf8_escape(file->example[i], true);

		if (file->unused[i])
			io_warn(file->io, "%s: %llu spans (the first is %s) were not used: %s.",
				file->path, (unsigned long long)file->unused[i],
				name && *name ? name : "unnamed", why[i]);
		free(name);
	}
	if (file->not_held)
		io_warn(file->io,
			"%s: %llu spans were not used, because more than %d spans precede the name of their host.",
			file->path, (unsigned long long)file->not_held, RPC_MAX_HELD);
}

/* ---- opening ------------------------------------------------------------------ */

static void release_rpc_file(struct rpc_file *file)
{
	if (!file || --file->users)
		return;
	rpc_release_hosts(file);
	free(file);
}

/* Let a trace represent the host with this index. */
static int assign_rpc_host(struct trace *trace, struct rpc_file *file, size_t index)
{
	const struct rpc_host *host = &file->host[index];
	struct rpc_trace *state = calloc(1, sizeof(*state));

	trace->state = state;
	if (!state)
		return -ENOMEM;
	*state = (struct rpc_trace){ .file = file, .host = index };
	file->users++;
	trace->host_name = strdup(host->name);
	trace->clock_name = strdup("realtime");
	trace->range = host->range;
	trace->has_wall = true;
	trace->has_network = true;
	trace->info.damaged = file->is_damaged;
	trace->readable = file->is_damaged ? trace->path : NULL;
	/* Reading the temporary file takes less time than passing on its contents. */
	trace->is_chosen = true;
	return trace->host_name && trace->clock_name ? 0 : -ENOMEM;
}

static int open_rpc_file(struct trace *trace, const struct rpc_format *format)
{
	struct rpc_file *file = calloc(1, sizeof(*file));
	int ret;

	if (!file)
		return io_fail_no_memory(trace->io);
	*file = (struct rpc_file){
		.io = trace->io, .path = trace->path, .format = format, .users = 1, .spool = -1
	};
	ret = rpc_scan_file(file, rpc_keep_span);
	if (!ret) {
		warn_of_unused_spans(file);
		trace->has_unusable = file->unused[RPC_NO_HOST] > 0;
		if (file->num_hosts)
			ret = assign_rpc_host(trace, file, 0) ? io_fail_no_memory(trace->io) : 1;
		else
			io_warn(trace->io,
				"%s: it contains no spans of a known host. The trace was skipped.",
				trace->path);
	}
	release_rpc_file(file);
	return ret;
}

static int otlp_reader_open(struct trace *trace)
{
	return open_rpc_file(trace, &otlp_format);
}

static int jaeger_reader_open(struct trace *trace)
{
	return open_rpc_file(trace, &jaeger_format);
}

static int zipkin_reader_open(struct trace *trace)
{
	return open_rpc_file(trace, &zipkin_format);
}

/* Make another trace of the same file for its next host. Return 1; 0 after the last; or -ENOMEM. */
static int open_next_rpc_host(const struct trace *trace, struct trace *next)
{
	const struct rpc_trace *state = trace->state;

	if (state->host + 1 == state->file->num_hosts)
		return 0;
	return assign_rpc_host(next, state->file, state->host + 1) ? -ENOMEM : 1;
}

/* ---- reading ------------------------------------------------------------------ */

/* Fill in what the kind of a span says about the other spans of its call. */
static void set_rpc_role(struct span_part *part, const struct rpc_record *record)
{
	switch ((enum rpc_kind)record->kind) {
	case RPC_CLIENT:
		part->kind = NETSYNC_IO_CALL;
		part->role = NETSYNC_IO_STARTS_FIRST;
		/* A client that gave up does not wait for its server. */
		if (!record->has_failed)
			part->role |= NETSYNC_IO_ENDS_LAST;
		break;
	case RPC_SERVER:
		part->kind = NETSYNC_IO_CALL;
		part->role = NETSYNC_IO_STARTS_LAST | NETSYNC_IO_ENDS_FIRST;
		break;
	case RPC_PRODUCER:
		part->kind = NETSYNC_IO_QUEUE;
		part->role = NETSYNC_IO_STARTS_FIRST;
		break;
	default:
		part->kind = NETSYNC_IO_QUEUE;
		part->role = NETSYNC_IO_STARTS_LAST;
		break;
	}
}

/*
 * Widen the times of a part by the resolution of the clock, so that comparing them with times of
 * other hosts gives their true order. An end that follows from a duration is as uncertain again.
 */
static void widen_rpc_times(struct span_part *part, int64_t resolution_ns, int64_t unit_ns)
{
	const int64_t start_ns = resolution_ns > 1 ? resolution_ns : 0;
	const int64_t end_ns = unit_ns > 1 ? 2 * start_ns : start_ns;

	part->start_ns += part->role & NETSYNC_IO_STARTS_FIRST ? -start_ns : start_ns;
	part->end_ns += part->role & NETSYNC_IO_ENDS_FIRST ? -end_ns : end_ns;
}

static int pass_rpc_record(struct trace *trace, const struct rpc_record *record)
{
	const struct rpc_trace *state = trace->state;
	const struct rpc_file *file = state->file;
	const struct rpc_host *host = &file->host[state->host];
	const uint64_t *id = record->id.trace;
	struct span_part part = {
		/* Zipkin's programs may use only 64 bits of a trace identifier. */
		.key = { hash_mix(id[1] ^ hash_mix(record->of)),
			 hash_mix(record->of + hash_mix(id[1])) },
		.group_id = { id[0], id[1] },
		.start_ns = record->start_ns,
		.end_ns = record->end_ns,
		.member = (uint32_t)hash_mix(record->id.span + record->kind),
		.step = -1,
	};

	set_rpc_role(&part, record);
	widen_rpc_times(&part, rpc_get_resolution(file, host), file->format->unit_ns);
	part.check = hash_text(part.kind, record->name->text);
	snprintf(part.what, sizeof(part.what), "%s", record->name->text);
	return io_add_part(trace, &part);
}

/* Read the next record. Return NULL at the end; set *@err after io_fail(). */
static const struct rpc_record *read_rpc_record(struct trace *trace, int *err)
{
	struct rpc_trace *state = trace->state;
	const struct rpc_file *file = state->file;
	ssize_t num;

	*err = 0;
	if (state->next < state->num)
		return &state->records[state->next];
	if (!state->records)
		state->records = malloc(RPC_BLOCK * sizeof(*state->records));
	num = state->records ? rpc_read_block(file, &file->host[state->host], state->block++,
					      state->records) :
			       -ENOMEM;
	if (num < 0)
		*err = io_fail(trace->io, (int)num, "%s: reading its spans failed: %s.",
			       trace->path, strerror((int)-num));
	state->next = 0;
	state->num = num > 0 ? (size_t)num : 0;
	return state->num ? state->records : NULL;
}

static int rpc_reader_read(struct trace *trace, int64_t until_ns)
{
	struct rpc_trace *state = trace->state;
	const struct rpc_record *record;
	int ret = state->block ? 0 : io_add_span(trace, trace->range.lo, trace->range.hi);

	while (!ret && (record = read_rpc_record(trace, &ret)) && record->start_ns <= until_ns) {
		ret = pass_rpc_record(trace, record);
		state->next++;
	}
	return ret < 0 ? ret : state->next < state->num;
}

static void rpc_reader_close(struct trace *trace)
{
	struct rpc_trace *state = trace->state;

	if (!state)
		return;
	release_rpc_file(state->file);
	free(state->records);
	free(state);
	trace->state = NULL;
}

#define RPC_READER(name, format_name)               \
	const struct trace_reader name##_reader = { \
		.format = format_name,              \
		.avoids_loss = "export all spans",  \
		.to_record = RPC_ADVICE,            \
		.claims = is_##name##_file,         \
		.takes_compressed = true,           \
		.open = name##_reader_open,         \
		.open_next = open_next_rpc_host,    \
		.read = rpc_reader_read,            \
		.close = rpc_reader_close,          \
		.has_parts = true,                  \
	}

RPC_READER(otlp, "otlp");
RPC_READER(jaeger, "jaeger");
RPC_READER(zipkin, "zipkin");
