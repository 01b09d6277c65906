// SPDX-License-Identifier: LGPL-2.1-or-later
/* The files of a CTF trace: is it one, and can it be read? */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ctf-files.h"

/* Metadata comes as plain text, or in packets that begin like this. */
#define METADATA_MAGIC UINT32_C(0x75d11d57)

struct metadata_packet {
	uint32_t magic;
	uint8_t uuid[UUID_SIZE];
	uint32_t checksum;
	uint32_t content_bits;
	uint32_t packet_bits;
	uint8_t compression;
	uint8_t encryption;
	uint8_t checksum_scheme;
	uint8_t major;
	uint8_t minor;
} __attribute__((packed));

/* CTF 2 metadata is a sequence of JSON texts, each after this character. */
#define JSON_RECORD_SEPARATOR 0x1e

/* Cut off paths, what follows as ": name=value, ...", and full stops. */
static size_t sentence_length(const char *message)
{
	size_t length = strcspn(message, "\n`'");
	const char *equal;

	/* But "it's" goes on. */
	while (length && message[length] == '\'' &&
	       isalpha((unsigned char)message[length - 1]))
		length += 1 + strcspn(message + length + 1, "\n`'");
	equal = memchr(message, '=', length);

	while (equal && length > (size_t)(equal - message))
		length--;
	while (equal && length && message[length] != ':')
		length--;
	while (length && strchr(".: ", message[length - 1]))
		length--;
	return length;
}

char *ctf_take_reason(void)
{
	const bt_error *error = bt_current_thread_take_error();
	const char *message = "no reason given";
	char *reason;

	if (error && bt_error_get_cause_count(error))
		message = bt_error_cause_get_message(
			bt_error_borrow_cause_by_index(error, 0));
	reason = strndup(message, sentence_length(message));
	if (error)
		bt_error_release(error);
	return reason ? reason : strdup("");
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

bt_graph *ctf_make_graph(const struct ctf_files *files,
			 const bt_component_source **source)
{
	bt_graph *graph = bt_graph_create(0);

	if (graph &&
	    bt_graph_add_source_component(graph, files->class, "trace",
					  files->params, BT_LOGGING_LEVEL_NONE,
					  source)) {
		bt_graph_put_ref(graph);
		graph = NULL;
	}
	return graph;
}

/* Ask source.ctf.fs about something. NULL: it failed, and ctf_take_reason(). */
static const bt_value *query(const struct ctf_files *files, const char *object,
			     const bt_value *params)
{
	bt_query_executor *executor = bt_query_executor_create(
		bt_component_class_source_as_component_class_const(
			files->class), object, params);
	const bt_value *result = NULL;

	if (executor && bt_query_executor_query(executor, &result))
		result = NULL;
	bt_query_executor_put_ref(executor);
	return result;
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
		"Babeltrace 2 has no plug-in to read CTF (source.ctf.fs); is it installed in full? (%s)",
		reason);
	free(reason);
	return -ENOSYS;
}

/* ---- trying a trace ---------------------------------------------------- */

/*
 * What the child has to say: OPENED, or a reason; then its exit status is 0 if
 * it could ask for the ranges, too.
 */
#define OPENED '\1'
#define ANSWER_SIZE 200

static void try_to_open(const struct ctf_files *files, int out)
{
	const struct rlimit no_core = { 0 };
	const bt_component_source *source;
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	const char opened[] = { OPENED, '\0' };
	const char *answer = opened;

	setrlimit(RLIMIT_CORE, &no_core);
	dup2(null, STDERR_FILENO);
	if (!ctf_make_graph(files, &source))
		answer = ctf_take_reason();
	if (write(out, answer, strnlen(answer, ANSWER_SIZE - 1)) < 0 ||
	    *answer != OPENED ||
	    !bt_component_source_get_output_port_count(source) ||
	    !query(files, "babeltrace.trace-infos", files->params))
		_exit(1);
	_exit(0);
}

static char *wait_for(struct ctf_files *files, pid_t child, int in)
{
	char answer[ANSWER_SIZE] = "";
	ssize_t size = read(in, answer, sizeof(answer) - 1);
	int status;

	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return strdup(strerror(errno));
	files->has_ranges = WIFEXITED(status) && !WEXITSTATUS(status);
	if (size <= 0)
		return strdup("Babeltrace 2 gave up on it");
	return *answer == OPENED ? NULL : strdup(answer);
}

char *ctf_try(struct ctf_files *files)
{
	char *reason;
	int ends[2];
	pid_t child;

	if (pipe2(ends, O_CLOEXEC))
		return strdup(strerror(errno));
	child = fork();
	if (!child)
		try_to_open(files, ends[1]);
	close(ends[1]);
	if (child > 0)
		reason = wait_for(files, child, ends[0]);
	else
		reason = strdup(strerror(errno));
	close(ends[0]);
	return reason;
}

/* ---- metadata ---------------------------------------------------------- */

static bool is_packet(uint32_t magic)
{
	return magic == METADATA_MAGIC ||
	       magic == __builtin_bswap32(METADATA_MAGIC);
}

/* 1: it is metadata, or text; 0: it is cut off or damaged; negative. */
static int check_format(const uint8_t *data, uint64_t size)
{
	struct metadata_packet packet;
	bool first = true;

	if (data[0] == JSON_RECORD_SEPARATOR)
		return -EPROTONOSUPPORT;
	/* source.ctf.fs does not come back from packets that are cut off. */
	for (; size; first = false) {
		if (size < sizeof(packet))
			return first;
		memcpy(&packet, data, sizeof(packet));
		if (!is_packet(packet.magic))
			return first;
		if (packet.magic != METADATA_MAGIC) {
			packet.content_bits =
				__builtin_bswap32(packet.content_bits);
			packet.packet_bits =
				__builtin_bswap32(packet.packet_bits);
		}
		if (packet.major == 2)
			return -EPROTONOSUPPORT;
		if (packet.content_bits / 8 < sizeof(packet) ||
		    packet.content_bits > packet.packet_bits ||
		    packet.packet_bits / 8 > size)
			return 0;
		data += packet.packet_bits / 8;
		size -= packet.packet_bits / 8;
	}
	return 1;
}

/* Return: as check_format(); -ENODATA for an empty file. */
static int check_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *data;
	int ret;

	if (fd < 0)
		return -errno;
	ret = fstat(fd, &st) ? -errno : st.st_size ? 0 : -ENODATA;
	if (!ret) {
		data = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (data != MAP_FAILED) {
			ret = check_format(data, st.st_size);
			munmap(data, st.st_size);
		} else {
			ret = -errno;
		}
	}
	close(fd);
	return ret;
}

static int damaged_metadata(struct trace *trace)
{
	return io_fail(trace->io, -EILSEQ,
		"%s: the metadata is damaged, so the trace cannot be read; was all of it copied?",
		trace->path);
}

static int check_start(struct trace *trace)
{
	char *path = io_format("%s/metadata", trace->path);
	int ret = path ? check_file(path) : -ENOMEM;

	free(path);
	switch (ret) {
	case 1:
		return 0;
	case 0:
		return damaged_metadata(trace);
	case -ENODATA:
		return io_fail(trace->io, -EILSEQ,
			"%s: the metadata is empty, so the trace cannot be read; was the session destroyed, and all of it copied?",
			trace->path);
	case -EPROTONOSUPPORT:
		return io_fail(trace->io, ret,
			"%s: this is a CTF 2 trace, which cannot be read; record with \"lttng create --trace-format=ctf-1.8\" (or start lttng-sessiond with --default-trace-format=ctf-1.8).",
			trace->path);
	default:
		return io_fail(trace->io, ret, "%s/metadata: %s.", trace->path,
			       strerror(-ret));
	}
}

/*
 * Babeltrace 2 makes up a clock where there are fields called timestamp, and
 * calls abort() where there is neither.
 */
static bool has_clock(const bt_value *info)
{
	const bt_value *text = bt_value_map_borrow_entry_value_const(info,
								     "text");
	const char *metadata = text ? bt_value_string_get(text) : "";

	return strstr(metadata, "clock") || strstr(metadata, "timestamp");
}

/* Does it follow the grammar, and is there a clock in it? */
static int check_content(const struct ctf_files *files, struct trace *trace)
{
	bt_value *params = bt_value_map_create();
	const bt_value *info = NULL;
	int ret = 0;

	if (params && !bt_value_map_insert_string_entry(params, "path",
							trace->path))
		info = query(files, "metadata-info", params);
	bt_value_put_ref(params);
	bt_current_thread_clear_error();
	if (!info)
		return damaged_metadata(trace);
	if (!has_clock(info))
		ret = io_fail(trace->io, -EILSEQ,
			"%s: this trace has no clock, so nothing can be said of its times.",
			trace->path);
	bt_value_put_ref(info);
	return ret;
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

void ctf_read_ranges(const struct ctf_files *files, struct trace *trace)
{
	const bt_value *infos = NULL;

	trace->range.end_ns = -1;
	if (files->has_ranges)
		infos = query(files, "babeltrace.trace-infos", files->params);
	for (uint64_t i = 0; infos && i < bt_value_array_get_length(infos);
	     i++) {
		const bt_value *streams = bt_value_map_borrow_entry_value_const(
			bt_value_array_borrow_element_by_index_const(infos, i),
			"stream-infos");

		for (uint64_t j = 0;
		     streams && j < bt_value_array_get_length(streams); j++)
			add_range(trace,
				bt_value_array_borrow_element_by_index_const(
					streams, j));
	}
	bt_value_put_ref(infos);
	bt_current_thread_clear_error();
}

/* ---- opening ----------------------------------------------------------- */

int ctf_files_open(struct ctf_files *files, struct trace *trace)
{
	int ret = check_start(trace);

	if (!ret)
		ret = find_source(files, trace);
	if (!ret)
		ret = check_content(files, trace);
	if (!ret && ctf_set_folder(files, trace->path) < 0)
		ret = io_fail(trace->io, -ENOMEM,
			      "There is not enough memory.");
	return ret;
}
