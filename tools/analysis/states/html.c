// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write a page with a Gantt chart of all spans. One long array of numbers contains the spans in
 * order. Tables after the array give the meaning of the numbers.
 */
#include <errno.h>
#include <inttypes.h>

#include "common/json-writer.h"
#include "common/page.h"
#include "rows.h"
#include "states.h"

__asm__(".pushsection .rodata\n"
	"states_page_text: .incbin \"" STATES_PAGE "\"\n"
	".byte 0\n"
	".popsection\n");

extern const char states_page_text[];

/* Written in place of an unknown bound or a row that does not exist. */
#define NOTHING (-1)

struct html {
	FILE *out;
	struct states *states;
	struct rows rows;
	struct rows labels; /* labels of states; only name and host are used */
	int64_t base_ns;    /* the time to which all other times are relative */
	char base_text[24]; /* base_ns as text, because it does not fit into a JavaScript number */
	bool any;
};

static void put_bound_cell(FILE *out, int64_t bound_ns)
{
	fprintf(out, ",%" PRId64, bound_ns == NETSYNC_UNKNOWN ? NOTHING : bound_ns);
}

/* Return the row of the span whose end the object waited for. */
static struct row make_holder_row(const struct reported_span *reported)
{
	return (struct row){
		.host = reported->holder_host,
		.definition = reported->span.definition,
		.name = reported->holder_name,
		.lane = reported->holder_lane,
	};
}

/*
 * Write a span as numbers: row, state, begin, end, bounds of begin and end, flags, and the row and
 * the end of the span for which the object waited. WIDTH in page/data.js is the count of these
 * numbers.
 */
static bool put_html_span(void *data, const struct reported_span *reported)
{
	struct html *html = data;
	const struct state_span *span = &reported->span;
	const struct row row = make_state_row(span), of_holder = make_holder_row(reported);
	const struct row label = { .host = span->host, .name = span->state };
	uint32_t number, state, holder = 0;
	bool is_new;

	if (!rows_find_or_add(&html->rows, &row, &number, &is_new) ||
	    !rows_find_or_add(&html->labels, &label, &state, &is_new) ||
	    (reported->has_holder &&
	     !rows_find_or_add(&html->rows, &of_holder, &holder, &is_new))) {
		html->states->failed = true;
		return false;
	}
	fprintf(html->out, "%s%" PRIu32 ",%" PRIu32 ",%" PRId64 ",%" PRId64,
		html->any ? ",\n" : "\n", number - 1, state - 1, span->begin_ns - html->base_ns,
		span->end_ns - html->base_ns);
	put_bound_cell(html->out, reported->begin_bound_ns);
	put_bound_cell(html->out, reported->end_bound_ns);
	fprintf(html->out, ",%d,%" PRId64 ",%" PRId64,
		span->is_open + 2 * span->is_doubtful + 4 * reported->is_uncertain,
		reported->has_holder ? (int64_t)holder - 1 : NOTHING,
		reported->has_holder ? reported->holder_end_ns - html->base_ns : 0);
	html->any = true;
	return !ferror(html->out);
}

/* ---- what the numbers mean ------------------------------------------------ */

static json_object *make_rows_array(struct json_writer *w, const struct html *html)
{
	json_object *rows = json_object_new_array(), *row;

	for (uint32_t i = 0; i < html->rows.num; i++) {
		const struct row *of = &html->rows.list[i];

		row = json_object_new_array();
		json_append(w, row, json_object_new_int64(of->host));
		json_append(w, row, json_object_new_int64(of->definition));
		json_append(w, row,
			    new_json_string(
				    spans_get_text(html->states->spans, of->host, of->name)));
		json_append(w, row, json_object_new_int64(of->lane));
		json_append(w, rows, row);
	}
	return rows;
}

static json_object *make_states_legend(struct json_writer *w, const struct html *html)
{
	const struct states *states = html->states;
	json_object *object = json_object_new_object(), *list;

	json_put(w, object, "base_ns", json_object_new_string(html->base_text));
	json_put(w, object, "reference", new_json_string(states->base->reference));
	list = json_object_new_array();
	for (uint32_t i = 0; i < states->base->num_hosts; i++)
		json_append(w, list, new_json_string(states->base->hosts[i].name));
	json_put(w, object, "hosts", list);
	list = json_object_new_array();
	for (size_t i = 0; i < states->num_definitions; i++)
		json_append(w, list, new_json_string(states->definitions[i].title));
	json_put(w, object, "definitions", list);
	list = json_object_new_array();
	for (uint32_t i = 0; i < html->labels.num; i++)
		json_append(w, list,
			    new_json_string(spans_get_text(states->spans, html->labels.list[i].host,
							   html->labels.list[i].name)));
	json_put(w, object, "states", list);
	json_put(w, object, "rows", make_rows_array(w, html));
	return object;
}

static bool put_states_legend(struct html *html)
{
	struct json_writer w = { .failed = false };
	json_object *object = make_states_legend(&w, html);
	const char *text = w.failed ?
				   NULL :
				   json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN);

	if (text)
		page_put_json(html->out, text);
	json_object_put(object);
	return text;
}

bool states_write_html(FILE *out, struct states *states)
{
	const char *rest = page_write_begin(out, states_page_text);
	struct html html = {
		.out = out,
		.states = states,
		.base_ns = timebase_find_second(states->base),
	};
	bool ok;

	snprintf(html.base_text, sizeof(html.base_text), "%" PRId64, html.base_ns);
	fputs("{\"spans\":[", out);
	ok = states_read(states, put_html_span, &html);
	fputs("\n],\"meaning\":", out);
	errno = 0;
	ok = ok && put_states_legend(&html);
	putc('}', out);
	fputs(rest, out);
	rows_release(&html.rows);
	rows_release(&html.labels);
	return ok && !ferror(out);
}
