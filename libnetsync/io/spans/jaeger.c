// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Jaeger's JSON, as its API and the "JSON" button of its web page return it. Times are us. The
 * hosts follow the spans of each trace.
 *
 *	{"data": [{"traceID": "1f2...", "spans": [{"traceID": "1f2...", "spanID": "3a...",
 *	   "references": [{"refType": "CHILD_OF", "traceID": "1f2...", "spanID": "7b..."}],
 *	   "startTime": 1700000000000000, "duration": 1500, "processID": "p1",
 *	   "tags": [{"key": "span.kind", "type": "string", "value": "server"}]}],
 *	  "processes": {"p1": {"serviceName": "api", "tags": [{"key": "hostname", ...}]}}}]}
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/spans/rpc.h"
#include "util/array.h"
#include "util/hash.h"

/* A process of a trace. */
struct jaeger_process {
	uint64_t key;
	struct rpc_origin origin;
};

struct jaeger_processes {
	struct jaeger_process *process;
	size_t num, room;
};

/* A tag: {"key": "...", "value": ...}. */
struct jaeger_tag {
	char key[256], value[256];
};

/* Scan a tag whose value is a text, a number or true. */
static int scan_jaeger_tag(struct rpc_file *file, struct jaeger_tag *tag)
{
	struct json_scan *scan = &file->scan;
	int ret = scan_enter(scan, '{');

	*tag = (struct jaeger_tag){ "", "" };
	while (ret > 0 && (ret = scan_member(scan)) > 0) {
		char *to = scan_is_key(scan, "key")   ? tag->key :
			   scan_is_key(scan, "value") ? tag->value :
							NULL;

		if (!to) {
			ret = scan_skip(scan);
		} else {
			ret = scan_text(scan);
			/* scan_text() leaves words such as "true" in scan->text as well. */
			if (ret >= 0)
				snprintf(to, sizeof(tag->key), "%.*s", 255, scan->text);
		}
		ret = ret < 0 ? ret : 1;
	}
	return ret;
}

/* ---- spans ------------------------------------------------------------------ */

static void use_jaeger_tag(struct rpc_span *span, const struct jaeger_tag *tag)
{
	static const char *const kinds[] = {
		[RPC_INTERNAL] = "internal", [RPC_SERVER] = "server",	  [RPC_CLIENT] = "client",
		[RPC_PRODUCER] = "producer", [RPC_CONSUMER] = "consumer",
	};

	if (!strcmp(tag->key, "span.kind"))
		for (int i = RPC_INTERNAL; i <= RPC_CONSUMER; i++)
			if (!strcmp(tag->value, kinds[i]))
				span->kind = (enum rpc_kind)i;
	span->has_failed |= (!strcmp(tag->key, "error") && !strcmp(tag->value, "true")) ||
			    (!strcmp(tag->key, "otel.status_code") && !strcmp(tag->value, "ERROR"));
}

static int scan_jaeger_span_tags(struct rpc_file *file)
{
	struct jaeger_tag tag;
	int ret = scan_enter(&file->scan, '[');

	while (ret > 0 && (ret = scan_element(&file->scan)) > 0) {
		ret = scan_jaeger_tag(file, &tag);
		if (ret < 0)
			return ret;
		use_jaeger_tag(&file->span, &tag);
		ret = 1;
	}
	return ret;
}

/* Scan a reference. The first one of type CHILD_OF is the parent; all others are links. */
static int scan_jaeger_reference(struct rpc_file *file)
{
	struct json_scan *scan = &file->scan;
	struct rpc_span *span = &file->span;
	struct rpc_id id = { { 0, 0 }, 0 };
	bool is_child = false;
	int ret = scan_enter(scan, '{');

	while (ret > 0 && (ret = scan_member(scan)) > 0) {
		if (scan_is_key(scan, "traceID")) {
			ret = rpc_scan_trace_id(file, id.trace);
		} else if (scan_is_key(scan, "spanID")) {
			ret = rpc_scan_span_id(file, &id.span);
		} else if (scan_is_key(scan, "refType")) {
			ret = scan_text(scan);
			is_child = ret > 0 && !strcmp(scan->text, "CHILD_OF");
		} else {
			ret = scan_skip(scan);
		}
		ret = ret < 0 ? ret : 1;
	}
	if (is_child && !span->parent.span)
		span->parent = id;
	else
		rpc_add_link(span, &id);
	return ret;
}

static int scan_jaeger_log(struct rpc_file *file)
{
	return rpc_scan_event(file, "timestamp");
}

static int scan_jaeger_member(struct rpc_file *file, uint64_t *process)
{
	struct json_scan *scan = &file->scan;
	struct rpc_span *span = &file->span;
	int ret;

	if (scan_is_key(scan, "traceID"))
		return rpc_scan_trace_id(file, span->id.trace);
	if (scan_is_key(scan, "spanID"))
		return rpc_scan_span_id(file, &span->id.span);
	if (scan_is_key(scan, "operationName"))
		return rpc_scan_name(file);
	if (scan_is_key(scan, "startTime"))
		return rpc_scan_number(file, RPC_START);
	if (scan_is_key(scan, "duration"))
		return rpc_scan_number(file, RPC_DURATION);
	if (scan_is_key(scan, "references"))
		return rpc_scan_list(file, scan_jaeger_reference);
	if (scan_is_key(scan, "tags"))
		return scan_jaeger_span_tags(file);
	if (scan_is_key(scan, "logs") && file->is_copied)
		return rpc_scan_list(file, scan_jaeger_log);
	if (!scan_is_key(scan, "processID"))
		return scan_skip(scan);
	ret = scan_text(scan);
	if (ret > 0)
		*process = hash_text(0, scan->text);
	return ret;
}

static int scan_jaeger_span(struct rpc_file *file)
{
	uint64_t process = 0;
	int ret;

	scan_peek(&file->scan);
	rpc_begin_span(file);
	ret = scan_enter(&file->scan, '{');
	if (ret <= 0)
		return ret;
	while ((ret = scan_member(&file->scan)) > 0) {
		ret = scan_jaeger_member(file, &process);
		if (ret < 0)
			return ret;
	}
	return ret < 0 ? ret : rpc_hold_span(file, process);
}

/* ---- processes -------------------------------------------------------------- */

static int scan_jaeger_process(struct rpc_file *file, struct rpc_origin *origin)
{
	struct json_scan *scan = &file->scan;
	struct jaeger_tag tag;
	int ret = scan_enter(scan, '{');

	while (ret > 0 && (ret = scan_member(scan)) > 0) {
		if (!scan_is_key(scan, "tags")) {
			ret = scan_skip(scan);
		} else if ((ret = scan_enter(scan, '[')) > 0) {
			while ((ret = scan_element(scan)) > 0) {
				if ((ret = scan_jaeger_tag(file, &tag)) < 0)
					return ret;
				rpc_note_attribute(origin, tag.key, tag.value);
			}
		}
		ret = ret < 0 ? ret : 1;
	}
	return ret;
}

static int scan_jaeger_processes(struct rpc_file *file, struct jaeger_processes *all)
{
	struct json_scan *scan = &file->scan;
	int ret = scan_enter(scan, '{');

	while (ret > 0 && (ret = scan_member(scan)) > 0) {
		if (array_grow(&all->process, &all->room, all->num, sizeof(*all->process)))
			return -ENOMEM;
		all->process[all->num] = (struct jaeger_process){ hash_text(0, scan->text),
								  { .quality = 0 } };
		ret = scan_jaeger_process(file, &all->process[all->num++].origin);
		ret = ret < 0 ? ret : 1;
	}
	return ret;
}

static int compare_jaeger_processes(const void *a, const void *b)
{
	const struct jaeger_process *p = a, *q = b;

	return COMPARE(p->key, q->key);
}

static const struct rpc_origin *find_jaeger_origin(const void *data, uint64_t process)
{
	const struct jaeger_processes *all = data;
	const struct jaeger_process key = { .key = process }, *found = NULL;

	if (all->num)
		found = bsearch(&key, all->process, all->num, sizeof(key),
				compare_jaeger_processes);
	return found ? &found->origin : NULL;
}

/* ---- the text --------------------------------------------------------------- */

static int scan_jaeger_trace_members(struct rpc_file *file, struct jaeger_processes *all)
{
	struct json_scan *scan = &file->scan;
	int ret = scan_enter(scan, '{');

	while (ret > 0 && (ret = scan_member(scan)) > 0) {
		if (scan_is_key(scan, "spans")) {
			file->lists++;
			ret = rpc_scan_list(file, scan_jaeger_span);
		} else if (scan_is_key(scan, "processes")) {
			ret = scan_jaeger_processes(file, all);
		} else {
			ret = scan_skip(scan);
		}
		ret = ret < 0 ? ret : 1;
	}
	return ret;
}

static int scan_jaeger_trace(struct rpc_file *file)
{
	struct jaeger_processes all = { .num = 0 };
	int ret = scan_jaeger_trace_members(file, &all);

	if (all.num)
		qsort(all.process, all.num, sizeof(*all.process), compare_jaeger_processes);
	if (ret >= 0)
		ret = rpc_pass_held_spans(file, find_jaeger_origin, &all);
	free(all.process);
	return ret;
}

static int scan_jaeger_text(struct rpc_file *file)
{
	struct json_scan *scan = &file->scan;
	int ret = scan_enter(scan, '{');

	while (ret > 0 && (ret = scan_member(scan)) > 0) {
		ret = scan_is_key(scan, "data") ? rpc_scan_list(file, scan_jaeger_trace) :
						  scan_skip(scan);
		ret = ret < 0 ? ret : 1;
	}
	return ret < 0 ? ret : 1;
}

const struct rpc_format jaeger_format = {
	.name = "jaeger",
	.unit_ns = 1000,
	.first = '{',
	.scan = scan_jaeger_text,
};
