// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Scan a file of distributed tracing, and find the host of each span. A host is a clock, so the
 * name of the machine is better than that of a container on it. Names of services are not used,
 * because a service runs on several machines.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/spans/rpc.h"
#include "util/array.h"
#include "util/hash.h"

/* ---- values ----------------------------------------------------------------- */

static inline int find_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 32;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/*
 * Parse up to 128 bits of hexadecimal digits. Other texts, such as base64, are hashed: they only
 * have to be equal.
 */
static void parse_rpc_id(const char *text, uint64_t id[2])
{
	const char *c = text;
	int digit;

	id[0] = id[1] = 0;
	for (; (digit = find_hex_digit(*c)) >= 0; c++) {
		id[0] = id[0] << 4 | id[1] >> 60;
		id[1] = id[1] << 4 | (uint64_t)digit;
	}
	if (*c || c - text > 32) {
		id[0] = hash_text(0, text);
		id[1] = hash_text(1, text);
	}
}

int rpc_scan_trace_id(struct rpc_file *file, uint64_t id[2])
{
	const int ret = scan_text(&file->scan);

	if (ret > 0)
		parse_rpc_id(file->scan.text, id);
	return ret < 0 ? ret : 1;
}

int rpc_scan_span_id(struct rpc_file *file, uint64_t *id)
{
	uint64_t both[2] = { 0, 0 };
	const int ret = rpc_scan_trace_id(file, both);

	*id = both[0] ? hash_mix(both[0]) ^ both[1] : both[1];
	return ret;
}

/* Parse a number without sign, decimals and exponent. Return -1 for others. */
static int64_t parse_rpc_number(const char *text)
{
	int64_t number = 0;

	if (!*text)
		return -1;
	for (; isdigit((unsigned char)*text); text++)
		if (__builtin_mul_overflow(number, 10, &number) ||
		    __builtin_add_overflow(number, *text - '0', &number))
			return -1;
	return *text ? -1 : number;
}

int rpc_scan_number(struct rpc_file *file, enum rpc_number is)
{
	struct rpc_span *span = &file->span;
	const int ret = scan_text(&file->scan);
	struct rpc_digits digits = { file->scan.text_at, file->scan.text_end, -1, is };

	if (ret <= 0)
		return ret < 0 ? ret : 1;
	digits.value = parse_rpc_number(file->scan.text);
	if (is == RPC_START)
		span->start = digits.value;
	else if (is == RPC_END)
		span->end = digits.value;
	else if (is == RPC_DURATION)
		span->duration = digits.value;
	if (!file->is_copied)
		return 1;
	if (array_grow(&span->digits, &span->digits_room, span->num_digits, sizeof(digits)))
		return -ENOMEM;
	span->digits[span->num_digits++] = digits;
	return 1;
}

int rpc_scan_event(struct rpc_file *file, const char *key)
{
	struct json_scan *scan = &file->scan;
	const size_t len = strlen(key);
	int ret = scan_enter(scan, '{');

	while (ret > 0 && (ret = scan_member(scan)) > 0)
		ret = scan->key_len == len && !memcmp(scan->key, key, len) ?
			      rpc_scan_number(file, RPC_EVENT) :
			      scan_skip(scan);
	return ret;
}

int rpc_scan_object(struct rpc_file *file, rpc_scan_func each, void *data)
{
	int ret = scan_enter(&file->scan, '{');

	if (ret <= 0)
		return ret;
	while ((ret = scan_member(&file->scan)) > 0)
		if ((ret = each(file, data)) < 0)
			return ret;
	return ret < 0 ? ret : 1;
}

int rpc_scan_list(struct rpc_file *file, rpc_scan_func each, void *data)
{
	int ret = scan_enter(&file->scan, '[');

	if (ret <= 0)
		return ret;
	while ((ret = scan_element(&file->scan)) > 0)
		if ((ret = each(file, data)) < 0)
			return ret;
	return ret < 0 ? ret : 1;
}

int rpc_scan_name(struct rpc_file *file)
{
	const int ret = scan_text(&file->scan);

	if (ret > 0)
		snprintf(file->span.name, SPAN_NAME_SIZE, "%.*s", SPAN_NAME_SIZE - 1,
			 file->scan.text);
	return ret < 0 ? ret : 1;
}

void rpc_add_link(struct rpc_span *span, const struct rpc_id *id)
{
	if (id->span && span->num_links < RPC_MAX_LINKS)
		span->link[span->num_links++] = *id;
}

/* ---- hosts ------------------------------------------------------------------ */

/*
 * Attributes that identify a clock, from OpenTelemetry's semantic conventions and Jaeger's process
 * tags, the best one last. In a container, host.name may be that of the container, while the node
 * has the clock.
 */
static const char *const host_attributes[] = {
	"ip", "container.id", "k8s.pod.uid", "host.id", "hostname", "host.name", "k8s.node.name",
};

void rpc_note_attribute(struct rpc_origin *origin, const char *key, const char *value)
{
	/* Every machine has these names. */
	if (!*value || !strcmp(value, "localhost") || !strncmp(value, "127.", 4) ||
	    !strcmp(value, "::1"))
		return;
	for (int i = 0; i < (int)(sizeof(host_attributes) / sizeof(host_attributes[0])); i++)
		if (!strcmp(key, host_attributes[i]) && origin->quality <= i) {
			origin->quality = i + 1;
			snprintf(origin->host, sizeof(origin->host), "%.*s",
				 (int)sizeof(origin->host) - 1, value);
		}
	/* A session is better than the user agent, which many browsers have. */
	if (!strcmp(key, "session.id") ||
	    (!strcmp(key, "user_agent.original") && !*origin->browser))
		snprintf(origin->browser, sizeof(origin->browser), "browser %.200s", value);
	origin->is_browser |= !strncmp(key, "browser.", 8) || !strcmp(key, "user_agent.original") ||
			      (!strcmp(key, "telemetry.sdk.language") && !strcmp(value, "webjs"));
}

/* ---- spans ------------------------------------------------------------------ */

int rpc_scan_span(struct rpc_file *file, rpc_scan_func each, void *data)
{
	struct rpc_span *span = &file->span;
	struct rpc_digits *digits = span->digits;
	const size_t room = span->digits_room;

	scan_peek(&file->scan);
	*span = (struct rpc_span){
		.start = -1,
		.end = -1,
		.duration = -1,
		.digits = digits,
		.digits_room = room,
		.from = scan_get_position(&file->scan),
		.list = file->lists,
	};
	return rpc_scan_object(file, each, data);
}

int rpc_skip_span(struct rpc_file *file, enum rpc_unused why, const struct rpc_span *span)
{
	if (!file->unused[why]++)
		snprintf(file->example[why], SPAN_NAME_SIZE, "%s", span->name);
	return 0;
}

static int use_rpc_span(struct rpc_file *file, struct rpc_span *span,
			const struct rpc_origin *origin)
{
	static const struct rpc_origin unknown;
	const char *host = NULL;

	if (!origin)
		origin = &unknown;
	if (*origin->host)
		host = origin->host;
	else if (origin->is_browser && *origin->browser)
		host = origin->browser;
	else
		rpc_skip_span(file, origin->is_browser ? RPC_BROWSER : RPC_NO_HOST, span);
	file->use_error = file->use(file, span, host);
	return file->use_error;
}

int rpc_pass_span(struct rpc_file *file, const struct rpc_origin *origin)
{
	int ret;

	file->span.to = scan_get_position(&file->scan);
	ret = use_rpc_span(file, &file->span, origin);
	return ret < 0 ? ret : 1;
}

int rpc_hold_span(struct rpc_file *file, uint64_t process)
{
	struct rpc_span *span = &file->span;

	span->to = scan_get_position(&file->scan);
	if (file->num_held == RPC_MAX_HELD) {
		file->not_held++;
		return 1;
	}
	if (array_grow(&file->held, &file->held_room, file->num_held, sizeof(*file->held)))
		return -ENOMEM;
	file->held[file->num_held++] = (struct rpc_held){ *span, process };
	span->digits = NULL;
	span->digits_room = 0;
	return 1;
}

static void drop_held_spans(struct rpc_file *file)
{
	for (size_t i = 0; i < file->num_held; i++)
		free(file->held[i].span.digits);
	file->num_held = 0;
}

int rpc_pass_held_spans(struct rpc_file *file,
			const struct rpc_origin *(*find)(const void *data, uint64_t process),
			const void *data)
{
	int ret = 1;

	for (size_t i = 0; i < file->num_held && ret > 0; i++) {
		struct rpc_held *held = &file->held[i];
		const int used = use_rpc_span(file, &held->span, find(data, held->process));

		ret = used < 0 ? used : 1;
	}
	drop_held_spans(file);
	return ret;
}

/* ---- the file --------------------------------------------------------------- */

static int warn_of_rpc_damage(struct rpc_file *file)
{
	struct json_scan *scan = &file->scan;
	const uint64_t at = scan_get_position(scan);
	/* After a damaged line, scanning continues with the next line. */
	const int ret = scan->file.damage ? 0 : scan_next_line(scan);

	if (!file->is_damaged)
		io_warn(file->io, "%s: the file is damaged at byte %llu (%s); %s.", file->path,
			(unsigned long long)at, scan->problem,
			ret > 0 ? "the rest of this line was not used" : "the rest was not used");
	file->is_damaged = true;
	return ret;
}

/* Scan a text. Return 1; 0 at the end of the file; or a negative value. */
static int scan_rpc_text(struct rpc_file *file)
{
	int ret = scan_peek(&file->scan);

	if (!ret)
		return 0;
	if (ret > 0 && ret != file->format->first) {
		file->scan.problem = "unexpected JSON begins there";
		return -EILSEQ;
	}
	return ret < 0 ? ret : file->format->scan(file);
}

int rpc_scan_file(struct rpc_file *file, rpc_use_func use)
{
	struct json_scan *scan = &file->scan;
	int ret = scan_open(scan, file->io, file->path);
	const bool is_open = !ret;

	file->use = use;
	file->use_error = 0;
	file->lists = 0;
	file->is_damaged = false;
	for (ret = ret ? ret : 1; ret > 0;) {
		ret = scan_rpc_text(file);
		if (file->use_error)
			break;
		if (ret == -EILSEQ && !disk_is_stuck(scan->file.from)) {
			drop_held_spans(file);
			ret = warn_of_rpc_damage(file);
		}
	}
	if (is_open && ret < 0 && !file->use_error)
		ret = io_fail_contents(file->io, file->path, scan->file.from, file->format->name,
				       scan->problem, ret);
	scan_close(scan);
	drop_held_spans(file);
	free(file->held);
	free(file->span.digits);
	file->held = NULL;
	file->held_room = 0;
	file->span.digits = NULL;
	file->span.digits_room = 0;
	return ret;
}
