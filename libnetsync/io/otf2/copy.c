// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Copy an archive with new times. The events, and all other files, are copied byte for byte:
 *
 *	NAME.otf2, NAME/N.evt, ...	copied
 *	NAME.def			copied; if times leave the range in it, the range changes
 *	NAME/LOCATION.def		clock offsets of the host, in place of those that it had
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/disk/disk.h"
#include "io/otf2/copy.h"

/* Number of bytes copied at a time. Chosen. */
#define BLOCK_SIZE 65536
/*
 * Maximum size of a file of definitions that changes (bytes). Chosen: the definitions of 10^6 ranks
 * are smaller.
 */
#define MAX_DEFINITIONS ((size_t)1 << 30)

/* ---- files -------------------------------------------------------------------- */

struct otf2_file_copy {
	struct copy_task task;
	struct disk_file *from;
	FILE *out;
	struct otf2_bytes *bytes; /* what to write; NULL for the bytes of the original */
};

static int put_file_bytes(const struct otf2_file_copy *copy, const void *bytes, size_t size)
{
	return fwrite(bytes, 1, size, copy->out) == size ?
		       0 :
		       io_fail_file(copy->task.io, copy->task.to, -errno);
}

static int write_file_copy(void *arg)
{
	struct otf2_file_copy *copy = arg;
	uint8_t block[BLOCK_SIZE];
	ssize_t len;
	int ret = 0;

	if (copy->bytes)
		return put_file_bytes(copy, copy->bytes->data, copy->bytes->num);
	for (uint64_t at = 0; !ret; at += (uint64_t)len) {
		len = disk_read(copy->from, block, sizeof(block), at);
		if (len < 0)
			return io_fail_file(copy->task.io, copy->task.from, (int)len);
		if (!len)
			break;
		ret = put_file_bytes(copy, block, (size_t)len);
	}
	return ret;
}

/* Copy a file, or write other bytes with the permissions of @from. */
static int copy_file_to(struct netsync_io *io, const char *from, const char *to,
			struct otf2_bytes *bytes)
{
	struct otf2_file_copy copy = { .task = { io, from, to }, .bytes = bytes };
	int ret;

	copy.from = bytes ? NULL : io_open_file(io, from);
	if (!bytes && !copy.from)
		return io_fail_file(io, from, -errno);
	ret = io_write_copy(&copy.task, &copy.out, write_file_copy, &copy);
	if (copy.from)
		disk_close(copy.from);
	return ret;
}

static int read_definitions(struct netsync_io *io, const char *path, struct otf2_bytes *file)
{
	struct disk_file *from = io_open_file(io, path);
	ssize_t len = 1;

	if (!from)
		return io_fail_file(io, path, -errno);
	file->room = from->st.st_size > 0 && (uint64_t)from->st.st_size < MAX_DEFINITIONS ?
			     (size_t)from->st.st_size :
			     0;
	file->data = malloc(file->room + 1);
	while (file->data && file->num < file->room && len > 0) {
		len = disk_read(from, file->data + file->num, file->room - file->num, file->num);
		file->num += len > 0 ? (size_t)len : 0;
	}
	disk_close(from);
	if (!file->data)
		return io_fail_no_memory(io);
	return len < 0 ? io_fail_file(io, path, (int)len) : 0;
}

/* Copy a file of definitions with other records. If it does not exist, make one. */
static int copy_definitions(struct otf2_copy *copy, const char *from, const char *to, uint8_t type,
			    const struct otf2_bytes *records)
{
	const bool is_new = access(from, F_OK) && errno == ENOENT;
	struct otf2_bytes file = { 0 };
	int ret = is_new ? otf2_make_definitions(&file) : read_definitions(copy->io, from, &file);

	if (!ret) {
		ret = otf2_replace_records(&file, type, records, copy->archive.chunk,
					   type == OTF2_CLOCK_OFFSET);
		if (ret)
			io_fail(copy->io, ret,
				ret == -E2BIG ?
					"%s: the new definitions do not fit into the file; have the tool that writes the archive use larger chunks of definitions." :
					"%s: this file of definitions cannot be changed, because it is damaged, compressed, or from a big-endian machine.",
				from);
	}
	if (!ret)
		ret = copy_file_to(copy->io, is_new ? copy->from : from, to, &file);
	free(file.data);
	return ret;
}

/* ---- the archive ------------------------------------------------------------------ */

/* Return a path in the archive: the anchor's, up to ".otf2", and this. */
static char *make_archive_path(const char *anchor, const char *rest)
{
	const char *dot = strrchr(anchor, '.');

	return io_format("%.*s%s", dot ? (int)(dot - anchor) : (int)strlen(anchor), anchor, rest);
}

/* Copy a file of the archive, or its definitions with other records unless @records is NULL. */
static int copy_archive_file(struct otf2_copy *copy, const char *rest, uint8_t type,
			     const struct otf2_bytes *records)
{
	char *from = make_archive_path(copy->from, rest), *to = make_archive_path(copy->to, rest);
	int ret;

	if (!from || !to)
		ret = io_fail_no_memory(copy->io);
	else if (records)
		ret = copy_definitions(copy, from, to, type, records);
	else
		ret = copy_file_to(copy->io, from, to, NULL);
	free(from);
	free(to);
	return ret;
}

/* Copy the definitions of all locations of a host, with its clock offsets. */
static int copy_host_definitions(struct otf2_copy *copy, const struct otf2_host *host)
{
	struct otf2_bytes records = { 0 };
	struct otf2_offset *offsets = NULL;
	size_t num = 0;
	char rest[32];
	int ret = otf2_find_offsets(copy, host, &offsets, &num);

	for (size_t i = 0; i < num && !ret; i++)
		if (otf2_put_offset(&records, &offsets[i]))
			ret = io_fail_no_memory(copy->io);
	for (size_t i = 0; i < host->num_locations && !ret; i++) {
		snprintf(rest, sizeof(rest), "/%" PRIu64 ".def", host->location[i]);
		ret = copy_archive_file(copy, rest, OTF2_CLOCK_OFFSET, &records);
	}
	free(offsets);
	free(records.data);
	return ret;
}

/* Copy the archive's definitions. If times have left the range in it, extend the range. */
static int copy_global_definitions(struct otf2_copy *copy)
{
	const struct otf2_timer *old = &copy->archive.timer;
	struct otf2_timer *new = &copy->timer;
	struct otf2_bytes record = { 0 };
	int ret = 0;

	if (new->start == old->start &&new->length == old->length)
		return copy_archive_file(copy, ".def", 0, NULL);
	if (new->realtime_ns >= 0 && new->start != old->start) {
		/* The dates of all times remain. */
		new->realtime_ns = otf2_get_epoch(old) + otf2_get_start(new);
	}
	if (otf2_put_timer(&record, new))
		ret = io_fail_no_memory(copy->io);
	if (!ret)
		ret = copy_archive_file(copy, ".def", OTF2_CLOCK_PROPERTIES, &record);
	free(record.data);
	return ret;
}

/* Copy a file in the archive's folder, unless it was copied. */
static int copy_other_file(struct otf2_copy *copy, const char *name)
{
	char *rest = io_format("/%s", name), *to;
	int ret = 0;

	to = rest ? make_archive_path(copy->to, rest) : NULL;
	if (!to)
		ret = io_fail_no_memory(copy->io);
	else if (access(to, F_OK))
		ret = copy_archive_file(copy, rest, 0, NULL);
	free(rest);
	free(to);
	return ret;
}

static int copy_other_files(struct otf2_copy *copy, const char *folder)
{
	DIR *files = opendir(folder);
	struct dirent *entry;
	struct stat st;
	int ret = 0;

	if (!files)
		return io_fail_file(copy->io, folder, -errno);
	while (!ret && (entry = readdir(files)))
		if (!fstatat(dirfd(files), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
		    S_ISREG(st.st_mode))
			ret = copy_other_file(copy, entry->d_name);
	closedir(files);
	return ret;
}

/* Copy the files next to the anchor that belong to the archive, such as its markers. */
static int copy_optional_files(struct otf2_copy *copy)
{
	static const char *const rests[] = { ".marker", ".thumb" };
	int ret = 0;

	for (size_t i = 0; i < sizeof(rests) / sizeof(rests[0]) && !ret; i++) {
		char *from = make_archive_path(copy->from, rests[i]);

		if (!from)
			ret = io_fail_no_memory(copy->io);
		else if (!access(from, F_OK))
			ret = copy_archive_file(copy, rests[i], 0, NULL);
		free(from);
	}
	return ret;
}

static int copy_otf2_archive(struct otf2_copy *copy)
{
	char *from = make_archive_path(copy->from, ""), *to = make_archive_path(copy->to, "");
	int ret = !from || !to ? io_fail_no_memory(copy->io) : 0;

	if (!ret && mkdir(to, 0777))
		ret = io_fail_file(copy->io, to, -errno);
	for (size_t i = 0; i < copy->archive.num_hosts && !ret; i++)
		ret = copy_host_definitions(copy, &copy->archive.host[i]);
	if (!ret)
		ret = copy_other_files(copy, from);
	if (!ret)
		ret = copy_global_definitions(copy);
	if (!ret)
		ret = copy_optional_files(copy);
	if (!ret)
		ret = copy_file_to(copy->io, copy->from, copy->to, NULL);
	free(from);
	free(to);
	return ret;
}

int netsync_io_copy_otf2(struct netsync_io *io, const char *from, const char *to,
			 netsync_io_host_time_func time, void *data)
{
	struct otf2_copy copy = {
		.io = io,
		.from = from,
		.to = to,
		.time = time,
		.data = data,
		.archive = { .io = io, .path = from },
	};
	int ret = otf2_read_archive(&copy.archive);

	copy.timer = copy.archive.timer;
	if (!ret && copy.archive.damage)
		ret = io_fail(io, -EILSEQ, "%s: the archive is damaged: %s.", from,
			      copy.archive.damage);
	if (!ret)
		ret = copy_otf2_archive(&copy);
	otf2_release(&copy.archive);
	return ret;
}
