// SPDX-License-Identifier: LGPL-2.1-or-later
/* Read the sections, event formats and buffers of a trace.dat file (trace-cmd.dat(5)). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "io/io.h"
#include "io/tracedat/page.h"
#include "io/tracedat/section.h"

/*
 * Maximum size of all decompressed sections of a file (bytes). Chosen; the formats of all kernel
 * events take 4 MiB.
 */
#define MAX_SECTIONS (64 << 20)
/*
 * Maximum growth of processors' data by decompression, as a multiple of the file's size. FREE_DATA
 * is always allowed. Chosen; recordings grow by a factor of 4 to 20, and nearly empty pages by a
 * factor of 60.
 */
#define MAX_GROWTH 100
#define FREE_DATA ((uint64_t)64 << 20)

int dat_set_problem(struct dat_file *file, const char *words)
{
	file->problem = words;
	return -EILSEQ;
}

uint64_t dat_read_number(const struct dat_file *file, const uint8_t *bytes, unsigned int size)
{
	return bytes_to_number(bytes, size, file->big_endian);
}

uint8_t *dat_put_number(const struct dat_file *file, uint8_t *bytes, uint64_t number,
			unsigned int size)
{
	return number_to_bytes(bytes, number, size, file->big_endian);
}

/* Return a cursor at an offset of the file. In version 7, each section has an end of its own. */
static struct cursor make_dat_cursor(const struct dat_file *file, uint64_t at)
{
	return (struct cursor){
		.from = file->from,
		.big_endian = file->big_endian,
		.at = at,
		.end = file->size,
	};
}

/* ---- sections ---------------------------------------------------------- */

bool dat_decompress(const struct dat_file *file, void *to, size_t to_size, const void *from,
		    size_t from_size)
{
	uLongf size = to_size;

	if (file->compression == DAT_ZSTD)
		return ZSTD_decompress(to, to_size, from, from_size) == to_size;
	return file->compression == DAT_ZLIB && uncompress(to, &size, from, from_size) == Z_OK &&
	       size == to_size;
}

static int decompress_section(struct dat_file *file, struct cursor *cursor)
{
	size_t from_size = cursor_read_number(cursor, 4), to_size = cursor_read_number(cursor, 4);
	void *from;
	int ret = 0;

	if (cursor->bad || from_size > cursor->end - cursor->at)
		return dat_set_problem(file, CUT_SHORT);
	if (from_size > MAX_SECTIONS || to_size > MAX_SECTIONS - file->sections_size)
		return dat_set_problem(
			file,
			"its sections decompress to more than 64 MiB, which is more than any recording needs; record again, or omit the file");
	file->sections_size += to_size;
	from = malloc(from_size + 1);
	cursor->memory = malloc(to_size + 1);
	if (!from || !cursor->memory) {
		free(from);
		return -ENOMEM;
	}
	if (read_bytes_at(file->from, from, from_size, cursor->at) < from_size ||
	    !dat_decompress(file, cursor->memory, to_size, from, from_size))
		ret = dat_set_problem(file, "a section cannot be decompressed");
	free(from);
	cursor->at = 0;
	cursor->end = to_size;
	return ret;
}

/*
 * Begin a section of version 7. Decompress it if necessary. The caller frees cursor->memory later.
 */
static int open_dat_section(struct dat_file *file, struct cursor *cursor, uint64_t at,
			    unsigned int id)
{
	uint8_t description[sizeof(file->description)];
	unsigned int found, flags;
	uint64_t size;

	*cursor = make_dat_cursor(file, at);
	if (at > file->size)
		return dat_set_problem(file, CUT_SHORT);
	found = cursor_read_number(cursor, 2);
	flags = cursor_read_number(cursor, 2);
	cursor_read_bytes(cursor, description, sizeof(description));
	size = cursor_read_number(cursor, 8);
	if (cursor->bad || size > file->size - cursor->at)
		return dat_set_problem(file, CUT_SHORT);
	if (found != id)
		return dat_set_problem(file, "a section has an unexpected type");
	if (id == OPTION_DONE)
		memcpy(file->description, description, sizeof(description));
	cursor->end = cursor->at + size;
	return flags & SECTION_COMPRESSED ? decompress_section(file, cursor) : 0;
}

/* ---- the header -------------------------------------------------------- */

/* Read the layout of ring buffer pages. The layout contains the size of a long in the kernel. */
static int read_header_info(struct dat_file *file, struct cursor *cursor)
{
	const char *commit;
	unsigned int size = 8;
	char *text;

	cursor_skip(cursor, sizeof("header_page"));
	text = cursor_read_text(cursor, cursor_read_number(cursor, 8));
	if (!text)
		return cursor->bad ? dat_set_problem(file, CUT_SHORT) : -ENOMEM;
	commit = strstr(text, " commit;");
	if (commit)
		sscanf(commit, " commit; offset:%*u; size:%u;", &size);
	free(text);
	if (size != 4 && size != 8)
		return dat_set_problem(file, "the layout of its pages is unknown");
	file->long_size = size;
	cursor_skip(cursor, sizeof("header_event"));
	cursor_skip(cursor, cursor_read_number(cursor, 8));
	return cursor->bad ? dat_set_problem(file, CUT_SHORT) : 0;
}

static void skip_systems(struct cursor *cursor)
{
	uint32_t num = cursor_read_number(cursor, 4);
	char system[256];

	while (num-- && !cursor->bad) {
		cursor_read_word(cursor, system, sizeof(system));
		tracefs_skip_formats(cursor);
	}
}

static int read_flyrecord(struct dat_file *file, struct cursor *cursor, struct dat_buffer *buffer,
			  uint32_t num_cpus)
{
	char word[10];
	int ret;

	cursor_read_bytes(cursor, word, sizeof(word));
	if (!cursor->bad && memcmp(word, "flyrecord", sizeof(word)))
		return dat_set_problem(file, "it contains text instead of events");
	ret = dat_read_cpus(file, cursor, buffer, num_cpus);
	return ret == -EILSEQ ? dat_set_problem(file, CUT_SHORT) : ret;
}

/* Read a file of version 6. The parts of the file have a fixed order, up to the events. */
static int read_version_6(struct dat_file *file, struct cursor *cursor)
{
	struct dat_buffer *buffer;
	uint64_t none;
	uint32_t num_cpus;
	char word[10];
	int ret;

	ret = read_header_info(file, cursor);
	if (ret < 0)
		return ret;
	tracefs_skip_formats(cursor);
	file->formats_at = cursor->at;
	skip_systems(cursor);
	cursor_skip(cursor, cursor_read_number(cursor, 4)); /* symbols */
	cursor_skip(cursor, cursor_read_number(cursor, 4)); /* printk() formats */
	cursor_skip(cursor, cursor_read_number(cursor, 8)); /* task names */
	num_cpus = cursor_read_number(cursor, 4);
	cursor_read_bytes(cursor, word, sizeof(word));
	file->no_options = memcmp(word, "options  ", sizeof(word));
	if (!file->no_options)
		ret = dat_read_options(file, cursor, &none, &none);
	else if (!cursor->bad)
		file->options_end = cursor->at -= sizeof(word);
	if (ret < 0)
		return ret;
	if (file->cpu_count)
		num_cpus = file->cpu_count;
	for (size_t i = 0; i < file->num_buffers && !ret; i++) {
		struct cursor there = make_dat_cursor(file, file->buffers[i].cpus->at);

		free(file->buffers[i].cpus);
		file->buffers[i].cpus = NULL;
		there.bad = there.at > there.end;
		ret = read_flyrecord(file, &there, &file->buffers[i], num_cpus);
	}
	buffer = ret ? NULL : dat_add_buffer(file);
	if (!ret && (!buffer || !(buffer->name = strdup(""))))
		ret = -ENOMEM;
	return ret ? ret : read_flyrecord(file, cursor, buffer, num_cpus);
}

/*
 * Read a file of version 7. The sections of the file may be in any order. Option sections contain
 * the offsets of all other sections. Each section comes after the options that contain its offset.
 */
static int read_version_7(struct dat_file *file, struct cursor *cursor)
{
	uint64_t at = cursor_read_number(cursor, 8), header_info = 0;
	struct cursor section;
	int ret = 0;

	while (at && !ret) {
		uint64_t next = 0;

		ret = open_dat_section(file, &section, at, OPTION_DONE);
		if (!ret)
			ret = dat_read_options(file, &section, &header_info, &next);
		free(section.memory);
		if (!ret && next && next <= at)
			ret = dat_set_problem(file, "its list of options does not end");
		at = next;
	}
	if (ret < 0)
		return ret;
	if (!header_info)
		return dat_set_problem(file, "the description of its page layout is missing");
	ret = open_dat_section(file, &section, header_info, OPTION_HEADER_INFO);
	if (!ret)
		ret = read_header_info(file, &section);
	free(section.memory);
	return ret;
}

static int read_compression(struct dat_file *file, struct cursor *cursor)
{
	char name[32], version[32];

	cursor_read_word(cursor, name, sizeof(name));
	cursor_read_word(cursor, version, sizeof(version));
	if (cursor->bad)
		return dat_set_problem(file, CUT_SHORT);
	if (!strcmp(name, "zstd"))
		file->compression = DAT_ZSTD;
	else if (!strcmp(name, "zlib"))
		file->compression = DAT_ZLIB;
	else if (strcmp(name, "none")) {
		file->problem = "its compression is neither zlib nor zstd";
		return -EPROTONOSUPPORT;
	}
	return 0;
}

static int read_dat_header(struct dat_file *file)
{
	struct cursor cursor = make_dat_cursor(file, 0);
	char version[8];
	int ret = 0;

	cursor_skip(&cursor, DAT_MAGIC_SIZE);
	cursor_read_word(&cursor, version, sizeof(version));
	file->version = strtoul(version, NULL, 10);
	file->big_endian = cursor.big_endian = cursor_read_number(&cursor, 1);
	cursor_skip(&cursor, 1); /* trace-cmd's own size of a long */
	file->page_size = cursor_read_number(&cursor, 4);
	if (cursor.bad)
		return dat_set_problem(file, CUT_SHORT);
	if (file->version != 6 && file->version != 7) {
		file->problem = "its format version is neither 6 nor 7";
		return -EPROTONOSUPPORT;
	}
	if (file->version == 6)
		return read_version_6(file, &cursor);
	ret = read_compression(file, &cursor);
	return ret ? ret : read_version_7(file, &cursor);
}

bool dat_has_data(const struct dat_buffer *buffer)
{
	for (uint32_t i = 0; i < buffer->num_cpus; i++)
		if (buffer->cpus[i].size)
			return true;
	return false;
}

static bool is_page_size(uint32_t size)
{
	return size >= 512 && size <= DAT_MAX_PAGE && !(size & (size - 1));
}

/*
 * Check that the data of different processors do not overlap, as far as the file contains the data.
 * Otherwise, a small file could have the same data read any number of times.
 */
static bool is_cpu_data_disjoint(const struct dat_file *file)
{
	uint64_t left = file->size;

	for (size_t i = 0; i < file->num_buffers; i++)
		for (uint32_t j = 0; j < file->buffers[i].num_cpus; j++) {
			const struct dat_cpu *cpu = &file->buffers[i].cpus[j];
			uint64_t size = cpu->size;

			if (cpu->at >= file->size)
				continue;
			if (size > file->size - cpu->at)
				size = file->size - cpu->at;
			if (size > left)
				return false;
			left -= size;
		}
	return true;
}

/* Return whether the compressed data grow by no more than the data of a recording can. */
static bool is_unpacked_size_bounded(const struct dat_file *file)
{
	uint64_t left = file->size < UINT64_MAX / 2 / MAX_GROWTH ? file->size * MAX_GROWTH :
								   UINT64_MAX / 2;

	left += FREE_DATA;
	for (size_t i = 0; i < file->num_buffers; i++)
		for (uint32_t j = 0; j < file->buffers[i].num_cpus; j++) {
			const uint64_t size = dat_compute_unpacked_size(file, &file->buffers[i],
									&file->buffers[i].cpus[j]);

			if (size > left)
				return false;
			left -= size;
		}
	return true;
}

int dat_open(struct dat_file *file, struct netsync_io *io, const char *path)
{
	int ret;

	memset(file, 0, sizeof(*file));
	ret = io_open_plain(io, path, &file->from);
	if (ret)
		return ret;
	file->size = (uint64_t)file->from->st.st_size;
	ret = read_dat_header(file);
	for (size_t i = 0; i < file->num_buffers && !ret; i++)
		if (!is_page_size(file->buffers[i].page_size))
			ret = dat_set_problem(file, "its page size is impossible");
	if (!ret && !is_cpu_data_disjoint(file))
		ret = dat_set_problem(file, "several processors refer to the same pages");
	if (!ret && !is_unpacked_size_bounded(file))
		ret = dat_set_problem(
			file,
			"its events decompress to more than 100 times the size of the file, so it is probably not a recording; if it is a recording, decompress it with \"trace-cmd convert --compression none\"");
	return ret;
}

int dat_fail(const struct dat_file *file, struct netsync_io *io, const char *path, int err)
{
	return io_fail_contents(io, path, file->from, "trace.dat", file->problem, err);
}

void dat_close(struct dat_file *file)
{
	disk_close(file->from);
	free(file->clock);
	free(file->uname);
	dat_free_shifts(file);
	for (size_t i = 0; i < file->num_buffers; i++) {
		free(file->buffers[i].name);
		free(file->buffers[i].clock);
		free(file->buffers[i].cpus);
	}
	free(file->buffers);
}

/* ---- event formats ----------------------------------------------------- */

int dat_read_formats(struct dat_file *file, tracefs_use_format use, void *data)
{
	struct cursor cursor = make_dat_cursor(file, file->formats_at);
	int ret = 0;

	if (!file->formats_at)
		return 0;
	if (file->version >= 7)
		ret = open_dat_section(file, &cursor, file->formats_at, OPTION_EVENT_FORMATS);
	if (!ret)
		ret = tracefs_read_systems(&cursor, use, data);
	free(cursor.memory);
	if (!ret && cursor.bad)
		ret = dat_set_problem(file, CUT_SHORT);
	return ret;
}
