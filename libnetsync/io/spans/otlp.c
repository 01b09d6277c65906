// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * OTLP in JSON, as the file exporter of OpenTelemetry's collector writes it: one text in each line,
 * or one in the file (opentelemetry-proto, trace/v1/trace.proto, and "JSON Protobuf Encoding" in the
 * specification of OTLP). Members may have any order.
 *
 *	{"resourceSpans": [{"resource": {"attributes": [{"key": "host.name", "value": ...}]},
 *	   "scopeSpans": [{"spans": [{"traceId": "5b8e...", "spanId": "eee1...", ...}]}]}]}
 */
#include <stdio.h>
#include <string.h>

#include "io/spans/rpc.h"

/* Scan a member of the value of an attribute, {"stringValue": "..."}. */
static int scan_otlp_value_member(struct rpc_file *file, void *data)
{
	const bool is_text = scan_is_key(&file->scan, "stringValue");
	const int ret = is_text ? scan_text(&file->scan) : scan_skip(&file->scan);

	if (is_text && ret >= 0)
		snprintf(data, 256, "%.*s", 255, file->scan.text);
	return ret;
}

static int scan_otlp_attribute_member(struct rpc_file *file, void *data)
{
	struct json_scan *scan = &file->scan;
	struct rpc_attribute *attribute = data;
	int ret;

	if (scan_is_key(scan, "value")) {
		*attribute->value = '\0';
		return rpc_scan_object(file, scan_otlp_value_member, attribute->value);
	}
	if (!scan_is_key(scan, "key"))
		return scan_skip(scan);
	ret = scan_text(scan);
	snprintf(attribute->key, sizeof(attribute->key), "%.*s", 255, ret > 0 ? scan->text : "");
	return ret;
}

static int scan_otlp_attribute(struct rpc_file *file, void *origin)
{
	struct rpc_attribute attribute = { "", "" };
	const int ret = rpc_scan_object(file, scan_otlp_attribute_member, &attribute);

	if (ret > 0)
		rpc_note_attribute(origin, attribute.key, attribute.value);
	return ret;
}

/* Scan a member of {"attributes": [...]}. */
static int scan_otlp_resource_member(struct rpc_file *file, void *origin)
{
	return scan_is_key(&file->scan, "attributes") ?
		       rpc_scan_list(file, scan_otlp_attribute, origin) :
		       scan_skip(&file->scan);
}

/* ---- a span ----------------------------------------------------------------- */

/* Scan a member of a link, {"traceId": "...", "spanId": "..."}. */
static int scan_otlp_link_member(struct rpc_file *file, void *data)
{
	struct rpc_id *id = data;

	if (scan_is_key(&file->scan, "traceId"))
		return rpc_scan_trace_id(file, id->trace);
	if (scan_is_key(&file->scan, "spanId"))
		return rpc_scan_span_id(file, &id->span);
	return scan_skip(&file->scan);
}

static int scan_otlp_link(struct rpc_file *file, void *data)
{
	struct rpc_id id = { { 0, 0 }, 0 };
	const int ret = rpc_scan_object(file, scan_otlp_link_member, &id);

	(void)data;
	if (ret > 0)
		rpc_add_link(&file->span, &id);
	return ret;
}

static int scan_otlp_event(struct rpc_file *file, void *data)
{
	(void)data;
	return rpc_scan_event(file, "timeUnixNano");
}

/* Scan a member of {"code": 2}. Code 2 is an error, such as a timeout of the client. */
static int scan_otlp_status_member(struct rpc_file *file, void *data)
{
	struct json_scan *scan = &file->scan;
	int ret;

	(void)data;
	if (!scan_is_key(scan, "code"))
		return scan_skip(scan);
	ret = scan_text(scan);
	if (ret > 0)
		file->span.has_failed = !strcmp(scan->text, "2") ||
					!strcmp(scan->text, "STATUS_CODE_ERROR");
	return ret;
}

/* The specification allows only numbers; some writers use the names of the enumeration. */
static int scan_otlp_kind(struct rpc_file *file)
{
	static const char *const kinds[][2] = {
		[RPC_UNKNOWN] = { "0", "SPAN_KIND_UNSPECIFIED" },
		[RPC_INTERNAL] = { "1", "SPAN_KIND_INTERNAL" },
		[RPC_SERVER] = { "2", "SPAN_KIND_SERVER" },
		[RPC_CLIENT] = { "3", "SPAN_KIND_CLIENT" },
		[RPC_PRODUCER] = { "4", "SPAN_KIND_PRODUCER" },
		[RPC_CONSUMER] = { "5", "SPAN_KIND_CONSUMER" },
	};
	const int ret = scan_text(&file->scan);

	for (int i = 0; i <= RPC_CONSUMER && ret > 0; i++)
		if (!strcmp(file->scan.text, kinds[i][0]) || !strcmp(file->scan.text, kinds[i][1]))
			file->span.kind = (enum rpc_kind)i;
	return ret;
}

static int scan_otlp_member(struct rpc_file *file, void *data)
{
	struct json_scan *scan = &file->scan;
	struct rpc_span *span = &file->span;

	(void)data;
	if (scan_is_key(scan, "traceId"))
		return rpc_scan_trace_id(file, span->id.trace);
	if (scan_is_key(scan, "spanId"))
		return rpc_scan_span_id(file, &span->id.span);
	if (scan_is_key(scan, "parentSpanId"))
		return rpc_scan_span_id(file, &span->parent.span);
	if (scan_is_key(scan, "name"))
		return rpc_scan_name(file);
	if (scan_is_key(scan, "kind"))
		return scan_otlp_kind(file);
	if (scan_is_key(scan, "startTimeUnixNano"))
		return rpc_scan_number(file, RPC_START);
	if (scan_is_key(scan, "endTimeUnixNano"))
		return rpc_scan_number(file, RPC_END);
	if (scan_is_key(scan, "status"))
		return rpc_scan_object(file, scan_otlp_status_member, NULL);
	if (scan_is_key(scan, "links"))
		return rpc_scan_list(file, scan_otlp_link, NULL);
	if (scan_is_key(scan, "events") && file->is_copied)
		return rpc_scan_list(file, scan_otlp_event, NULL);
	return scan_skip(scan);
}

/* Scan a span. @origin is NULL if the resource follows. */
static int scan_otlp_span(struct rpc_file *file, void *origin)
{
	const int ret = rpc_scan_span(file, scan_otlp_member, NULL);

	if (ret <= 0)
		return ret;
	memcpy(file->span.parent.trace, file->span.id.trace, sizeof(file->span.id.trace));
	return origin ? rpc_pass_span(file, origin) : rpc_hold_span(file, 0);
}

/* ---- the text --------------------------------------------------------------- */

/* Scan a member of {"scope": ..., "spans": [...]}. */
static int scan_otlp_scope_member(struct rpc_file *file, void *origin)
{
	if (!scan_is_key(&file->scan, "spans"))
		return scan_skip(&file->scan);
	file->lists++;
	return rpc_scan_list(file, scan_otlp_span, origin);
}

static int scan_otlp_scope(struct rpc_file *file, void *origin)
{
	return rpc_scan_object(file, scan_otlp_scope_member, origin);
}

/* The only resource of an element of resourceSpans. */
static const struct rpc_origin *get_otlp_origin(const void *data, uint64_t process)
{
	(void)process;
	return data;
}

struct otlp_resource {
	struct rpc_origin origin;
	bool is_known; /* whether the resource precedes the spans */
};

static int scan_otlp_resource_spans_member(struct rpc_file *file, void *data)
{
	struct json_scan *scan = &file->scan;
	struct otlp_resource *resource = data;

	if (scan_is_key(scan, "resource")) {
		resource->is_known = true;
		return rpc_scan_object(file, scan_otlp_resource_member, &resource->origin);
	}
	if (!scan_is_key(scan, "scopeSpans") && !scan_is_key(scan, "instrumentationLibrarySpans"))
		return scan_skip(scan);
	return rpc_scan_list(file, scan_otlp_scope, resource->is_known ? &resource->origin : NULL);
}

/* Scan an element of resourceSpans. */
static int scan_otlp_resource_spans(struct rpc_file *file, void *data)
{
	struct otlp_resource resource = { .is_known = false };
	const int ret = rpc_scan_object(file, scan_otlp_resource_spans_member, &resource);

	(void)data;
	return ret <= 0 ? ret : rpc_pass_held_spans(file, get_otlp_origin, &resource.origin);
}

static int scan_otlp_text_member(struct rpc_file *file, void *data)
{
	return scan_is_key(&file->scan, "resourceSpans") ?
		       rpc_scan_list(file, scan_otlp_resource_spans, data) :
		       scan_skip(&file->scan);
}

/* Scan a text: TracesData, or ExportTraceServiceRequest, which has the same member. */
static int scan_otlp_text(struct rpc_file *file)
{
	return rpc_scan_object(file, scan_otlp_text_member, NULL);
}

const struct rpc_format otlp_format = {
	.name = "otlp",
	.unit_ns = 1,
	.first = '{',
	.scan = scan_otlp_text,
};
