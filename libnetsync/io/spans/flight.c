// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The reader of dumps of PyTorch's flight recorder: see flight.h. open() reads the whole dump, in
 * which the operations may precede the ranks of their groups.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/spans/flight.h"
#include "io/spans/json.h"

#define FLIGHT_ADVICE "dump the flight recorder of PyTorch 2.4 or newer after collective operations"
/* Name of the list of operations. */
#define FLIGHT_LIST "entries"
/* Maximum number of members of an object that are used. Chosen: an entry has 25. */
#define FLIGHT_MAX_MEMBERS 64
/* First byte of a pickle of version 2 or newer. */
#define PICKLE_BEGIN 0x80

static bool has_flight_word(const struct found *found, const char *word)
{
	return memmem(found->head, found->head_len, word, strlen(word)) != NULL;
}

static bool is_flight_pickle(const struct found *found)
{
	return found->head_len > 2 && found->head[0] == PICKLE_BEGIN &&
	       has_flight_word(found, "version") && has_flight_word(found, "pg_config");
}

static bool is_flight_file(const struct found *found)
{
	size_t at = 0;

	if (is_flight_pickle(found))
		return true;
	while (at < found->head_len && isspace(found->head[at]))
		at++;
	if (at == found->head_len || found->head[at] != '{')
		return false;
	return (has_flight_word(found, "\"" FLIGHT_LIST "\"") &&
		has_flight_word(found, "\"collective_seq_id\"")) ||
	       (has_flight_word(found, "\"pg_config\"") && has_flight_word(found, "\"version\""));
}

/* ---- JSON ------------------------------------------------------------------- */

/* Describe a value as the pickle of the same data does. The depth is at most JSON_MAX_DEPTH. */
static void describe_json_value(struct json_object *json, struct pickle_value *value)
{
	switch (json_object_get_type(json)) {
	case json_type_string:
		pickle_set_text(value, json_object_get_string(json));
		break;
	case json_type_int:
	case json_type_boolean:
		pickle_set_number(value, json_object_get_int64(json));
		break;
	case json_type_array:
		pickle_set_list(value);
		for (size_t i = 0; i < json_object_array_length(json); i++) {
			struct pickle_value element;

			describe_json_value(json_object_array_get_idx(json, i), &element);
			pickle_add_element(value, &element);
		}
		break;
	default:
		*value = (struct pickle_value){ .text = "", .kind = PICKLE_OTHER };
	}
}

static int use_json_object(struct flight *flight, struct json_object *object)
{
	struct pickle_value pairs[2 * FLIGHT_MAX_MEMBERS];
	struct json_object_iterator at, end;
	size_t num = 0;

	if (!json_object_is_type(object, json_type_object))
		return 0;
	at = json_object_iter_begin(object);
	end = json_object_iter_end(object);
	for (; num < 2 * FLIGHT_MAX_MEMBERS && !json_object_iter_equal(&at, &end); num += 2) {
		pickle_set_text(&pairs[num], json_object_iter_peek_name(&at));
		describe_json_value(json_object_iter_peek_value(&at), &pairs[num + 1]);
		json_object_iter_next(&at);
	}
	return flight_use_dict(flight, pairs, num);
}

/* Use an object whose members are process groups. */
static int use_json_groups(struct flight *flight, struct json_object *groups)
{
	struct json_object_iterator at, end;
	int ret = 0;

	if (!json_object_is_type(groups, json_type_object))
		return 0;
	at = json_object_iter_begin(groups);
	end = json_object_iter_end(groups);
	for (; !ret && !json_object_iter_equal(&at, &end); json_object_iter_next(&at))
		ret = use_json_object(flight, json_object_iter_peek_value(&at));
	return ret;
}

static int use_flight_item(struct flight *flight, const struct json_item *item)
{
	if (item->is_element)
		return use_json_object(flight, item->value);
	return strcmp(item->key, "pg_config") ? 0 : use_json_groups(flight, item->value);
}

/* ---- the file --------------------------------------------------------------- */

/* Handle the end of reading. Return 1; 0 if the trace is skipped; or a negative value. */
static int end_flight_file(struct trace *trace, const struct disk_file *from, const char *problem,
			   uint64_t at, int ret)
{
	if (ret == -EILSEQ && !disk_is_stuck(from)) {
		io_warn(trace->io, "%s: the file is damaged (%s); read only up to byte %llu.",
			trace->path, problem, (unsigned long long)at);
		trace->info.damaged++;
		trace->readable = trace->path;
		return 1;
	}
	return ret < 0 ? io_fail_contents(trace->io, trace->path, from,
					  "dump of the flight recorder", problem, ret) :
			 1;
}

static int read_flight_pickle(struct trace *trace)
{
	struct pickle pickle;
	int ret = pickle_open(&pickle, trace->io, trace->path);

	if (!ret) {
		ret = pickle_read(&pickle, flight_use_dict, trace->state);
		if (ret == -EILSEQ && pickle.is_refused) {
			io_warn(trace->io,
				"%s: the pickle is not a dump of the flight recorder: %s. "
				"The trace was skipped.",
				trace->path, pickle.problem);
			ret = 0;
		} else {
			ret = end_flight_file(trace, pickle.file.from, pickle.problem,
					      pickle_get_position(&pickle), ret);
		}
	}
	pickle_close(&pickle);
	return ret;
}

static int read_flight_json(struct trace *trace)
{
	struct json_items items;
	int ret = json_items_open(&items, trace->io, trace->path, FLIGHT_LIST);

	if (!ret) {
		while ((ret = json_items_next(&items)) > 0) {
			ret = use_flight_item(trace->state, &items.item);
			if (ret < 0)
				break;
		}
		ret = end_flight_file(trace, items.scan.file.from, items.scan.problem,
				      scan_get_position(&items.scan), ret);
	}
	json_items_close(&items);
	return ret;
}

static int read_flight_file(struct trace *trace)
{
	struct unpacked file;
	uint8_t first = 0;
	ssize_t len = 0;
	const int ret = io_open_unpacked(trace->io, trace->path, &file);

	if (!ret)
		len = unpacked_read(&file, &first, 1, 0);
	unpacked_close(&file);
	if (ret)
		return ret;
	return len == 1 && first == PICKLE_BEGIN ? read_flight_pickle(trace) :
						   read_flight_json(trace);
}

/* ---- the reader ------------------------------------------------------------- */

/*
 * Find the rank at the end of the file's name, where PyTorch writes it, and name the host after it:
 * a dump contains neither. Return false if there is no number.
 */
static int find_flight_rank(struct trace *trace)
{
	static const char *const extensions[] = { ".json", ".pickle", ".pkl", NULL };
	struct flight *flight = trace->state;
	char *name = io_strip_extensions(trace->real_path, extensions);
	const char *digits;

	if (!name)
		return -ENOMEM;
	for (digits = name + strlen(name); digits > name && isdigit((unsigned char)digits[-1]);)
		digits--;
	flight->rank = *digits ? strtoll(digits, NULL, 10) : -1;
	free(name);
	if (flight->rank < 0 || flight->rank > INT32_MAX)
		return 0;
	trace->host_name = io_format("rank%lld", (long long)flight->rank);
	trace->clock_name = strdup("realtime");
	return trace->host_name && trace->clock_name ? 1 : -ENOMEM;
}

/* Warn if no operation has an end, as in dumps of gloo. */
static void warn_of_missing_ends(struct trace *trace)
{
	const struct flight *flight = trace->state;

	for (size_t i = 0; i < flight->operations.num; i++)
		if (flight->operations.operation[i].role & SPAN_AFTER)
			return;
	io_warn(trace->io,
		"%s: the dump does not report when operations had ended, so they limit the clock of this rank on one side only; give dumps of NCCL.",
		trace->path);
}

/* Read the dump. Return as open() of a reader. */
static int open_flight_file(struct trace *trace)
{
	struct flight *flight = trace->state;
	int ret = find_flight_rank(trace);

	if (!ret)
		io_warn(trace->io,
			"%s: the name of the file does not end with the number of the rank, as in nccl_trace_rank_3. The trace was skipped.",
			trace->path);
	if (ret > 0)
		ret = read_flight_file(trace);
	if (ret > 0 && flight_make_operations(flight))
		ret = -ENOMEM;
	if (ret <= 0)
		return ret == -ENOMEM ? io_fail_no_memory(trace->io) : ret;
	operations_finish(trace, &flight->operations);
	if (!flight->operations.num) {
		io_warn(trace->io,
			"%s: the dump contains no usable collective operations; " FLIGHT_ADVICE
			". The trace was skipped.",
			trace->path);
		return 0;
	}
	warn_of_missing_ends(trace);
	trace->has_wall = true;
	trace->has_network = true;
	return 1;
}

static int flight_reader_open(struct trace *trace)
{
	trace->state = calloc(1, sizeof(struct flight));
	trace->range.hi = -1;
	return trace->state ? open_flight_file(trace) : io_fail_no_memory(trace->io);
}

static int flight_reader_read(struct trace *trace, int64_t until_ns)
{
	struct flight *flight = trace->state;

	return operations_read(trace, &flight->operations, until_ns);
}

static void flight_reader_close(struct trace *trace)
{
	struct flight *flight = trace->state;

	if (flight) {
		operations_release(&flight->operations);
		free(flight->entry);
		free(flight->group);
	}
	free(flight);
}

const struct trace_reader flight_reader = {
	.format = "flight-recorder",
	.avoids_loss = "enlarge TORCH_FR_BUFFER_SIZE",
	.to_record = FLIGHT_ADVICE,
	.claims = is_flight_file,
	.takes_compressed = true,
	.open = flight_reader_open,
	.read = flight_reader_read,
	.close = flight_reader_close,
	.has_parts = true,
};
