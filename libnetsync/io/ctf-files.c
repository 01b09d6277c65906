// SPDX-License-Identifier: LGPL-2.1-or-later
/* The files of a CTF trace: is it one, and can it be read? */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctf-files.h"

/* How a packet of CTF metadata begins; the version follows. */
#define METADATA_MAGIC UINT32_C(0x75d11d57)
#define METADATA_MAJOR_AT 36

/* CTF 2 metadata is a sequence of JSON texts, each after this character. */
#define JSON_RECORD_SEPARATOR 0x1e

char *ctf_take_reason(void)
{
	const bt_error *error = bt_current_thread_take_error();
	const char *message;
	char *reason = NULL;
	size_t length;

	if (!error)
		return NULL;
	if (bt_error_get_cause_count(error)) {
		message = bt_error_cause_get_message(
			bt_error_borrow_cause_by_index(error, 0));
		length = strcspn(message, "\n");
		while (length && strchr(". ", message[length - 1]))
			length--;
		reason = strndup(message, length);
	}
	bt_error_release(error);
	return reason;
}

int ctf_set_folder(struct ctf_files *files, const char *folder)
{
	bt_value *inputs;

	free(files->folder);
	bt_value_put_ref(files->params);
	files->params = NULL;
	files->folder = strdup(folder);
	if (!files->folder)
		return -ENOMEM;
	files->params = bt_value_map_create();
	if (!files->params ||
	    bt_value_map_insert_empty_array_entry(files->params, "inputs",
						  &inputs) ||
	    bt_value_array_append_string_element(inputs, folder)) {
		bt_current_thread_clear_error();
		return -ENOMEM;
	}
	return 0;
}

bool ctf_query(struct ctf_files *files)
{
	bt_query_executor *executor = bt_query_executor_create(
		bt_component_class_source_as_component_class_const(
			files->class),
		"babeltrace.trace-infos", files->params);

	bt_value_put_ref(files->infos);
	files->infos = NULL;
	if (!executor)
		return false;
	if (bt_query_executor_query(executor, &files->infos))
		files->infos = NULL;
	bt_query_executor_put_ref(executor);
	return files->infos;
}

static int find_source(struct ctf_files *files, struct trace *trace)
{
	char *reason;

	if (bt_plugin_find("ctf", BT_TRUE, BT_TRUE, BT_TRUE, BT_TRUE, BT_FALSE,
			   &files->plugin) == BT_PLUGIN_FIND_STATUS_OK)
		files->class =
			bt_plugin_borrow_source_component_class_by_name_const(
				files->plugin, "fs");
	if (files->class)
		return 0;
	reason = ctf_take_reason();
	io_fail(trace->io, -ENOSYS,
		"Babeltrace 2 has no plug-in to read CTF (source.ctf.fs): is it installed in full?%s%s",
		reason ? " " : "", reason ? reason : "");
	free(reason);
	return -ENOSYS;
}

/* ---- metadata ---------------------------------------------------------- */

static int read_start(const char *path, uint8_t *buffer, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd < 0)
		return -errno;
	got = read(fd, buffer, size);
	if (got < 0)
		got = -errno;
	close(fd);
	return got;
}

static bool is_ctf_2(const uint8_t *start, int size)
{
	uint32_t magic;

	if (size > 0 && start[0] == JSON_RECORD_SEPARATOR)
		return true;
	if (size <= METADATA_MAJOR_AT)
		return false;
	memcpy(&magic, start, sizeof(magic));
	return (magic == METADATA_MAGIC ||
		magic == __builtin_bswap32(METADATA_MAGIC)) &&
	       start[METADATA_MAJOR_AT] == 2;
}

static int check_metadata(struct trace *trace)
{
	uint8_t start[METADATA_MAJOR_AT + 1];
	char *path = io_format("%s/metadata", trace->path);
	int size = path ? read_start(path, start, sizeof(start)) : -ENOMEM;

	free(path);
	if (size < 0)
		return io_fail(trace->io, size, "%s/metadata: %s.", trace->path,
			       strerror(-size));
	if (!size)
		return io_fail(trace->io, -EILSEQ,
			"%s: the metadata is empty, so the trace cannot be read; was the session destroyed, and all of it copied?",
			trace->path);
	if (is_ctf_2(start, size))
		return io_fail(trace->io, -EPROTONOSUPPORT,
			"%s: this is a CTF 2 trace, which cannot be read; record with \"lttng create --trace-format=ctf-1.8\" (or start lttng-sessiond with --default-trace-format=ctf-1.8).",
			trace->path);
	return 0;
}

/* ---- ranges ------------------------------------------------------------ */

static uint64_t hash_range(const struct range *range)
{
	const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
	uint64_t hash = (uint64_t)range->begin_ns * odd;

	hash = (hash ^ (hash >> 29) ^ (uint64_t)range->end_ns) * odd;
	return hash ^ (hash >> 32);
}

static bool read_time(const bt_value *map, const char *key, int64_t *time)
{
	const bt_value *value = bt_value_map_borrow_entry_value_const(map, key);

	if (!value || !bt_value_is_signed_integer(value))
		return false;
	*time = bt_value_integer_signed_get(value);
	return true;
}

/* The order of streams does not matter to the hash: it is a sum. */
static void add_range(struct trace *trace, const bt_value *stream)
{
	const bt_value *map =
		bt_value_map_borrow_entry_value_const(stream, "range-ns");
	struct range range, *all = &trace->range;

	if (!map || !read_time(map, "begin", &range.begin_ns) ||
	    !read_time(map, "end", &range.end_ns) ||
	    range.end_ns < range.begin_ns)
		return;
	if (all->end_ns < all->begin_ns)
		*all = range;
	if (range.begin_ns < all->begin_ns)
		all->begin_ns = range.begin_ns;
	if (range.end_ns > all->end_ns)
		all->end_ns = range.end_ns;
	trace->range_hash += hash_range(&range);
}

static void read_ranges(const struct ctf_files *files, struct trace *trace)
{
	trace->range.end_ns = -1;
	for (uint64_t i = 0; i < bt_value_array_get_length(files->infos); i++) {
		const bt_value *streams = bt_value_map_borrow_entry_value_const(
			bt_value_array_borrow_element_by_index_const(
				files->infos, i), "stream-infos");

		for (uint64_t j = 0;
		     streams && j < bt_value_array_get_length(streams); j++)
			add_range(trace,
				bt_value_array_borrow_element_by_index_const(
					streams, j));
	}
}

/* ---- opening ----------------------------------------------------------- */

int ctf_files_open(struct ctf_files *files, struct trace *trace)
{
	int ret = check_metadata(trace);

	if (!ret)
		ret = find_source(files, trace);
	if (ret < 0)
		return ret;
	if (ctf_set_folder(files, trace->path) < 0)
		return io_fail(trace->io, -ENOMEM,
			       "There is not enough memory.");
	if (!ctf_query(files)) {
		ret = ctf_salvage(files, trace);
		if (ret < 0)
			return ret;
	}
	read_ranges(files, trace);
	return 0;
}
