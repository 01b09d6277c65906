// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Zipkin's JSON, version 2: a list of spans, as applications send it (POST /api/v2/spans), or a
 * list of such lists, one for each trace (GET /api/v2/traces). Times are us. Client and server may
 * share an identifier, as B3 headers allow.
 *
 *	[{"traceId": "86154a4ba6e91385", "parentId": "86154a4ba6e91385", "id": "4d1e00c0db9010db",
 *	  "kind": "CLIENT", "name": "get", "timestamp": 1472470996199000, "duration": 207000,
 *	  "localEndpoint": {"serviceName": "frontend", "ipv4": "127.0.0.1"},
 *	  "annotations": [{"timestamp": 1472470996238000, "value": "foo"}], "shared": true}]
 */
#include <stdio.h>
#include <string.h>

#include "io/spans/rpc.h"

static int scan_zipkin_kind(struct rpc_file *file)
{
	static const char *const kinds[] = {
		[RPC_SERVER] = "SERVER",
		[RPC_CLIENT] = "CLIENT",
		[RPC_PRODUCER] = "PRODUCER",
		[RPC_CONSUMER] = "CONSUMER",
	};
	const int ret = scan_text(&file->scan);

	for (int i = RPC_SERVER; i <= RPC_CONSUMER && ret > 0; i++)
		if (!strcmp(file->scan.text, kinds[i]))
			file->span.kind = (enum rpc_kind)i;
	return ret;
}

/* Scan a member of {"serviceName": ..., "ipv4": "...", "ipv6": "..."}. */
static int scan_zipkin_endpoint_member(struct rpc_file *file, void *origin)
{
	struct json_scan *scan = &file->scan;
	int ret;

	if (!scan_is_key(scan, "ipv4") && !scan_is_key(scan, "ipv6"))
		return scan_skip(scan);
	ret = scan_text(scan);
	if (ret > 0)
		rpc_note_attribute(origin, "ip", scan->text);
	return ret;
}

/* Scan a member of {"host.name": "..."}: some writers add attributes of the resource. */
static int scan_zipkin_tag(struct rpc_file *file, void *origin)
{
	struct json_scan *scan = &file->scan;
	char key[sizeof(scan->key) + 1];
	int ret;

	snprintf(key, sizeof(key), "%.*s", (int)scan->key_len, scan->key);
	ret = scan_text(scan);
	if (ret > 0)
		rpc_note_attribute(origin, key, scan->text);
	if (ret > 0 && !strcmp(key, "error"))
		file->span.has_failed = true;
	return ret;
}

static int scan_zipkin_annotation(struct rpc_file *file, void *data)
{
	(void)data;
	return rpc_scan_event(file, "timestamp");
}

static int scan_zipkin_member(struct rpc_file *file, void *origin)
{
	struct json_scan *scan = &file->scan;
	struct rpc_span *span = &file->span;

	if (scan_is_key(scan, "traceId"))
		return rpc_scan_trace_id(file, span->id.trace);
	if (scan_is_key(scan, "id"))
		return rpc_scan_span_id(file, &span->id.span);
	if (scan_is_key(scan, "parentId"))
		return rpc_scan_span_id(file, &span->parent.span);
	if (scan_is_key(scan, "kind"))
		return scan_zipkin_kind(file);
	if (scan_is_key(scan, "name"))
		return rpc_scan_name(file);
	if (scan_is_key(scan, "timestamp"))
		return rpc_scan_number(file, RPC_START);
	if (scan_is_key(scan, "duration"))
		return rpc_scan_number(file, RPC_DURATION);
	if (scan_is_key(scan, "localEndpoint"))
		return rpc_scan_object(file, scan_zipkin_endpoint_member, origin);
	if (scan_is_key(scan, "tags"))
		return rpc_scan_object(file, scan_zipkin_tag, origin);
	if (scan_is_key(scan, "annotations") && file->is_copied)
		return rpc_scan_list(file, scan_zipkin_annotation, NULL);
	if (scan_is_key(scan, "shared")) {
		span->is_shared = scan_peek(scan) == 't';
		return scan_skip(scan);
	}
	return scan_skip(scan);
}

static int scan_zipkin_span(struct rpc_file *file)
{
	struct rpc_origin origin = { .quality = 0 };
	const int ret = rpc_scan_span(file, scan_zipkin_member, &origin);

	if (ret <= 0)
		return ret;
	memcpy(file->span.parent.trace, file->span.id.trace, sizeof(file->span.id.trace));
	return rpc_pass_span(file, &origin);
}

static int scan_zipkin_inner_element(struct rpc_file *file, void *data)
{
	(void)data;
	return scan_zipkin_span(file);
}

/* Scan an element of the list: a span, or a list that contains only spans. */
static int scan_zipkin_element(struct rpc_file *file, void *data)
{
	const int ret = scan_peek(&file->scan);

	if (ret <= 0)
		return ret;
	if (ret != '[')
		return scan_zipkin_span(file);
	file->lists++;
	return rpc_scan_list(file, scan_zipkin_inner_element, data);
}

static int scan_zipkin_text(struct rpc_file *file)
{
	file->lists++;
	return rpc_scan_list(file, scan_zipkin_element, NULL);
}

const struct rpc_format zipkin_format = {
	.name = "zipkin",
	.unit_ns = 1000,
	.first = '[',
	.scan = scan_zipkin_text,
};
