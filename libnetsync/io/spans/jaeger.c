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

/* Scan a member of a tag, {"key": "...", "value": ...}, whose value is a text, a number or true. */
static int scan_jaeger_tag_member(struct rpc_file *file, void *data)
{
	struct json_scan *scan = &file->scan;
	struct rpc_attribute *tag = data;
	char *to = scan_is_key(scan, "key")   ? tag->key :
		   scan_is_key(scan, "value") ? tag->value :
						NULL;
	const int ret = to ? scan_text(scan) : scan_skip(scan);

	/* scan_text() leaves words such as "true" in scan->text as well. */
	if (to && ret >= 0)
		snprintf(to, sizeof(tag->key), "%.*s", 255, scan->text);
	return ret;
}

/* ---- spans ------------------------------------------------------------------ */

static void use_jaeger_tag(struct rpc_span *span, const struct rpc_attribute *tag)
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

static int scan_jaeger_span_tag(struct rpc_file *file, void *data)
{
	struct rpc_attribute tag = { "", "" };
	const int ret = rpc_scan_object(file, scan_jaeger_tag_member, &tag);

	(void)data;
	if (ret > 0)
		use_jaeger_tag(&file->span, &tag);
	return ret;
}

struct jaeger_reference {
	struct rpc_id id;
	bool is_child;
};

static int scan_jaeger_reference_member(struct rpc_file *file, void *data)
{
	struct json_scan *scan = &file->scan;
	struct jaeger_reference *reference = data;
	int ret;

	if (scan_is_key(scan, "traceID"))
		return rpc_scan_trace_id(file, reference->id.trace);
	if (scan_is_key(scan, "spanID"))
		return rpc_scan_span_id(file, &reference->id.span);
	if (!scan_is_key(scan, "refType"))
		return scan_skip(scan);
	ret = scan_text(scan);
	reference->is_child = ret > 0 && !strcmp(scan->text, "CHILD_OF");
	return ret;
}

/* Scan a reference. The first one of type CHILD_OF is the parent; all others are links. */
static int scan_jaeger_reference(struct rpc_file *file, void *data)
{
	struct jaeger_reference reference = { .is_child = false };
	const int ret = rpc_scan_object(file, scan_jaeger_reference_member, &reference);

	(void)data;
	if (ret <= 0)
		return ret;
	if (reference.is_child && !file->span.parent.span)
		file->span.parent = reference.id;
	else
		rpc_add_link(&file->span, &reference.id);
	return ret;
}

static int scan_jaeger_log(struct rpc_file *file, void *data)
{
	(void)data;
	return rpc_scan_event(file, "timestamp");
}

static int scan_jaeger_member(struct rpc_file *file, void *data)
{
	struct json_scan *scan = &file->scan;
	struct rpc_span *span = &file->span;
	uint64_t *process = data;
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
		return rpc_scan_list(file, scan_jaeger_reference, NULL);
	if (scan_is_key(scan, "tags"))
		return rpc_scan_list(file, scan_jaeger_span_tag, NULL);
	if (scan_is_key(scan, "logs") && file->is_copied)
		return rpc_scan_list(file, scan_jaeger_log, NULL);
	if (!scan_is_key(scan, "processID"))
		return scan_skip(scan);
	ret = scan_text(scan);
	if (ret > 0)
		*process = hash_text(0, scan->text);
	return ret;
}

static int scan_jaeger_span(struct rpc_file *file, void *data)
{
	uint64_t process = 0;
	const int ret = rpc_scan_span(file, scan_jaeger_member, &process);

	(void)data;
	return ret <= 0 ? ret : rpc_hold_span(file, process);
}

/* ---- processes -------------------------------------------------------------- */

static int scan_jaeger_process_tag(struct rpc_file *file, void *origin)
{
	struct rpc_attribute tag = { "", "" };
	const int ret = rpc_scan_object(file, scan_jaeger_tag_member, &tag);

	if (ret > 0)
		rpc_note_attribute(origin, tag.key, tag.value);
	return ret;
}

static int scan_jaeger_process_member(struct rpc_file *file, void *origin)
{
	return scan_is_key(&file->scan, "tags") ?
		       rpc_scan_list(file, scan_jaeger_process_tag, origin) :
		       scan_skip(&file->scan);
}

/* Scan a process, which is a member with its key as name. */
static int scan_jaeger_process(struct rpc_file *file, void *data)
{
	struct jaeger_processes *all = data;

	if (array_grow(&all->process, &all->room, all->num, sizeof(*all->process)))
		return -ENOMEM;
	all->process[all->num] = (struct jaeger_process){ hash_text(0, file->scan.text),
							  { .quality = 0 } };
	return rpc_scan_object(file, scan_jaeger_process_member, &all->process[all->num++].origin);
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

static int scan_jaeger_trace_member(struct rpc_file *file, void *processes)
{
	if (scan_is_key(&file->scan, "spans")) {
		file->lists++;
		return rpc_scan_list(file, scan_jaeger_span, NULL);
	}
	return scan_is_key(&file->scan, "processes") ?
		       rpc_scan_object(file, scan_jaeger_process, processes) :
		       scan_skip(&file->scan);
}

static int scan_jaeger_trace(struct rpc_file *file, void *data)
{
	struct jaeger_processes all = { .num = 0 };
	int ret = rpc_scan_object(file, scan_jaeger_trace_member, &all);

	(void)data;
	if (all.num)
		qsort(all.process, all.num, sizeof(*all.process), compare_jaeger_processes);
	if (ret >= 0)
		ret = rpc_pass_held_spans(file, find_jaeger_origin, &all);
	free(all.process);
	return ret;
}

static int scan_jaeger_text_member(struct rpc_file *file, void *data)
{
	return scan_is_key(&file->scan, "data") ? rpc_scan_list(file, scan_jaeger_trace, data) :
						  scan_skip(&file->scan);
}

static int scan_jaeger_text(struct rpc_file *file)
{
	return rpc_scan_object(file, scan_jaeger_text_member, NULL);
}

const struct rpc_format jaeger_format = {
	.name = "jaeger",
	.unit_ns = 1000,
	.first = '{',
	.scan = scan_jaeger_text,
};
