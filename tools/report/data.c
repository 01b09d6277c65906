// SPDX-License-Identifier: GPL-2.0-only
/* Write the data of the page: the result and the messages. */
#include <inttypes.h>
#include <json.h>
#include <json_visit.h>
#include <stdlib.h>
#include <string.h>

#include "common/quality.h"
#include "report.h"

/* Integers up to this limit are exact in a double. */
#define MAX_EXACT (INT64_C(1) << 53)

/* ---- integers ---------------------------------------------------------- */

static int print_quoted(json_object *object, struct printbuf *text, int level, int flags)
{
	char number[32];

	(void)level;
	(void)flags;
	snprintf(number, sizeof(number), "\"%" PRId64 "\"", json_object_get_int64(object));
	return printbuf_memappend(text, number, strlen(number));
}

static int quote_large_number(json_object *object, int flags, json_object *parent, const char *key,
			      size_t *index, void *data)
{
	(void)flags;
	(void)parent;
	(void)key;
	(void)index;
	(void)data;
	if (json_object_is_type(object, json_type_int) &&
	    (json_object_get_int64(object) > MAX_EXACT ||
	     json_object_get_int64(object) < -MAX_EXACT))
		json_object_set_serializer(object, print_quoted, NULL, NULL);
	return JSON_C_VISIT_RETURN_CONTINUE;
}

/* ---- bounds ------------------------------------------------------------ */

/*
 * Maximum number of knots that are drawn for all hosts together, and minimum number for each host.
 */
#define MAX_KNOTS 40000
#define MIN_KNOTS 300

/*
 * Return the size of the bound at a knot in one direction. An unknown bound counts as the largest.
 */
static int64_t get_size_at(json_object *knots, size_t knot, int side)
{
	json_object *triple = json_object_array_get_idx(knots, knot);
	json_object *size = json_object_is_type(triple, json_type_array) ?
				    json_object_array_get_idx(triple, 1 + side) :
				    NULL;

	return size ? json_object_get_int64(size) : INT64_MAX;
}

/*
 * Of several consecutive knots, append the first one and the one with the largest bound in each
 * direction.
 */
static void append_largest_knots(struct json_writer *w, json_object *array, json_object *knots,
				 size_t from, size_t to)
{
	size_t largest[] = { from, from };

	for (size_t i = from; i < to; i++)
		for (int side = 0; side < 2; side++)
			if (get_size_at(knots, i, side) > get_size_at(knots, largest[side], side))
				largest[side] = i;
	for (size_t i = from; i < to; i++)
		if (i == from || i == largest[0] || i == largest[1])
			json_append(w, array, json_object_get(json_object_array_get_idx(knots, i)));
}

static void thin_knots(struct json_writer *w, json_object *host, size_t most)
{
	json_object *bound = json_object_object_get(host, "bound_ns");
	json_object *knots = json_object_object_get(bound, "knots");
	json_object *array;
	size_t num, step;

	if (!json_object_is_type(knots, json_type_array))
		return;
	num = json_object_array_length(knots);
	if (num <= most)
		return;
	array = json_object_new_array();
	step = (num - 1) / (most / 3) + 1;
	for (size_t i = 0; i < num - 1; i += step)
		append_largest_knots(w, array, knots, i, i + step < num - 1 ? i + step : num - 1);
	json_append(w, array, json_object_get(json_object_array_get_idx(knots, num - 1)));
	json_put(w, bound, "knots", array);
}

static void thin_bounds(struct json_writer *w, json_object *result)
{
	json_object *hosts = json_object_object_get(result, "hosts");
	const size_t num = json_object_is_type(hosts, json_type_array) ?
				   json_object_array_length(hosts) :
				   0;
	const size_t most = num * MIN_KNOTS < MAX_KNOTS ? MAX_KNOTS / (num + 1) : MIN_KNOTS;

	for (size_t i = 0; i < num; i++)
		thin_knots(w, json_object_array_get_idx(hosts, i), most);
}

/* ---- messages ---------------------------------------------------------- */

static void put_traffic_points(struct json_writer *w, json_object *object,
			       const struct traffic_way *way)
{
	const struct traffic_point *first = way->points;
	json_object *times = json_object_new_array_ext(way->num_points);
	json_object *before = json_object_new_array_ext(way->num_points);
	json_object *after = json_object_new_array_ext(way->num_points);

	for (size_t i = 0; i < way->num_points; i++) {
		const struct traffic_point *p = &way->points[i];

		json_append_time(w, times, p->time_ns - first->time_ns);
		json_append_time(w, before, p->before_ns - first->before_ns);
		json_append_time(w, after, p->after_ns);
	}
	json_put_time(w, object, "time_base", first->time_ns);
	json_put_time(w, object, "before_base", first->before_ns);
	json_put(w, object, "time", times);
	json_put(w, object, "before", before);
	json_put(w, object, "after", after);
}

static json_object *make_direction_object(struct json_writer *w,
					  const struct report_content *content, size_t number)
{
	const struct traffic_way *way = &content->traffic->ways[number];
	const uint32_t *hosts = content->hosts;
	json_object *object = json_object_new_object();

	json_put(w, object, "from", json_object_new_int64(hosts[way->from]));
	json_put(w, object, "to", json_object_new_int64(hosts[way->to]));
	json_put(w, object, "messages", json_object_new_int64(way->messages));
	json_put(w, object, "corrected", json_object_new_boolean(way->corrected));
	if (!way->num_points)
		return object;
	json_put_time(w, object, "min", way->min_ns);
	json_put_time(w, object, "median", way->median_ns);
	json_put_time(w, object, "p99", way->p99_ns);
	json_put_time(w, object, "max", way->max_ns);
	put_traffic_points(w, object, way);
	put_details(w, object, &content->details->ways[number]);
	return object;
}

static json_object *make_directions_array(struct json_writer *w,
					  const struct report_content *content)
{
	json_object *array = json_object_new_array();

	for (size_t i = 0; i < content->traffic->num_ways; i++)
		json_append(w, array, make_direction_object(w, content, i));
	return array;
}

/* Describe the meanings of the words for qualities. The best quality comes first. */
static json_object *make_qualities_object(struct json_writer *w)
{
	json_object *object = json_object_new_object();

	for (int i = NETSYNC_ACCURATE; i >= NETSYNC_ABSENT; i--) {
		const enum netsync_quality quality = (enum netsync_quality)i;

		json_put(w, object, netsync_quality_name(quality),
			 json_object_new_string(quality_get_meaning(quality)));
	}
	return object;
}

char *report_make_data(const struct report_content *content)
{
	struct json_writer w = { 0 };
	json_object *root = json_object_new_object();
	const char *text;
	char *copy = NULL;

	json_put(&w, root, "version", json_object_new_string(NETSYNC_VERSION));
	json_put(&w, root, "qualities", make_qualities_object(&w));
	thin_bounds(&w, content->result);
	json_put(&w, root, "result", json_object_get(content->result));
	if (content->traffic) {
		json_put(&w, root, "ways", make_directions_array(&w, content));
		json_put(&w, root, "files", make_place_files_array(&w, content));
		/*
		 * The numbers of text files follow those of the traces. Times in text files are in
		 * ns.
		 */
		json_put(&w, root, "first_text",
			 json_object_new_int64(netsync_io_num_traces(content->io)));
	} else {
		json_put_null(&w, root, "ways");
	}
	json_c_visit(root, 0, quote_large_number, NULL);
	text = json_object_to_json_string_ext(root, JSON_C_TO_STRING_PLAIN |
							    JSON_C_TO_STRING_NOSLASHESCAPE);
	if (text && !w.failed)
		copy = strdup(text);
	json_object_put(root);
	return copy;
}
