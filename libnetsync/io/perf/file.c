// SPDX-License-Identifier: LGPL-2.1-or-later
/* Read a perf.data file: the attributes of events, the features, and where the records are. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/perf/file.h"
#include "util/array.h"

/* Header size in the pipe format and in the file format (bytes). */
#define PIPE_HEADER_SIZE 16
#define FILE_HEADER_SIZE 104

/* Size of a struct perf_file_section, which contains a section's offset and size (bytes). */
#define SECTION_SIZE 16

struct section {
	uint64_t at;
	uint64_t size;
};

/* PERF_TYPE_TRACEPOINT, and bit numbers of flags of struct perf_event_attr. */
#define TYPE_TRACEPOINT 2
#define FLAG_SAMPLE_ID_ALL 18
#define FLAG_USE_CLOCKID 25

/*
 * Minimum size of a struct perf_event_attr, offset of its member clockid, and maximum size (bytes).
 */
#define ATTR_MIN_SIZE 64
#define ATTR_CLOCK_AT 92
#define ATTR_MAX_SIZE 4096 /* chosen; Linux 6.12 has 136 bytes */

/* Maximum number of attributes in a file. Chosen; Linux has about 3,000 tracepoints. */
#define MAX_ATTRS 8192

/*
 * Maximum size of a host name, including the terminating NUL (bytes). Chosen; the kernel's limit is
 * 65.
 */
#define MAX_HOSTNAME 4096

int perf_set_problem(struct perf_file *file, const char *words)
{
	file->problem = words;
	return -EILSEQ;
}

uint64_t perf_read_number(const struct perf_file *file, const uint8_t *bytes, unsigned int size)
{
	return bytes_to_number(bytes, size, file->big_endian);
}

/* ---- sections ---------------------------------------------------------- */

static struct cursor make_perf_cursor(const struct perf_file *file, uint64_t at, uint64_t size)
{
	return (struct cursor){
		.from = file->from,
		.big_endian = file->big_endian,
		.at = at,
		.end = at + size,
	};
}

static struct section read_perf_section(struct cursor *cursor)
{
	const uint64_t at = cursor_read_number(cursor, 8);

	return (struct section){ at, cursor_read_number(cursor, 8) };
}

/*
 * Open a cursor at the beginning of a section. If the file ends before the section, return false.
 */
static bool open_perf_section(const struct perf_file *file, struct cursor *cursor,
			      const struct section *section)
{
	if (section->at > file->size || section->size > file->size - section->at)
		return false;
	*cursor = make_perf_cursor(file, section->at, section->size);
	return true;
}

static uint64_t max_uint64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* ---- attributes -------------------------------------------------------- */

static bool has_attr_flag(const struct perf_file *file, uint64_t flags, unsigned int number)
{
	/*
	 * Depending on the byte order, compilers put the first bit-field into the lowest or the
	 * highest bit.
	 */
	return flags >> (file->big_endian ? 63 - number : number) & 1;
}

/*
 * Read a struct perf_event_attr. Advance the cursor to its end. Return NULL if the input is invalid
 * or out of memory.
 */
static struct perf_attr *add_perf_attr(struct perf_file *file, struct cursor *cursor)
{
	const uint64_t begin = cursor->at;
	struct perf_attr *attr;
	uint64_t flags;
	uint32_t size;

	if (file->num_attrs >= MAX_ATTRS)
		cursor->bad = true;
	if (cursor->bad ||
	    array_grow(&file->attrs, &file->attr_room, file->num_attrs, sizeof(*file->attrs)))
		return NULL;
	attr = &file->attrs[file->num_attrs];
	attr->copy = 0;
	attr->is_tracepoint = cursor_read_number(cursor, 4) == TYPE_TRACEPOINT;
	size = cursor_read_number(cursor, 4);
	attr->config = cursor_read_number(cursor, 8);
	cursor_skip(cursor, 8); /* the period */
	attr->sample_type = cursor_read_number(cursor, 8);
	attr->read_format = cursor_read_number(cursor, 8);
	flags = cursor_read_number(cursor, 8);
	attr->has_trailer = has_attr_flag(file, flags, FLAG_SAMPLE_ID_ALL);
	attr->clock = PERF_OWN_CLOCK;
	if (size < ATTR_MIN_SIZE || size > ATTR_MAX_SIZE || size > cursor->end - begin)
		cursor->bad = true;
	if (has_attr_flag(file, flags, FLAG_USE_CLOCKID) && size >= ATTR_CLOCK_AT + 4) {
		cursor->at = begin + ATTR_CLOCK_AT;
		attr->clock = (int32_t)cursor_read_number(cursor, 4);
	}
	if (cursor->bad)
		return NULL;
	cursor->at = begin + size;
	file->num_attrs++;
	return attr;
}

/*
 * Read the ids of the last attribute. Return 0 or -ENOMEM. If the input is invalid, cursor->bad is
 * set.
 */
static int add_attr_ids(struct perf_file *file, struct cursor *cursor)
{
	while (!cursor->bad && cursor->end - cursor->at >= 8) {
		if (array_grow(&file->ids, &file->id_room, file->num_ids, sizeof(*file->ids)))
			return -ENOMEM;
		file->ids[file->num_ids++] = (struct perf_id){
			cursor_read_number(cursor, 8),
			file->num_attrs - 1,
		};
	}
	return 0;
}

int perf_read_attr(struct perf_file *file, struct cursor *cursor)
{
	int ret = 0;

	if (!add_perf_attr(file, cursor) && !cursor->bad)
		return -ENOMEM;
	if (!cursor->bad)
		ret = add_attr_ids(file, cursor);
	if (!ret && cursor->bad)
		ret = perf_set_problem(file, "its event attributes are damaged");
	return ret;
}

/* Read a struct perf_file_attr: an attribute, and the position of its ids. */
static int read_file_attr(struct perf_file *file, uint64_t at, uint64_t size)
{
	struct cursor cursor = make_perf_cursor(file, at, size - SECTION_SIZE), ids;
	struct section section;
	int ret;

	if (!add_perf_attr(file, &cursor))
		return cursor.bad ? perf_set_problem(file, PERF_CUT_SHORT) : -ENOMEM;
	cursor = make_perf_cursor(file, at + size - SECTION_SIZE, SECTION_SIZE);
	section = read_perf_section(&cursor);
	if (cursor.bad || !open_perf_section(file, &ids, &section))
		return perf_set_problem(file, PERF_CUT_SHORT);
	/* Without this check, a small file could refer to the same ids any number of times. */
	if (file->num_ids + section.size / 8 > file->size / 8)
		return perf_set_problem(file, "several events have the same ids");
	file->attrs_end = max_uint64(file->attrs_end, ids.end);
	ret = add_attr_ids(file, &ids);
	return ret ? ret : ids.bad ? perf_set_problem(file, PERF_CUT_SHORT) : 0;
}

static int read_file_attrs(struct perf_file *file, const struct section *attrs, uint64_t size)
{
	int ret = 0;

	if (size < ATTR_MIN_SIZE + SECTION_SIZE || size > ATTR_MAX_SIZE || attrs->at > file->size ||
	    attrs->size > file->size - attrs->at)
		return perf_set_problem(file, PERF_CUT_SHORT);
	file->attrs_end = max_uint64(file->attrs_end, attrs->at + attrs->size);
	for (uint64_t at = 0; attrs->size - at >= size && !ret; at += size)
		ret = read_file_attr(file, attrs->at + at, size);
	return ret;
}

static int compare_perf_ids(const void *a, const void *b)
{
	const struct perf_id *p = a, *q = b;

	return p->id < q->id ? -1 : p->id > q->id;
}

void perf_index_attrs(struct perf_file *file)
{
	for (size_t i = 0; i < file->num_attrs; i++)
		for (size_t j = 0; j < i; j++)
			file->attrs[i].copy += file->attrs[i].is_tracepoint &&
					       file->attrs[j].is_tracepoint &&
					       file->attrs[i].config == file->attrs[j].config;
	if (file->num_ids)
		qsort(file->ids, file->num_ids, sizeof(*file->ids), compare_perf_ids);
}

const struct perf_attr *perf_find_attr(const struct perf_file *file, uint64_t id)
{
	const struct perf_id key = { .id = id };
	const struct perf_id *found = file->num_ids ? bsearch(&key, file->ids, file->num_ids,
							      sizeof(key), compare_perf_ids) :
						      NULL;

	return found ? &file->attrs[found->attr] : NULL;
}

/* ---- features ---------------------------------------------------------- */

static int read_hostname(struct perf_file *file, struct cursor *cursor)
{
	const uint32_t size = cursor_read_number(cursor, 4);

	if (size > MAX_HOSTNAME)
		return perf_set_problem(file, "its host name is damaged");
	free(file->hostname);
	file->hostname = cursor_read_text(cursor, size);
	if (!file->hostname)
		return cursor->bad ? perf_set_problem(file, PERF_CUT_SHORT) : -ENOMEM;
	return 0;
}

static int read_clock_data(struct perf_file *file, struct cursor *cursor)
{
	cursor_skip(cursor, 4); /* version, 1 */
	file->wall_clock = (int32_t)cursor_read_number(cursor, 4);
	file->wall_ns = cursor_read_number(cursor, 8);
	file->clock_ns_at = cursor->at;
	file->clock_ns = cursor_read_number(cursor, 8);
	file->has_wall = !cursor->bad && file->wall_ns && file->wall_ns <= INT64_MAX &&
			 file->clock_ns <= INT64_MAX;
	return 0;
}

int perf_read_feature(struct perf_file *file, struct cursor *cursor, unsigned int feature)
{
	uint64_t begin;

	switch (feature) {
	case PERF_HEADER_TRACING_DATA:
		file->formats_at = cursor->at;
		file->formats_size = cursor->end - cursor->at;
		return 0;
	case PERF_HEADER_HOSTNAME:
		return read_hostname(file, cursor);
	case PERF_HEADER_SAMPLE_TIME:
		/* If perf did not examine the events, this time is 0. */
		begin = cursor->at;
		cursor_skip(cursor, 8);
		file->span_at = cursor_read_number(cursor, 8) ? begin : 0;
		return 0;
	case PERF_HEADER_DIR_FORMAT:
		file->has_folder = true;
		return 0;
	case PERF_HEADER_CLOCK_DATA:
		return read_clock_data(file, cursor);
	default:
		return 0;
	}
}

/*
 * Read the features. A table after the records has their positions in the order of their numbers.
 */
static int read_perf_features(struct perf_file *file, const uint8_t *bits)
{
	struct cursor places = make_perf_cursor(file, file->data_end, file->size - file->data_end);
	int ret = 0;

	for (unsigned int i = 0; i < PERF_HEADER_BITS && !ret; i++) {
		struct section section;
		struct cursor cursor;

		/*
		 * The bits are stored in 64-bit words. On a big-endian machine, the last byte of a
		 * word comes first.
		 */
		if (!(bits[file->big_endian ? (i / 8) ^ 7 : i / 8] >> i % 8 & 1))
			continue;
		section = read_perf_section(&places);
		if (places.bad || !open_perf_section(file, &cursor, &section))
			return perf_set_problem(file, PERF_CUT_SHORT);
		ret = perf_read_feature(file, &cursor, i);
		file->num_features++;
	}
	return ret;
}

/* ---- event formats ----------------------------------------------------- */

/*
 * Skip the header and the formats of ftrace's own events. The beginning of a trace.dat file has
 * them, too.
 */
static void skip_to_systems(struct cursor *cursor)
{
	char version[8];

	cursor_skip(cursor, 3 + sizeof("tracing") - 1);
	cursor_read_word(cursor, version, sizeof(version));
	cursor->big_endian = cursor_read_number(cursor, 1);
	cursor_skip(cursor, 1 + 4); /* sizes of a long, and of a page */
	cursor_skip(cursor, sizeof("header_page"));
	cursor_skip(cursor, cursor_read_number(cursor, 8));
	cursor_skip(cursor, sizeof("header_event"));
	cursor_skip(cursor, cursor_read_number(cursor, 8));
	tracefs_skip_formats(cursor);
}

int perf_read_formats(struct perf_file *file, tracefs_use_format use, void *data)
{
	struct cursor cursor = make_perf_cursor(file, file->formats_at, file->formats_size);
	int ret;

	if (!file->formats_at)
		return 0;
	skip_to_systems(&cursor);
	ret = tracefs_read_systems(&cursor, use, data);
	return ret	  ? ret :
	       cursor.bad ? perf_set_problem(file, "its event descriptions are damaged") :
			    0;
}

/* ---- the header -------------------------------------------------------- */

/* Read the header of the file format: positions of attributes, records and features. */
static int read_file_header(struct perf_file *file, struct cursor *cursor)
{
	const uint64_t attr_size = cursor_read_number(cursor, 8);
	const struct section attrs = read_perf_section(cursor), data = read_perf_section(cursor);
	uint8_t bits[PERF_HEADER_BITS / 8];
	int ret;

	cursor_skip(cursor, SECTION_SIZE); /* event types, used by old files */
	cursor_read_bytes(cursor, bits, sizeof(bits));
	if (cursor->bad || data.at > file->size)
		return perf_set_problem(file, PERF_CUT_SHORT);
	file->data_at = data.at;
	/* perf writes the size and all features only when the recording ends. */
	file->was_cut = !data.size || data.size > file->size - data.at;
	file->data_end = file->was_cut ? file->size : data.at + data.size;
	ret = read_file_attrs(file, &attrs, attr_size);
	if (!ret && !file->was_cut)
		ret = read_perf_features(file, bits);
	return ret;
}

static int read_perf_header(struct perf_file *file)
{
	struct cursor cursor = make_perf_cursor(file, 0, file->size);
	char magic[PERF_MAGIC_SIZE];
	uint64_t size;

	cursor_read_bytes(&cursor, magic, sizeof(magic));
	file->big_endian = cursor.big_endian = !memcmp(magic, PERF_MAGIC_SWAPPED, sizeof(magic));
	size = cursor_read_number(&cursor, 8);
	if (cursor.bad)
		return perf_set_problem(file, PERF_CUT_SHORT);
	if (size == PIPE_HEADER_SIZE) {
		file->is_pipe = true;
		file->data_at = size;
		file->data_end = file->size;
		return 0;
	}
	if (size < FILE_HEADER_SIZE) {
		file->problem = "it was written by an unknown version of perf";
		return -EPROTONOSUPPORT;
	}
	return read_file_header(file, &cursor);
}

int perf_open(struct perf_file *file, struct netsync_io *io, const char *path)
{
	int ret;

	*file = (struct perf_file){ 0 };
	ret = io_open_plain(io, path, &file->from);
	if (ret)
		return ret;
	file->size = (uint64_t)file->from->st.st_size;
	return read_perf_header(file);
}

int perf_fail(const struct perf_file *file, struct netsync_io *io, const char *path, int err)
{
	return io_fail_contents(io, path, file->from, "perf.data", file->problem, err);
}

void perf_close(struct perf_file *file)
{
	disk_close(file->from);
	free(file->attrs);
	free(file->ids);
	free(file->hostname);
}
