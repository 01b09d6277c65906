// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Check whether the CTF trace in a directory can be read, and set limits for workers that read it.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/ctf/ctf2/ctf2.h"
#include "io/ctf/files.h"
#include "util/hash.h"

/* First word of metadata packets. Metadata may also be plain text (CTF 1.8, 7.1). */
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

/* Limits of a worker that reads a trace. All are chosen. */
#define MEMORY (UINT64_C(256) << 20) /* memory in addition to that for the trace, bytes */
#define METADATA_GROWTH 256	     /* bytes of memory per byte of metadata */
#define SECONDS 3		     /* maximum processor time between signs of progress */
#define BYTES_PER_SECOND (16 << 20)  /* bytes of the trace that allow one more second */

/* Result of check_metadata_format() for CTF 2 metadata, which is text. */
#define TEXT_OF_CTF_2 2

/*
 * Return the length of a message without paths, without ": name=value, ..." at its end, and without
 * full stops.
 */
static size_t find_sentence_length(const char *message)
{
	size_t length = strcspn(message, "\n`'");
	const char *equal;

	/* An apostrophe in a word, as in "it's", does not begin a path. */
	while (length && message[length] == '\'' && isalpha((unsigned char)message[length - 1]))
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

char *ctf_take_error_reason(void)
{
	const bt_error *error = bt_current_thread_take_error();
	const char *message = "no reason given";
	char *reason;

	if (error && bt_error_get_cause_count(error))
		message = bt_error_cause_get_message(bt_error_borrow_cause_by_index(error, 0));
	reason = strndup(message, find_sentence_length(message));
	if (error)
		bt_error_release(error);
	return reason ? reason : strdup("");
}

const char *ctf_explain_end(int status)
{
	if (status == -ETIMEDOUT)
		return WORKER_WAS_STUCK;
	if (status < 0)
		return strerror(-status);
	if (WIFEXITED(status) && WEXITSTATUS(status) == WORKER_NO_MEMORY)
		return "Babeltrace 2 gave up because it exceeded its memory limit";
	if (worker_was_killed(status))
		return WORKER_WAS_KILLED;
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF ? "Babeltrace 2 ran too long" :
								    "Babeltrace 2 gave up";
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
	    bt_value_map_insert_empty_array_entry(files->params, "inputs", &inputs) ||
	    bt_value_array_append_string_element(inputs, folder)) {
		bt_current_thread_clear_error();
		return -ENOMEM;
	}
	return 0;
}

bt_graph *ctf_make_graph(const struct ctf_files *files, const bt_component_source **source)
{
	bt_graph *graph = bt_graph_create(MAX_MIP);

	if (graph && bt_graph_add_source_component(graph, files->class, "trace", files->params,
						   BT_LOGGING_LEVEL_NONE, source)) {
		bt_graph_put_ref(graph);
		graph = NULL;
	}
	return graph;
}

const bt_value *ctf_query(const struct ctf_files *files, const char *object, const bt_value *params)
{
	bt_query_executor *executor = bt_query_executor_create(
		bt_component_class_source_as_component_class_const(files->class), object, params);
	const bt_value *result = NULL;

	if (executor && bt_query_executor_query(executor, &result))
		result = NULL;
	bt_query_executor_put_ref(executor);
	return result;
}

const bt_value *ctf_read_metadata(const struct ctf_files *files, const char **text)
{
	bt_value *params = bt_value_map_create();
	const bt_value *info = NULL, *value = NULL;

	if (params && !bt_value_map_insert_string_entry(params, "path", files->folder))
		info = ctf_query(files, "metadata-info", params);
	bt_value_put_ref(params);
	if (info)
		value = bt_value_map_borrow_entry_value_const(info, "text");
	if (value) {
		*text = bt_value_string_get(value);
		return info;
	}
	bt_value_put_ref(info);
	return NULL;
}

static int find_fs_source_class(struct ctf_files *files, struct trace *trace)
{
	char *reason;

	if (bt_plugin_find("ctf", BT_TRUE, BT_TRUE, BT_TRUE, BT_TRUE, BT_FALSE, &files->plugin) ==
	    BT_PLUGIN_FIND_STATUS_OK)
		files->class = bt_plugin_borrow_source_component_class_by_name_const(files->plugin,
										     "fs");
	if (files->class)
		return 0;
	reason = ctf_take_error_reason();
	io_fail(trace->io, -ENOSYS,
		"Babeltrace 2 lacks its plug-in to read CTF (source.ctf.fs); check that it is installed completely (%s).",
		reason);
	free(reason);
	return -ENOSYS;
}

/* ---- metadata ---------------------------------------------------------- */

static bool is_metadata_packet(uint32_t magic)
{
	return magic == METADATA_MAGIC || magic == __builtin_bswap32(METADATA_MAGIC);
}

/*
 * Check the format of metadata. Return 1 for packetized or plain TSDL text, TEXT_OF_CTF_2, or 0 if
 * the file is truncated or damaged. For an unknown version, return a negative value.
 */
static int check_metadata_format(const uint8_t *data, uint64_t size)
{
	struct metadata_packet packet;
	bool first = true;

	if (data[0] == CTF2_BEGIN)
		return TEXT_OF_CTF_2;
	/* For truncated metadata packets, source.ctf.fs would never return. */
	for (; size; first = false) {
		if (size < sizeof(packet))
			return first;
		memcpy(&packet, data, sizeof(packet));
		if (!is_metadata_packet(packet.magic))
			return first;
		if (packet.magic != METADATA_MAGIC) {
			packet.content_bits = __builtin_bswap32(packet.content_bits);
			packet.packet_bits = __builtin_bswap32(packet.packet_bits);
		}
		if (packet.major == 2 && !MAX_MIP)
			return -EPROTONOSUPPORT;
		if (packet.content_bits / 8 < sizeof(packet) ||
		    packet.content_bits > packet.packet_bits || packet.packet_bits / 8 > size)
			return 0;
		data += packet.packet_bits / 8;
		size -= packet.packet_bits / 8;
	}
	return 1;
}

/*
 * Check a metadata file. Return the same values as check_metadata_format(), or -ENODATA if the file
 * is empty.
 */
static int check_metadata_file(const char *path)
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
			ret = check_metadata_format(data, st.st_size);
			munmap(data, st.st_size);
		} else {
			ret = -errno;
		}
	}
	close(fd);
	return ret;
}

int ctf_fail_damaged_metadata(struct trace *trace)
{
	return io_fail(
		trace->io, -EILSEQ,
		"%s: the metadata is damaged, so the trace cannot be read; check that it was copied completely.",
		trace->path);
}

/*
 * Refuse symbolic links. Babeltrace 2 reads their targets as streams, and metadata that describes
 * a stream of bytes would reveal any file that the user may read.
 */
static int check_folder_links(struct trace *trace, const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	struct stat st;
	int ret = 0;

	while (!ret && dir && (entry = readdir(dir)))
		if (!fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
		    S_ISLNK(st.st_mode))
			ret = io_fail(
				trace->io, -ELOOP,
				"%s: %s/%s is a symbolic link, and symbolic links in a trace are not followed; if the target belongs to the trace, replace the link by a copy of the target.",
				trace->path, folder, entry->d_name);
	if (dir)
		closedir(dir);
	return ret;
}

static int check_all_links(struct trace *trace)
{
	char *index = io_format("%s/index", trace->path);
	int ret = index ? check_folder_links(trace, trace->path) : io_fail_no_memory(trace->io);

	if (!ret)
		ret = check_folder_links(trace, index);
	free(index);
	return ret;
}

/*
 * Check the format of the metadata. Return 1 if the metadata must be translated. Otherwise, return
 * the same values as ctf_files_open().
 */
static int check_metadata_kind(const struct ctf_files *files)
{
	struct trace *trace = files->trace;
	int ret = check_metadata_file(files->metadata);

	switch (ret) {
	case 1:
		return 0;
	case TEXT_OF_CTF_2:
		return !MAX_MIP;
	case 0:
		return ctf_fail_damaged_metadata(trace);
	case -ENODATA:
		return io_fail(
			trace->io, -EILSEQ,
			"%s: the metadata is empty, so the trace cannot be read; check that the session was destroyed, and that the trace was copied completely.",
			trace->path);
	case -EPROTONOSUPPORT:
		return ctf_fail_too_new(trace, "packetized metadata");
	default:
		return io_fail(trace->io, ret, "%s/metadata: %s.", trace->path, strerror(-ret));
	}
}

/* ---- ranges ------------------------------------------------------------ */

static uint64_t hash_range(const struct range *range)
{
	uint64_t hash = (uint64_t)range->lo * HASH_MULTIPLIER;

	hash = (hash ^ (hash >> 29) ^ (uint64_t)range->hi) * HASH_MULTIPLIER;
	return hash ^ (hash >> 32);
}

static bool read_time_entry(const bt_value *map, const char *key, int64_t *time)
{
	const bt_value *value = bt_value_map_borrow_entry_value_const(map, key);

	if (!value || !bt_value_is_signed_integer(value))
		return false;
	*time = bt_value_integer_signed_get(value);
	return true;
}

/* Add the range of a stream. The hash is a sum, so that the order of streams has no effect. */
static void add_stream_range(struct trace *trace, const bt_value *stream)
{
	const bt_value *map = bt_value_map_borrow_entry_value_const(stream, "range-ns");
	struct range range;

	if (!map || !read_time_entry(map, "begin", &range.lo) ||
	    !read_time_entry(map, "end", &range.hi) || range.hi < range.lo)
		return;
	range_extend(&trace->range, range.lo, range.hi);
	trace->range_hash += hash_range(&range);
}

void ctf_read_ranges(const struct ctf_files *files)
{
	struct trace *trace = files->trace;
	const bt_value *infos = NULL;

	trace->range.hi = -1;
	if (files->has_ranges)
		infos = ctf_query(files, "babeltrace.trace-infos", files->params);
	for (uint64_t i = 0; infos && i < bt_value_array_get_length(infos); i++) {
		const bt_value *streams = bt_value_map_borrow_entry_value_const(
			bt_value_array_borrow_element_by_index_const(infos, i), "stream-infos");

		for (uint64_t j = 0; streams && j < bt_value_array_get_length(streams); j++)
			add_stream_range(trace,
					 bt_value_array_borrow_element_by_index_const(streams, j));
	}
	bt_value_put_ref(infos);
	bt_current_thread_clear_error();
}

/* ---- opening ----------------------------------------------------------- */

/*
 * Set limits in proportion to the trace's size on disk. Time is limited because libbabeltrace2 2.1
 * loops forever at a packet of size 0.
 */
static int set_ctf_worker_limits(struct ctf_files *files)
{
	const char *path = files->trace->path;
	DIR *folder = opendir(path);
	uint64_t bytes = 0;
	struct dirent *entry;
	struct stat st;

	if (!folder)
		return io_fail(files->trace->io, -errno, "%s: %s.", path, strerror(errno));
	while ((entry = readdir(folder)))
		if (!fstatat(dirfd(folder), entry->d_name, &st, 0) && S_ISREG(st.st_mode))
			bytes += st.st_blocks * UINT64_C(512) *
				 (strcmp(entry->d_name, "metadata") ? 1 : METADATA_GROWTH);
	closedir(folder);
	files->limits = (struct worker_limits){
		.timer = ITIMER_PROF,
		.seconds = SECONDS + bytes / BYTES_PER_SECOND,
		.memory = MEMORY + bytes,
	};
	return 0;
}

int ctf_files_open(struct ctf_files *files, struct trace *trace)
{
	int ret = check_all_links(trace);

	files->trace = trace;
	files->metadata = io_format("%s/metadata", trace->real_path);
	if (!ret && (!files->metadata || ctf_set_folder(files, trace->path) < 0))
		ret = io_fail_no_memory(trace->io);
	if (!ret)
		ret = set_ctf_worker_limits(files);
	if (!ret)
		ret = find_fs_source_class(files, trace);
	if (!ret)
		ret = check_metadata_kind(files);
	if (ret > 0)
		ret = ctf_translate_trace(files);
	return ret ? ret : ctf_check_metadata(files);
}

void ctf_files_close(struct ctf_files *files)
{
	bt_value_put_ref(files->params);
	bt_plugin_put_ref(files->plugin);
	ctf_scratch_remove(files);
	free(files->metadata);
	free(files->folder);
}
