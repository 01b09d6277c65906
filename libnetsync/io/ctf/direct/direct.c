// SPDX-License-Identifier: LGPL-2.1-or-later
/* Create a reader for each stream in a trace's directory. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "io/ctf/direct/agree.h"
#include "io/ctf/direct/direct.h"
#include "util/array.h"

struct file {
	char *name;
	struct direct_reader *reader; /* NULL after direct_take_reader() */
	uint64_t stream_id;
	uint64_t instance;
};

enum agreed { NOT_KNOWN, AGREED, DIFFERENT };

struct direct {
	struct metadata metadata;
	enum agreed *agreed; /* by the index of the stream class in @metadata */
	struct file *files;
	size_t num_files;
};

/*
 * Add a stream file. Return false if the file cannot be read, because it could then belong to any
 * stream.
 */
static bool add_stream_file(struct direct *direct, const char *path, const char *name)
{
	struct file *last = array_add(&direct->files, direct->num_files, sizeof(*last));

	if (!last)
		return false;
	direct->num_files++;
	last->name = strdup(name);
	last->reader = last->name ? direct_reader_new(&direct->metadata, path) : NULL;
	if (!last->reader)
		return false;
	direct_reader_identify(last->reader, &last->stream_id, &last->instance);
	return true;
}

/* Add a file if source.ctf.fs would treat it as a stream. */
static bool add_if_stream_file(struct direct *direct, const char *folder, const char *name)
{
	struct stat st;
	char *path;
	bool ok;

	if (*name == '.' || !strcmp(name, "metadata"))
		return true;
	if (asprintf(&path, "%s/%s", folder, name) < 0)
		return false;
	ok = stat(path, &st) || !S_ISREG(st.st_mode) || !st.st_size ||
	     add_stream_file(direct, path, name);
	free(path);
	return ok;
}

static bool find_stream_files(struct direct *direct, const char *folder)
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;
	bool ok = dir;

	while (ok && (entry = readdir(dir)))
		ok = add_if_stream_file(direct, folder, entry->d_name);
	if (dir)
		closedir(dir);
	return ok;
}

struct direct *direct_new(const char *folder, const char *text)
{
	struct direct *direct = calloc(1, sizeof(*direct));

	if (!direct)
		return NULL;
	if (!metadata_parse(&direct->metadata, text)) {
		direct->agreed = calloc(direct->metadata.num_streams + 1, sizeof(*direct->agreed));
		if (direct->agreed && find_stream_files(direct, folder))
			return direct;
	}
	direct_free(direct);
	return NULL;
}

void direct_free(struct direct *direct)
{
	if (!direct)
		return;
	for (size_t i = 0; i < direct->num_files; i++) {
		direct_reader_free(direct->files[i].reader);
		free(direct->files[i].name);
	}
	free(direct->files);
	free(direct->agreed);
	metadata_release(&direct->metadata);
	free(direct);
}

/* Return whether libbabeltrace2 finds the same types for a stream class as this folder's parser. */
static bool is_stream_class_agreed(struct direct *direct, const bt_stream_class *class)
{
	const struct stream_type *stream = metadata_find_stream(&direct->metadata,
								bt_stream_class_get_id(class));
	enum agreed *agreed;

	if (!stream)
		return false;
	agreed = &direct->agreed[stream - direct->metadata.streams];
	if (*agreed == NOT_KNOWN)
		*agreed = agree_on_stream(&direct->metadata, class) ? AGREED : DIFFERENT;
	return *agreed == AGREED;
}

/* Return the first file of a stream, or NULL if all of its files have been returned. */
static struct file *find_stream_file(struct direct *direct, const bt_stream *stream)
{
	const char *name = bt_stream_get_name(stream);
	const char *slash = name ? strrchr(name, '/') : NULL;

	if (slash)
		name = slash + 1;
	for (size_t i = 0; name && i < direct->num_files; i++)
		if (!strcmp(direct->files[i].name, name))
			return direct->files[i].reader ? &direct->files[i] : NULL;
	return NULL;
}

/* ---- streams in several files --------------------------------------------- */

/* One of a stream's files. The tracer begins a new file when a file reaches a certain size. */
struct stream_part {
	struct file *file;
	uint64_t first, last; /* begin of its first and last packet (cycles) */
};

static int compare_parts_by_time(const void *a, const void *b)
{
	const struct stream_part *p = a, *q = b;

	return (p->first > q->first) - (p->first < q->first);
}

static bool is_same_stream(const struct file *a, const struct file *b)
{
	return a->reader && b->reader && a->stream_id == b->stream_id && a->instance == b->instance;
}

static size_t list_stream_parts(struct direct *direct, const struct file *first,
				struct stream_part *parts)
{
	size_t num = 0;

	for (size_t i = 0; i < direct->num_files; i++)
		if (is_same_stream(&direct->files[i], first))
			parts[num++].file = &direct->files[i];
	return num;
}

/*
 * Sort the parts by time. libbabeltrace2 reads the packets of all parts in order of time. If the
 * order of the packets differs from reading one part after the other, return false.
 */
static bool order_stream_parts(struct stream_part *parts, size_t num)
{
	for (size_t i = 0; i < num; i++)
		if (!direct_reader_get_times(parts[i].file->reader, &parts[i].first,
					     &parts[i].last))
			return false;
	qsort(parts, num, sizeof(*parts), compare_parts_by_time);
	for (size_t i = 1; i < num; i++)
		if (parts[i].first <= parts[i - 1].last)
			return false;
	return true;
}

static struct direct_reader *take_stream_parts(struct direct *direct, struct file *first)
{
	struct stream_part *parts = calloc(direct->num_files, sizeof(*parts));
	struct direct_reader *reader = NULL;
	size_t num;

	if (!parts)
		return NULL;
	num = list_stream_parts(direct, first, parts);
	if (num == 1 || (order_stream_parts(parts, num) && parts[0].file == first)) {
		for (size_t i = num; i-- > 0;) {
			direct_reader_append(parts[i].file->reader, reader);
			reader = parts[i].file->reader;
			parts[i].file->reader = NULL;
		}
	}
	free(parts);
	return reader;
}

struct direct_reader *direct_take_reader(struct direct *direct, const bt_stream *stream)
{
	const bt_stream_class *class = bt_stream_borrow_class_const(stream);
	struct file *file = find_stream_file(direct, stream);
	struct direct_reader *reader;

	if (!file || file->stream_id != bt_stream_class_get_id(class) ||
	    !is_stream_class_agreed(direct, class))
		return NULL;
	/* Without stream numbers, each file is a stream. */
	if (file->instance != UINT64_MAX)
		return take_stream_parts(direct, file);
	reader = file->reader;
	file->reader = NULL;
	return reader;
}
