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

/* Scan the value of an attribute, {"stringValue": "..."}. Set text to "" for other values. */
static int scan_otlp_value(struct rpc_file *file, char text[256])
{
	struct json_scan *scan = &file->scan;
	int ret = scan_enter(scan, '{');

	*text = '\0';
	if (ret <= 0)
		return ret;
	while ((ret = scan_member(scan)) > 0) {
		const bool is_text = scan_is_key(scan, "stringValue");

		ret = is_text ? scan_text(scan) : scan_skip(scan);
		if (ret < 0)
			return ret;
		if (is_text)
			snprintf(text, 256, "%.*s", 255, scan->text);
	}
	return ret;
}

static int scan_otlp_attribute(struct rpc_file *file, struct rpc_origin *origin)
{
	struct json_scan *scan = &file->scan;
	char key[256] = "", value[256] = "";
	int ret = scan_enter(scan, '{');

	if (ret <= 0)
		return ret;
	while ((ret = scan_member(scan)) > 0) {
		if (scan_is_key(scan, "key")) {
			ret = scan_text(scan);
			snprintf(key, sizeof(key), "%.*s", 255, ret > 0 ? scan->text : "");
		} else if (scan_is_key(scan, "value")) {
			ret = scan_otlp_value(file, value);
		} else {
			ret = scan_skip(scan);
		}
		if (ret < 0)
			return ret;
	}
	rpc_note_attribute(origin, key, value);
	return ret;
}

/* Scan {"attributes": [...]}. */
static int scan_otlp_resource(struct rpc_file *file, struct rpc_origin *origin)
{
	struct json_scan *scan = &file->scan;
	int ret = scan_enter(scan, '{');

	if (ret <= 0)
		return ret;
	while ((ret = scan_member(scan)) > 0) {
		if (!scan_is_key(scan, "attributes")) {
			ret = scan_skip(scan);
		} else if ((ret = scan_enter(scan, '[')) > 0) {
			while ((ret = scan_element(scan)) > 0)
				if ((ret = scan_otlp_attribute(file, origin)) < 0)
					return ret;
		}
		if (ret < 0)
			return ret;
	}
	return ret;
}

/* ---- a span ----------------------------------------------------------------- */

/* Scan a link, {"traceId": "...", "spanId": "..."}. */
static int scan_otlp_link(struct rpc_file *file)
{
	struct json_scan *scan = &file->scan;
	struct rpc_id id = { { 0, 0 }, 0 };
	int ret = scan_enter(scan, '{');

	if (ret <= 0)
		return ret;
	while ((ret = scan_member(scan)) > 0) {
		if (scan_is_key(scan, "traceId"))
			ret = rpc_scan_trace_id(file, id.trace);
		else if (scan_is_key(scan, "spanId"))
			ret = rpc_scan_span_id(file, &id.span);
		else
			ret = scan_skip(scan);
		if (ret < 0)
			return ret;
	}
	rpc_add_link(&file->span, &id);
	return ret;
}

static int scan_otlp_event(struct rpc_file *file)
{
	return rpc_scan_event(file, "timeUnixNano");
}

/* Scan {"code": 2}. Code 2 is an error, such as a timeout of the client. */
static int scan_otlp_status(struct rpc_file *file)
{
	struct json_scan *scan = &file->scan;
	int ret = scan_enter(scan, '{');

	while (ret > 0 && (ret = scan_member(scan)) > 0) {
		const bool is_code = scan_is_key(scan, "code");

		ret = is_code ? scan_text(scan) : scan_skip(scan);
		if (is_code && ret > 0)
			file->span.has_failed = !strcmp(scan->text, "2") ||
						!strcmp(scan->text, "STATUS_CODE_ERROR");
		ret = ret < 0 ? ret : 1;
	}
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

static int scan_otlp_member(struct rpc_file *file)
{
	struct json_scan *scan = &file->scan;
	struct rpc_span *span = &file->span;

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
		return scan_otlp_status(file);
	if (scan_is_key(scan, "links"))
		return rpc_scan_list(file, scan_otlp_link);
	if (scan_is_key(scan, "events") && file->is_copied)
		return rpc_scan_list(file, scan_otlp_event);
	return scan_skip(scan);
}

/* Scan a span. @origin is NULL if the resource follows. */
static int scan_otlp_span(struct rpc_file *file, const struct rpc_origin *origin)
{
	int ret;

	scan_peek(&file->scan);
	rpc_begin_span(file);
	ret = scan_enter(&file->scan, '{');
	if (ret <= 0)
		return ret;
	while ((ret = scan_member(&file->scan)) > 0) {
		ret = scan_otlp_member(file);
		if (ret < 0)
			return ret;
	}
	if (ret < 0)
		return ret;
	memcpy(file->span.parent.trace, file->span.id.trace, sizeof(file->span.id.trace));
	return origin ? rpc_pass_span(file, origin) : rpc_hold_span(file, 0);
}

/* ---- the text --------------------------------------------------------------- */

/* Scan {"scope": ..., "spans": [...]}. */
static int scan_otlp_scope(struct rpc_file *file, const struct rpc_origin *origin)
{
	struct json_scan *scan = &file->scan;
	int ret = scan_enter(scan, '{');

	if (ret <= 0)
		return ret;
	while ((ret = scan_member(scan)) > 0) {
		if (!scan_is_key(scan, "spans")) {
			ret = scan_skip(scan);
		} else if ((ret = scan_enter(scan, '[')) > 0) {
			file->lists++;
			while ((ret = scan_element(scan)) > 0)
				if ((ret = scan_otlp_span(file, origin)) < 0)
					return ret;
		}
		if (ret < 0)
			return ret;
	}
	return ret;
}

/* The only resource of an element of resourceSpans. */
static const struct rpc_origin *get_otlp_origin(const void *data, uint64_t process)
{
	(void)process;
	return data;
}

/* Scan an element of resourceSpans. */
static int scan_otlp_resource_spans(struct rpc_file *file)
{
	struct json_scan *scan = &file->scan;
	struct rpc_origin origin = { .quality = 0 };
	bool has_resource = false;
	int ret = scan_enter(scan, '{');

	if (ret <= 0)
		return ret;
	while ((ret = scan_member(scan)) > 0) {
		if (scan_is_key(scan, "resource")) {
			ret = scan_otlp_resource(file, &origin);
			has_resource = true;
		} else if ((scan_is_key(scan, "scopeSpans") ||
			    scan_is_key(scan, "instrumentationLibrarySpans")) &&
			   (ret = scan_enter(scan, '[')) > 0) {
			while ((ret = scan_element(scan)) > 0)
				if ((ret = scan_otlp_scope(file, has_resource ? &origin : NULL)) <
				    0)
					return ret;
		} else if (ret > 0) {
			ret = scan_skip(scan);
		}
		if (ret < 0)
			return ret;
	}
	return ret < 0 ? ret : rpc_pass_held_spans(file, get_otlp_origin, &origin);
}

/* Scan a text: TracesData, or ExportTraceServiceRequest, which has the same member. */
static int scan_otlp_text(struct rpc_file *file)
{
	struct json_scan *scan = &file->scan;
	int ret = scan_enter(scan, '{');

	while (ret > 0 && (ret = scan_member(scan)) > 0) {
		if (!scan_is_key(scan, "resourceSpans"))
			ret = scan_skip(scan);
		else
			ret = rpc_scan_list(file, scan_otlp_resource_spans);
		ret = ret < 0 ? ret : 1;
	}
	return ret < 0 ? ret : 1;
}

const struct rpc_format otlp_format = {
	.name = "otlp",
	.unit_ns = 1,
	.first = '{',
	.scan = scan_otlp_text,
};
