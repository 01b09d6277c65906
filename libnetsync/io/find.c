// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Find the traces in files and directories. Traces are recognized by their contents, not by their
 * names.
 */
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/io.h"
#include "io/patience.h"
#include "io/unpack/unpack.h"
#include "util/array.h"
#include "util/utf8.h"

/*
 * The readers, in the order in which their claims() functions are called. To add a format, add a
 * directory and a row here.
 */
static const struct trace_reader *const readers[] = {
	&ctf_reader,	&tracedat_reader,  &perf_reader,    &pcap_reader,  &kineto_reader,
	&flight_reader, &inspector_reader, &pftrace_reader, &retis_reader, &otlp_reader,
	&jaeger_reader, &zipkin_reader,	   &otf2_reader,
};

/* Number of bytes of two files that are compared at a time. Chosen to be one page. */
#define BLOCK 4096

#define NUM_READERS (sizeof(readers) / sizeof(readers[0]))

const struct trace_reader *io_find_format(const char *format)
{
	for (size_t i = 0; i < NUM_READERS; i++)
		if (!strcmp(readers[i]->format, format))
			return readers[i];
	return NULL;
}

int io_prepare_readers(struct netsync_io *io)
{
	int ret = 0;

	for (size_t i = 0; i < NUM_READERS && !ret; i++)
		if (readers[i]->prepare)
			ret = readers[i]->prepare(io);
	return ret;
}

int io_group_traces(const struct netsync_io *io)
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
	io_release_shares(trace);
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

/*
 * Open a trace's file, and get its status. Return false if the file cannot be read or is not a
 * regular file.
 */
static bool open_trace_contents(const struct trace *trace, struct unpacked *file, struct stat *st)
{
	struct disk_file *from = io_open_file(trace->io, trace->path);

	*file = (struct unpacked){ .from = from };
	if (!from)
		return false;
	*st = from->st;
	return S_ISREG(st->st_mode) && !unpacked_open(file, from);
}

/* Read a whole block, or less if the file ends within the block. */
static ssize_t read_whole_block(struct unpacked *file, char block[BLOCK], uint64_t at)
{
	size_t done = 0;

	while (done < BLOCK) {
		const ssize_t len = unpacked_read(file, block + done, BLOCK - done, at + done);

		if (len < 0)
			return len;
		if (!len)
			break;
		done += (size_t)len;
	}
	return (ssize_t)done;
}

static bool are_files_equal(struct unpacked *a, struct unpacked *b)
{
	char block_a[BLOCK], block_b[BLOCK];
	ssize_t len_a, len_b;

	for (uint64_t at = 0;; at += BLOCK) {
		len_a = read_whole_block(a, block_a, at);
		len_b = read_whole_block(b, block_b, at);
		if (len_a != len_b || len_a < 0 || memcmp(block_a, block_b, (size_t)len_a))
			return false;
		if (len_a < BLOCK)
			return true;
	}
}

/*
 * Return whether two files have the same contents. If a file is compressed, compare its
 * decompressed contents.
 */
static bool have_same_contents(const struct trace *trace_a, const struct trace *trace_b)
{
	struct unpacked a, b;
	struct stat stat_a, stat_b;
	const bool are_open = open_trace_contents(trace_a, &a, &stat_a) &
			      open_trace_contents(trace_b, &b, &stat_b);
	const bool same = are_open &&
			  (a.compression || b.compression || stat_a.st_size == stat_b.st_size) &&
			  are_files_equal(&a, &b);

	unpacked_close(&a);
	unpacked_close(&b);
	return same;
}

/*
 * Return whether the two traces are one trace, or copies of it. Copies have equal UUIDs and time
 * ranges. Chunks of a rotated trace have equal UUIDs, but different time ranges. Captures have no
 * UUID. If two captures have equal time ranges, their bytes are compared; if the bytes differ, they
 * usually differ near the beginning.
 */
static bool is_same_trace(const struct trace *a, const struct trace *b)
{
	if (!strcmp(a->real_path, b->real_path))
		return !a->reader->open_next || !strcmp(a->host_name, b->host_name);
	if (!a->has_uuid && !b->has_uuid && !a->is_remote && !b->is_remote &&
	    a->reader == b->reader)
		return a->range.lo == b->range.lo && a->range.hi == b->range.hi &&
		       have_same_contents(a, b);
	return a->range.lo <= a->range.hi && a->has_uuid && b->has_uuid &&
	       !memcmp(a->uuid, b->uuid, UUID_SIZE) && a->range_hash == b->range_hash;
}

static int check_trace_is_new(struct netsync_io *io, const struct trace *trace, const char *name)
{
	for (size_t i = 0; i < io->num_traces; i++) {
		const struct trace *other = io->traces[i];

		if (!is_same_trace(other, trace))
			continue;
		if (other->own_name && name && strcmp(name, other->host_name))
			return io_fail(
				io, -EEXIST,
				"%s=%s: this trace was already given as %s=%s; specify each trace once, with one name.",
				name, trace->path, other->host_name, other->path);
		return io_fail(io, -EEXIST,
			       "%s: this trace was already given as %s; specify each trace once.",
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
	int ret = check_trace_is_new(io, trace, name);

	if (ret < 0)
		return ret;
	if (name) {
		trace->own_name = trace->host_name;
		trace->host_name = strdup(name);
	}
	last = array_add(&io->traces, io->num_traces, sizeof(*last));
	if (!trace->host_name || !last || io_make_printable(&trace->host_name))
		return io_fail_no_memory(io);
	*last = trace;
	io->num_traces++;
	return 1;
}

/* Make a trace that is not open yet. On failure, call io_fail() and return NULL. */
static struct trace *make_found_trace(struct netsync_io *io, const struct trace_reader *reader,
				      const struct found *found)
{
	struct trace *trace = calloc(1, sizeof(*trace));
	const char *path = found->path;

	if (!trace) {
		io_fail_no_memory(io);
		return NULL;
	}
	trace->io = io;
	trace->window = RANGE_ALL;
	trace->info.host = NETSYNC_IO_NO_HOST;
	trace->info.last_ns = -1;
	trace->info.format = reader->format;
	trace->device = found->st->st_dev;
	trace->path = strdup(path);
	trace->real_path = realpath(path, NULL);
	/* A file that was already open, such as standard input, may have no path. */
	if (!trace->real_path && errno == ENOENT)
		trace->real_path = strdup(path);
	if (!trace->path || !trace->real_path) {
		io_fail(io, -errno, "%s: %s.", path, strerror(errno));
		io_free_trace(trace);
		return NULL;
	}
	trace->reader = reader;
	return trace;
}

/* Keep a trace if it was opened, or free it. @ret and the result are those of open(). */
static int keep_opened_trace(struct netsync_io *io, struct trace *trace, const char *name, int ret)
{
	if (ret > 0)
		ret = io_keep_trace(io, trace, name);
	if (ret <= 0)
		io_free_trace(trace);
	return ret;
}

/*
 * Add the traces of all remaining hosts of a file, after the trace that was added last. Return the
 * number of all its hosts. On failure, call io_fail() and return a negative value.
 */
static int add_other_hosts(struct netsync_io *io, const struct found *found, const char *name)
{
	int num = 0, ret;

	do {
		const struct trace *last = io->traces[io->num_traces - 1];
		struct trace *next = make_found_trace(io, last->reader, found);

		if (!next)
			return -ENOMEM;
		ret = last->reader->open_next(last, next);
		if (ret == -ENOMEM)
			io_fail_no_memory(io);
		else if (ret > 0 && name)
			ret = io_fail(
				io, -EINVAL,
				"%s=%s: the file contains several hosts (%s, %s and maybe others), so they cannot have one name; specify the file without a name.",
				name, found->path, last->own_name, next->host_name);
		ret = keep_opened_trace(io, next, NULL, ret);
		num++;
	} while (ret > 0);
	return ret < 0 ? ret : num;
}

/*
 * Open and store a trace, or those of all hosts of a file. Return their number, or 0 if the trace is
 * empty. On failure, call io_fail() and return a negative value.
 */
static int add_found_trace(struct netsync_io *io, const struct trace_reader *reader,
			   const struct found *found, const char *name)
{
	struct trace *trace = make_found_trace(io, reader, found);
	int ret;

	if (!trace)
		return -ENOMEM;
	ret = keep_opened_trace(io, trace, name, reader->open(trace));
	return ret > 0 && reader->open_next ? add_other_hosts(io, found, name) : ret;
}

/* ---- searching --------------------------------------------------------- */

struct trace_search {
	unsigned int found;   /* number of traces that a reader claimed */
	unsigned int usable;  /* number of these traces that were stored */
	unsigned int entries; /* number of files and directories in the given directory */
	unsigned int lost; /* number of inputs not opened because a process was killed or stuck */
	/* Number of lost inputs, plus unreadable files that look like traces. */
	unsigned int skipped;
	unsigned int links;  /* number of symbolic links, which are not followed */
	char *link;	     /* path of the first link */
	unsigned int others; /* number of files that do not look like traces */
	char *other;	     /* path of the first such file */
};

/* Return whether the path is a file that netsync itself writes next to traces. */
static bool is_own_file(const char *path)
{
	static const char *const names[] = { "sync.json", "+live.url", "+relayd.log" };
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	for (int i = 0; i < NUM_SIDECARS; i++)
		if (!strcmp(name, io_sidecar_names[i]))
			return true;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* Return whether the file is a part of an OTF2 archive, which its anchor file stands for. */
static bool is_archive_part(const struct found *found)
{
	static const char head[] = IO_OTF2_CHUNK;

	return found->head_len > sizeof(head) && !memcmp(found->head, head, sizeof(head) - 1);
}

/* Read the first bytes of a file, decompressed. Return 0 or a negative errno value. */
static int read_file_head(const struct netsync_io *io, struct found *found)
{
	struct disk_file *from = io_open_file(io, found->path);
	struct unpacked file;
	ssize_t len = 0;
	int ret;

	if (!from)
		return -errno;
	ret = unpacked_open(&file, from);
	found->compression = file.compression;
	while (!ret && found->head_len < HEAD_SIZE) {
		len = unpacked_read(&file, found->head + found->head_len,
				    HEAD_SIZE - found->head_len, found->head_len);
		if (len <= 0)
			break;
		found->head_len += (size_t)len;
	}
	if (len == -EILSEQ && !found->head_len)
		found->damage = file.damage;
	if (disk_is_stuck(from))
		ret = -ETIMEDOUT;
	unpacked_close(&file);
	/* io_explain_foreign() explains these two errors. */
	return ret == -ENOSYS || len == -EILSEQ ? 0 : ret ? ret : len < 0 ? (int)len : 0;
}

const struct trace_reader *io_find_reader(const struct netsync_io *io, struct found *found,
					  int *err)
{
	*err = S_ISREG(found->st->st_mode) ? read_file_head(io, found) : 0;
	for (size_t i = 0; i < NUM_READERS && !*err; i++) {
		if (!readers[i]->claims(found))
			continue;
		if (!found->compression || readers[i]->takes_compressed)
			return readers[i];
		found->is_claimed = true;
		break;
	}
	return NULL;
}

/* Skip a file. The reason was passed to io_fail(). Return 0 or -ENOMEM. */
static int skip_unreadable_file(struct netsync_io *io, struct trace_search *search,
				const char *path, int err)
{
	search->lost += io_is_lost_error(err);
	search->skipped++;
	return io_skip_input(io, path);
}

/*
 * Reject or skip a file that no reader accepts. @is_given means that the user has named the file
 * itself, and not a directory that contains it.
 */
static int refuse_unknown_file(struct netsync_io *io, const struct found *found, bool is_given,
			       struct trace_search *search)
{
	bool looks_like;
	char *why;
	int ret = 0;

	if (!S_ISREG(found->st->st_mode) ||
	    (!is_given && (is_own_file(found->path) || is_archive_part(found))))
		return 0;
	why = io_explain_foreign(found, &looks_like);
	if (!why)
		return io_fail_no_memory(io);
	if (is_given)
		ret = io_fail(io, -EPROTONOSUPPORT, "%s: %s", found->path, why);
	else if (looks_like)
		ret = skip_unreadable_file(io, search, found->path,
					   io_fail(io, -EPROTONOSUPPORT, "%s: %s", found->path,
						   why));
	else if (!search->others++)
		search->other = strdup(found->path);
	free(why);
	return ret;
}

/*
 * Add a trace that a reader claims. If the trace is inside of a given directory and cannot be read,
 * skip it.
 */
static int add_claimed_trace(struct netsync_io *io, const struct trace_reader *reader,
			     const struct found *found, const char *name, bool is_given,
			     struct trace_search *search)
{
	const int ret = add_found_trace(io, reader, found, name);

	search->found++;
	if (ret >= 0) {
		search->usable += ret;
		return 0;
	}
	if (!io_is_lost_error(ret) && (is_given || ret == -ENOMEM || ret == -EEXIST))
		return ret;
	return skip_unreadable_file(io, search, found->path, ret);
}

/*
 * Examine a file or directory. Return 1 if it is a trace, or 0 if not. On failure, call io_fail()
 * and return a negative value.
 */
static int examine_path(struct netsync_io *io, const char *path, const struct stat *st,
			const char *name, bool is_given, struct trace_search *search)
{
	struct found found = { .path = path, .st = st };
	const struct trace_reader *reader;
	int ret;

	reader = io_find_reader(io, &found, &ret);
	if (reader) {
		ret = add_claimed_trace(io, reader, &found, name, is_given, search);
		return ret < 0 ? ret : 1;
	}
	if (!ret)
		return refuse_unknown_file(io, &found, is_given, search);
	io_fail_file(io, path, ret);
	return is_given && !io_is_lost_error(ret) ? ret :
						    skip_unreadable_file(io, search, path, ret);
}

static int visit_search_entry(struct netsync_io *io, FTS *fts, FTSENT *entry, const char *name,
			      struct trace_search *search)
{
	int ret;

	switch (entry->fts_info) {
	case FTS_DNR:
	case FTS_ERR:
		return io_fail(io, -entry->fts_errno, "%s: %s.", entry->fts_path,
			       strerror(entry->fts_errno));
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
	ret = examine_path(io, entry->fts_path, entry->fts_statp, name, !entry->fts_level, search);
	if (ret > 0)
		fts_set(fts, entry, FTS_SKIP);
	return ret < 0 ? ret : 0;
}

static void warn_of_skipped_entries(struct netsync_io *io, const char *path,
				    struct trace_search *search)
{
	if (search->links && search->link)
		io_warn(io,
			"%s: symbolic links were not followed (%u, such as %s); specify their targets if these are traces.",
			path, search->links, search->link);
	if (search->others == 1 && search->other)
		io_warn(io, "%s: the file is not a trace and was skipped.", search->other);
	else if (search->others && search->other)
		io_warn(io, "%s: %u files are not traces and were skipped (such as %s).", path,
			search->others, search->other);
}

static int search_for_traces(struct netsync_io *io, const char *path, const char *name,
			     struct trace_search *search)
{
	char *paths[] = { (char *)path, NULL };
	/*
	 * Do not follow links: the creator of a directory must not be able to choose which
	 * other files are read.
	 */
	FTS *fts = fts_open(paths, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, NULL);
	FTSENT *entry;
	int ret = 0;

	if (!fts)
		return io_fail(io, -errno, "%s: %s.", path, strerror(errno));
	while (!ret && (errno = 0, entry = fts_read(fts)))
		ret = visit_search_entry(io, fts, entry, name, search);
	if (!ret && errno)
		ret = io_fail(io, -errno, "%s: %s.", path, strerror(errno));
	fts_close(fts);
	if (!ret)
		warn_of_skipped_entries(io, path, search);
	return ret;
}

/* ---- given paths --------------------------------------------------------- */

#define STANDARD_INPUT "/dev/stdin"

bool io_is_open_file(const char *path)
{
	return !strcmp(path, STANDARD_INPUT) || !strncmp(path, "/dev/fd/", 8) ||
	       !strncmp(path, "/proc/self/fd/", 14);
}

/* Return whether the path stands for a file that is already open and so needs no probing. */
static bool is_pipe_name(const char *path)
{
	return !strcmp(path, "-") || io_is_open_file(path);
}

/* Store the data of a pipe or of an open file. */
static int keep_given_input(struct netsync_io *io, const char *path, const struct stat *st)
{
	const bool is_input = !strcmp(path, STANDARD_INPUT);
	const char *same = io_find_kept(io, st);
	int fd, ret;

	if (!same)
		same = io_find_text(io, st);
	if (same)
		return io_fail(io, -EEXIST,
			       "%s: this input was already given as %s; specify each input once.",
			       path, same);
	fd = is_input ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : disk_open_at_once(path, O_RDONLY);
	if (fd < 0)
		return io_fail(io, -errno, "%s: %s.", path, strerror(errno));
	ret = io_keep_open(io, path, fd);
	close(fd);
	return ret;
}

/* Check a given path, replace "-" by the path of standard input, and get the file's status. */
static int check_given_path(struct netsync_io *io, const char **path, struct stat *st)
{
	if (!strcmp(*path, "-"))
		*path = STANDARD_INPUT;
	if (stat(*path, st) < 0) {
		if (errno == ENOENT)
			return io_fail(io, -ENOENT, "%s: no such file or directory.", *path);
		return io_fail(io, -errno, "%s: %s.", *path, strerror(errno));
	}
	if (S_ISDIR(st->st_mode) || (S_ISREG(st->st_mode) && !io_is_open_file(*path)))
		return 0;
	if (S_ISREG(st->st_mode) || S_ISFIFO(st->st_mode) || S_ISSOCK(st->st_mode))
		return keep_given_input(io, *path, st);
	return io_fail(io, -ESPIPE, "%s: not a file, directory or pipe.", *path);
}

/* Add the trace that the data of a pipe or of an open file contain. */
static int add_kept_input(struct netsync_io *io, const char *path, const char *name,
			  struct trace_search *search)
{
	struct stat st;
	int ret;

	if (io_stat_file(io, path, &st))
		return io_fail_file(io, path, -errno);
	ret = examine_path(io, path, &st, name, true, search);
	return ret < 0 ? ret : 0;
}

static int check_search_result(struct netsync_io *io, const char *path,
			       const struct trace_search *search)
{
	if (search->usable)
		return (int)search->usable;
	if (search->lost)
		return io_fail(io, -ETIMEDOUT, "%s: none of the traces could be opened.", path);
	if (search->found || search->skipped)
		return io_fail(io, -ENODATA, "%s: none of the traces contains usable data.", path);
	if (search->entries)
		return io_fail(
			io, -ENODATA,
			"%s: no trace was found in this directory or below it: no CTF metadata, capture, trace.dat or perf.data.",
			path);
	return io_fail(io, -ENODATA, "%s: the directory is empty.", path);
}

static int add_given_path(struct netsync_io *io, const char *path, const char *name)
{
	struct trace_search search = { 0 };
	struct stat st;
	int ret = is_pipe_name(path) ? 0 : io_probe_path(io, path);

	if (ret < 0)
		return io_skip_input(io, path) < 0 ? -ENOMEM : ret;
	ret = check_given_path(io, &path, &st);
	if (io_is_lost_error(ret))
		return io_skip_input(io, path) < 0 ? -ENOMEM : ret;
	if (!ret && (S_ISDIR(st.st_mode) || (S_ISREG(st.st_mode) && !io_is_open_file(path))))
		ret = search_for_traces(io, path, name, &search);
	else if (!ret)
		ret = add_kept_input(io, path, name, &search);
	free(search.link);
	free(search.other);
	return ret < 0 ? ret : check_search_result(io, path, &search);
}

int io_check_can_add(struct netsync_io *io, const char *what)
{
	if (io->live)
		return io_fail(io, -EBUSY,
			       "%s: live sessions and recorded traces cannot be read together.",
			       what);
	if (io->was_read)
		return io_fail(io, -EBUSY, "%s: the traces have already been read.", what);
	return 0;
}

int netsync_io_add(struct netsync_io *io, const char *what)
{
	const char *equal = strchr(what, '='), *slash = strchr(what, '/');
	char *name;
	int ret;

	ret = io_check_can_add(io, what);
	if (ret < 0)
		return ret;
	if (!equal || (slash && slash < equal))
		return add_given_path(io, what, NULL);
	if (equal == what)
		return io_fail(io, -EINVAL, "%s: no host name before the '='.", what);
	name = strndup(what, equal - what);
	if (!name)
		return io_fail_no_memory(io);
	ret = add_given_path(io, equal + 1, name);
	free(name);
	return ret;
}
