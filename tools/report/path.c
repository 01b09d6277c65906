// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write the critical path into the page. One long array of numbers contains its pieces, and tables
 * give the meaning of the numbers. page/path.js reads the array.
 */
#include <inttypes.h>

#include "common/page.h"
#include "report.h"

/* Written in place of an unknown bound, or of another thread if there is none. */
#define NOTHING (-1)

/*
 * Return the number of a thread. Threads of all hosts are numbered consecutively. For each host,
 * the number after its threads stands for its interrupts.
 */
static int64_t find_actor_number(const struct critical_path *path, struct actor who)
{
	const struct graph_host *hosts = path->graph.hosts;
	int64_t number = 0;

	for (uint32_t i = 0; i < who.host; i++)
		number += hosts[i].num_threads + 1;
	return path_find_thread(path, who) ? number + who.thread :
					     number + hosts[who.host].num_threads;
}

/*
 * Write a piece as numbers: thread, kind, reason, time between the end of the previous piece and
 * the begin, duration, bound, other thread, detail, whether the order is uncertain, and the charged
 * thread. Times are differences, because small numbers are parsed quickly. WIDTH_OF_PIECE in
 * page/path.js is the count of these numbers.
 */
static void write_piece_row(FILE *out, const struct critical_path *path, size_t number)
{
	const struct path_piece *piece = &path->pieces[number];
	const int64_t before_ns = number ? path->pieces[number - 1].end_ns : path->begin_ns;

	fprintf(out,
		"%" PRId64 ",%d,%d,%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRIu32
		",%d,%" PRIu32,
		find_actor_number(path, piece->who), piece->kind, piece->reason,
		piece->begin_ns - before_ns, piece->end_ns - piece->begin_ns,
		piece->kind == PIECE_NETWORK && !piece->reason &&
				piece->bound_ns != NETSYNC_UNKNOWN ?
			piece->bound_ns :
			NOTHING,
		piece->has_other ? find_actor_number(path, piece->other) : NOTHING, piece->detail,
		piece->is_uncertain, piece->charge);
}

/* ---- what the numbers mean ------------------------------------------------ */

static json_object *make_thread_array(struct json_writer *w, const struct critical_path *path,
				      struct actor who)
{
	const struct record_thread *thread = path_find_thread(path, who);
	json_object *array = json_object_new_array();

	json_append(w, array, json_object_new_int64(who.host));
	if (thread) {
		json_append(w, array, json_object_new_int64(thread->tid));
		json_append(w, array, new_json_string(thread->name));
	}
	return array;
}

static json_object *make_threads_array(struct json_writer *w, const struct critical_path *path)
{
	json_object *array = json_object_new_array();

	for (uint32_t h = 0; h < path->graph.num_hosts; h++)
		for (uint32_t t = 0; t <= path->graph.hosts[h].num_threads; t++)
			json_append(w, array, make_thread_array(w, path, (struct actor){ h, t }));
	return array;
}

static json_object *make_charges_array(struct json_writer *w, const struct critical_path *path)
{
	json_object *array = json_object_new_array();

	for (uint32_t i = 0; i < path->num_charges; i++) {
		const struct charge *charge = &path->charges[i];
		json_object *one = json_object_new_array();

		json_append(w, one, json_object_new_int64(find_actor_number(path, charge->who)));
		json_append(w, one,
			    json_object_new_int64(charge->parent == NO_CHARGE ?
							  NOTHING :
							  (int64_t)charge->parent));
		json_append(w, array, one);
	}
	return array;
}

static json_object *make_path_legend(struct json_writer *w, const struct critical_path *path)
{
	json_object *object = json_object_new_object(), *list;
	char begin[24];

	/* The time is text, because it does not fit into a JavaScript number. */
	snprintf(begin, sizeof(begin), "%" PRId64, path->begin_ns);
	json_put(w, object, "begin_ns", json_object_new_string(begin));
	json_put(w, object, "length", json_object_new_int64(path->end_ns - path->begin_ns));
	json_put(w, object, "who", json_object_new_int64(find_actor_number(path, path->who)));
	list = json_object_new_array();
	for (uint32_t i = 0; i < path->base->num_hosts; i++)
		json_append(w, list, new_json_string(path->base->hosts[i].name));
	json_put(w, object, "hosts", list);
	list = json_object_new_array();
	for (int i = 0; i < NUM_PIECES; i++)
		json_append(w, list, new_json_string(path_get_kind_name(i)));
	json_put(w, object, "kinds", list);
	list = json_object_new_array();
	for (int i = 0; i < NUM_REASONS; i++)
		json_append(w, list, new_json_string(path_get_reason_text(i)));
	json_put(w, object, "reasons", list);
	json_put(w, object, "threads", make_threads_array(w, path));
	json_put(w, object, "charges", make_charges_array(w, path));
	return object;
}

bool report_write_path(FILE *out, const struct critical_path *path)
{
	struct json_writer w = { .failed = false };
	json_object *object = make_path_legend(&w, path);
	const char *text = w.failed ?
				   NULL :
				   json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN);

	fputs("{\"pieces\":[", out);
	for (size_t i = 0; i < path->num_pieces; i++) {
		fputs(i ? ",\n" : "\n", out);
		write_piece_row(out, path, i);
	}
	fputs("\n],\"meaning\":", out);
	if (text)
		page_put_json(out, text);
	putc('}', out);
	json_object_put(object);
	return text && !ferror(out);
}
