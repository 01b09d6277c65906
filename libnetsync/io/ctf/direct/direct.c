// SPDX-License-Identifier: LGPL-2.1-or-later
/* A trace's folder -> a walk for each of its streams. */
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
	struct walk *walk; /* NULL: it was taken by direct_take() */
	uint64_t stream_id;
	uint64_t instance;
};

enum agreed { NOT_KNOWN, AGREED, DIFFERENT };

struct direct {
	struct metadata metadata;
	enum agreed *agreed; /* by stream class in metadata */
	struct file *files;
	size_t num_files;
};

/* Add a stream file. False: it cannot be read, and might be a part of any stream. */
static bool add_file(struct direct *direct, const char *path, const char *name)
{
	struct file *last = array_add(&direct->files, direct->num_files,
				      sizeof(*last));

	if (!last)
		return false;
	direct->num_files++;
	last->name = strdup(name);
	last->walk = last->name ? walk_new(&direct->metadata, path) : NULL;
	if (!last->walk)
		return false;
	walk_identify(last->walk, &last->stream_id, &last->instance);
	return true;
}

/* Add a file if source.ctf.fs would take it for a stream. */
static bool look_at_file(struct direct *direct, const char *folder,
			 const char *name)
{
	struct stat st;
	char *path;
	bool ok;

	if (*name == '.' || !strcmp(name, "metadata"))
		return true;
	if (asprintf(&path, "%s/%s", folder, name) < 0)
		return false;
	ok = stat(path, &st) || !S_ISREG(st.st_mode) || !st.st_size ||
	     add_file(direct, path, name);
	free(path);
	return ok;
}

/* Is the file one of several of a stream, as the tracer begins a new one at some size? */
static bool is_part(const struct direct *direct, const struct file *file)
{
	if (file->instance == UINT64_MAX)
		return false;
	for (size_t i = 0; i < direct->num_files; i++) {
		const struct file *other = &direct->files[i];

		if (other != file && other->stream_id == file->stream_id &&
		    other->instance == file->instance)
			return true;
	}
	return false;
}

static bool find_files(struct direct *direct, const char *folder)
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;
	bool ok = dir;

	while (ok && (entry = readdir(dir)))
		ok = look_at_file(direct, folder, entry->d_name);
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
		direct->agreed = calloc(direct->metadata.num_streams + 1,
					sizeof(*direct->agreed));
		if (direct->agreed && find_files(direct, folder))
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
		walk_free(direct->files[i].walk);
		free(direct->files[i].name);
	}
	free(direct->files);
	free(direct->agreed);
	metadata_release(&direct->metadata);
	free(direct);
}

/* Does libbabeltrace2 see the types of a stream class as the parser here? */
static bool is_agreed(struct direct *direct, const bt_stream_class *class)
{
	const struct stream_type *stream = metadata_stream(
		&direct->metadata, bt_stream_class_get_id(class));
	enum agreed *agreed;

	if (!stream)
		return false;
	agreed = &direct->agreed[stream - direct->metadata.streams];
	if (*agreed == NOT_KNOWN)
		*agreed = agree_on_stream(&direct->metadata, class) ? AGREED
								    : DIFFERENT;
	return *agreed == AGREED;
}

struct walk *direct_take(struct direct *direct, const char *file,
			 const bt_stream_class *class)
{
	for (size_t i = 0; i < direct->num_files; i++) {
		struct file *found = &direct->files[i];
		struct walk *walk = found->walk;

		if (strcmp(found->name, file))
			continue;
		if (!walk ||
		    found->stream_id != bt_stream_class_get_id(class) ||
		    is_part(direct, found) || !is_agreed(direct, class))
			return NULL;
		found->walk = NULL;
		return walk;
	}
	return NULL;
}
