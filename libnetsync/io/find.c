// SPDX-License-Identifier: LGPL-2.1-or-later
/* Paths of files and folders -> traces in them, by their content, not their names. */
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/io.h"
#include "io/patience.h"
#include "util/array.h"
#include "util/utf8.h"

/* In the order in which claims() is called. A new format is a folder and a row here. */
static const struct trace_reader *const readers[] = {
	&ctf_reader,
	&tracedat_reader,
	&perf_reader,
	&pcap_reader,
};

/* Bytes of files that are compared at a time. Chosen: a page. */
#define BLOCK 4096

#define NUM_READERS (sizeof(readers) / sizeof(readers[0]))

const struct trace_reader *io_find_format(const char *format)
{
	for (size_t i = 0; i < NUM_READERS; i++)
		if (!strcmp(readers[i]->format, format))
			return readers[i];
	return NULL;
}

int io_prepare(struct netsync_io *io)
{
	int ret = 0;

	for (size_t i = 0; i < NUM_READERS && !ret; i++)
		if (readers[i]->prepare)
			ret = readers[i]->prepare(io);
	return ret;
}

int io_group(const struct netsync_io *io)
{
	int ret = 0;

	if (!io->num_traces || io->traces[io->num_traces - 1]->is_grouped)
		return 0;
	for (size_t i = 0; i < NUM_READERS && !ret; i++)
		if (readers[i]->group)
			ret = readers[i]->group(io);
	for (size_t i = 0; i < io->num_traces; i++)
		io->traces[i]->is_grouped = true;
	return ret;
}

/* ---- one trace --------------------------------------------------------- */

void io_close_trace(struct trace *trace)
{
	if (trace->reader)
		trace->reader->close(trace);
	trace->reader = NULL;
}

void io_free_trace(struct trace *trace)
{
	if (!trace)
		return;
	io_close_trace(trace);
	free(trace->parts);
	free(trace->clocks);
	free(trace->path);
	free(trace->real_path);
	free(trace->host_name);
	free(trace->own_name);
	free(trace->clock_name);
	free(trace);
}

/* Are two regular files equal, byte by byte? */
static bool same_contents(const char *path_a, const char *path_b)
{
	FILE *a = fopen(path_a, "re"), *b = fopen(path_b, "re");
	struct stat stat_a, stat_b;
	bool same = a && b && !fstat(fileno(a), &stat_a) &&
		    !fstat(fileno(b), &stat_b) && S_ISREG(stat_a.st_mode) &&
		    S_ISREG(stat_b.st_mode) && stat_a.st_size == stat_b.st_size;
	char block_a[BLOCK], block_b[BLOCK];
	size_t len = same;

	while (same && len) {
		len = fread(block_a, 1, sizeof(block_a), a);
		same = fread(block_b, 1, sizeof(block_b), b) == len &&
		       !memcmp(block_a, block_b, len);
	}
	if (a)
		fclose(a);
	if (b)
		fclose(b);
	return same;
}

/*
 * Is one trace the other one, or a copy? Copies have the same UUID and ranges of times;
 * chunks of a rotated trace have the same UUID and other ranges. Captures have no UUID:
 * the bytes of those with the same ranges are compared, which differ early, if at all.
 */
static bool same_trace(const struct trace *a, const struct trace *b)
{
	if (!strcmp(a->real_path, b->real_path))
		return true;
	if (!a->has_uuid && !b->has_uuid && !a->is_remote && !b->is_remote &&
	    a->reader == b->reader)
		return a->range.lo == b->range.lo && a->range.hi == b->range.hi &&
		       same_contents(a->real_path, b->real_path);
	return a->range.lo <= a->range.hi && a->has_uuid && b->has_uuid &&
	       !memcmp(a->uuid, b->uuid, UUID_SIZE) &&
	       a->range_hash == b->range_hash;
}

static int check_new(struct netsync_io *io, const struct trace *trace, const char *name)
{
	for (size_t i = 0; i < io->num_traces; i++) {
		const struct trace *other = io->traces[i];

		if (!same_trace(other, trace))
			continue;
		if (other->own_name && name && strcmp(name, other->host_name))
			return io_fail(io, -EEXIST,
				"%s=%s: this trace was given already as %s=%s; give each trace once, by one name.",
				name, trace->path, other->host_name, other->path);
		return io_fail(io, -EEXIST,
			"%s: this trace was given already as %s; give each trace once.",
			trace->path, other->path);
	}
	return 0;
}

int io_make_printable(char **name)
{
	char *printable = utf8_escape(*name, true);

	free(*name);
	*name = printable;
	return printable ? 0 : -ENOMEM;
}

int io_keep_trace(struct netsync_io *io, struct trace *trace, const char *name)
{
	struct trace **last;
	int ret = check_new(io, trace, name);

	if (ret < 0)
		return ret;
	if (name) {
		trace->own_name = trace->host_name;
		trace->host_name = strdup(name);
	}
	last = array_add(&io->traces, io->num_traces, sizeof(*last));
	if (!trace->host_name || !last || io_make_printable(&trace->host_name))
		return io_no_memory(io);
	*last = trace;
	io->num_traces++;
	return 1;
}

/* Open and keep a trace. 1; 0: it holds nothing; negative after io_fail(). */
static int add_trace(struct netsync_io *io, const struct trace_reader *reader,
		     const struct found *found, const char *name)
{
	struct trace *trace = calloc(1, sizeof(*trace));
	const char *path = found->path;
	int ret;

	if (!trace)
		return io_no_memory(io);
	trace->io = io;
	trace->window = RANGE_ALL;
	trace->info.host = NETSYNC_IO_NO_HOST;
	trace->info.last_ns = -1;
	trace->info.format = reader->format;
	trace->device = found->st->st_dev;
	trace->path = strdup(path);
	trace->real_path = realpath(path, NULL);
	if (!trace->path || !trace->real_path) {
		ret = io_fail(io, -errno, "%s: %s.", path, strerror(errno));
		goto out;
	}
	trace->reader = reader;
	ret = reader->open(trace);
	if (ret > 0)
		ret = io_keep_trace(io, trace, name);
	if (ret > 0)
		return ret;
out:
	io_free_trace(trace);
	return ret;
}

/* ---- searching --------------------------------------------------------- */

struct search {
	unsigned int found;	/* traces that a reader claimed, */
	unsigned int usable;	/* of which so many were kept */
	unsigned int entries;	/* files and folders in the given folder */
	unsigned int lost;	/* not opened, as a process was killed or stuck */
	unsigned int links;	/* symbolic links, which are not followed */
	char *link;		/* path of the first link */
};

/* Read the first bytes of a file. 0, or -errno. */
static int read_head(struct found *found)
{
	int fd = open(found->path, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : pread(fd, found->head, sizeof(found->head), 0);
	int err = len < 0 ? -errno : 0;

	if (fd >= 0)
		close(fd);
	found->head_len = len < 0 ? 0 : (size_t)len;
	return err;
}

const struct trace_reader *io_find_reader(struct found *found, int *err)
{
	*err = S_ISREG(found->st->st_mode) ? read_head(found) : 0;
	for (size_t i = 0; i < NUM_READERS && !*err; i++)
		if (readers[i]->claims(found))
			return readers[i];
	return NULL;
}

static int visit(struct netsync_io *io, FTS *fts, FTSENT *entry,
		 const char *name, struct search *search)
{
	struct found found = { .path = entry->fts_path, .st = entry->fts_statp };
	const struct trace_reader *reader;
	int ret;

	switch (entry->fts_info) {
	case FTS_DNR:
	case FTS_ERR:
		return io_fail(io, -entry->fts_errno, "%s: %s.",
			       entry->fts_path, strerror(entry->fts_errno));
	case FTS_SL:
	case FTS_SLNONE:
		search->entries++;
		if (!search->links++)
			search->link = strdup(entry->fts_path);
		return 0;
	case FTS_D:
	case FTS_F:
		break;
	default:
		return 0;
	}
	if (entry->fts_level > 0)
		search->entries++;
	reader = io_find_reader(&found, &ret);
	if (ret < 0 && !entry->fts_level)
		return io_fail(io, ret, "%s: %s.", found.path, strerror(-ret));
	if (ret < 0)
		io_warn(io, "%s: it cannot be read, so that it was not used if it is a trace (%s).",
			found.path, strerror(-ret));
	if (!reader)
		return 0;
	fts_set(fts, entry, FTS_SKIP);
	search->found++;
	ret = add_trace(io, reader, &found, name);
	if (io_is_lost(ret)) {
		search->lost++;
		return io_leave_out(io, found.path);
	}
	if (ret < 0)
		return ret;
	search->usable += ret;
	return 0;
}

static int search_path(struct netsync_io *io, const char *path,
		       const char *name, struct search *search)
{
	char *paths[] = { (char *)path, NULL };
	/* No links: whoever made a folder must not choose which other files are read. */
	FTS *fts = fts_open(paths, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, NULL);
	FTSENT *entry;
	int ret = 0;

	if (!fts)
		return io_fail(io, -errno, "%s: %s.", path, strerror(errno));
	while (!ret && (errno = 0, entry = fts_read(fts)))
		ret = visit(io, fts, entry, name, search);
	if (!ret && errno)
		ret = io_fail(io, -errno, "%s: %s.", path, strerror(errno));
	fts_close(fts);
	if (search->links && search->link && !ret)
		io_warn(io, "%s: symbolic links in it were not followed (%u, such as %s); give what they lead to if these are traces.",
			path, search->links, search->link);
	free(search->link);
	return ret;
}

/* ---- what is given ------------------------------------------------------- */

static int check_path(struct netsync_io *io, const char *path, struct stat *st)
{
	if (stat(path, st) < 0) {
		if (errno == ENOENT)
			return io_fail(io, -ENOENT,
				       "%s: there is no such file or folder.", path);
		return io_fail(io, -errno, "%s: %s.", path, strerror(errno));
	}
	if (!S_ISDIR(st->st_mode) && !S_ISREG(st->st_mode))
		return io_fail(io, -ESPIPE,
			"%s: this is neither a file nor a folder; write what comes from a pipe to a file first.",
			path);
	return 0;
}

static int add_path(struct netsync_io *io, const char *path, const char *name)
{
	struct search search = { 0 };
	struct stat st;
	int ret = io_probe_path(io, path, name);

	if (ret < 0)
		return io_leave_out(io, path) < 0 ? -ENOMEM : ret;
	ret = check_path(io, path, &st);
	if (!ret)
		ret = search_path(io, path, name, &search);
	if (ret < 0)
		return ret;
	if (search.usable)
		return search.usable;
	if (search.lost)
		return io_fail(io, -ETIMEDOUT, "%s: none of its traces could be opened.", path);
	if (search.found)
		return io_fail(io, -ENODATA,
			"%s: no trace in it holds anything that can be used.",
			path);
	if (!S_ISDIR(st.st_mode))
		return io_fail(io, -EPROTONOSUPPORT,
			"%s: this is no trace of a known format; unpack it if it is compressed, and of a CTF trace give the folder.",
			path);
	if (search.entries)
		return io_fail(io, -ENODATA,
			"%s: there is no trace in this folder or below it: no CTF metadata, no capture, no trace.dat and no perf.data was found.",
			path);
	return io_fail(io, -ENODATA, "%s: this folder is empty.", path);
}

int io_check_new(struct netsync_io *io, const char *what)
{
	if (io->live)
		return io_fail(io, -EBUSY,
			"%s: live sessions and recorded traces are not read together.",
			what);
	if (io->was_read)
		return io_fail(io, -EBUSY,
			       "%s: the traces were read already.", what);
	return 0;
}

int netsync_io_add(struct netsync_io *io, const char *what)
{
	const char *equal = strchr(what, '='), *slash = strchr(what, '/');
	char *name;
	int ret;

	ret = io_check_new(io, what);
	if (ret < 0)
		return ret;
	if (!equal || (slash && slash < equal))
		return add_path(io, what, NULL);
	if (equal == what)
		return io_fail(io, -EINVAL,
			"%s: there is no host name before the '='.", what);
	name = strndup(what, equal - what);
	if (!name)
		return io_no_memory(io);
	ret = add_path(io, equal + 1, name);
	free(name);
	return ret;
}
