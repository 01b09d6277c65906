// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Copy the readable part of a CTF trace with damaged stream files to a scratch directory.
 *
 * When source.ctf.fs opens a trace, it examines the headers of all packets, and rejects the whole
 * trace if one header is wrong, or if the last packet is truncated. The scratch directory contains
 * links to the metadata and to the stream files that are accepted one by one. For each other stream
 * file, the directory contains a copy of the longest sequence of initial packets that is accepted,
 * which is found by bisection.
 *
 *	$TMPDIR/netsync-XXXXXX/probe	one stream file at a time, to be tried
 *	$TMPDIR/netsync-XXXXXX/trace	the result
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "io/ctf/files.h"
#include "util/array.h"

/* A packet begins with a magic number and, usually, the UUID of the trace (CTF 1.8, 5.1). */
#define PACKET_MAGIC UINT32_C(0xc1fc1fc1)
#define PACKET_HEAD 20 /* size of both together (bytes) */

/*
 * Maximum size of a packet's header and context (bytes). Chosen; LTTng's have less than 100 bytes.
 */
#define HEAD_BYTES 4096

/* A stream file in memory, and the places at which a packet may begin. */
struct pieces {
	const uint8_t *data;
	uint64_t size;	  /* bytes */
	uint64_t *starts; /* offsets at which a copy of the first packet's header begins */
	size_t num;
};

/* ---- files ------------------------------------------------------------- */

static int write_file_at(int fd, const uint8_t *data, uint64_t size, uint64_t at)
{
	while (size) {
		ssize_t done = pwrite(fd, data, size > INT_MAX ? INT_MAX : size, at);

		if (done < 0)
			return -errno;
		data += done;
		size -= done;
		at += done;
	}
	return 0;
}

/* ---- packets ----------------------------------------------------------- */

static int add_packet_start(struct pieces *pieces, uint64_t start)
{
	uint64_t *last = array_add(&pieces->starts, pieces->num, sizeof(*last));

	if (!last)
		return -ENOMEM;
	*last = start;
	pieces->num++;
	return 0;
}

static int find_packet_starts(struct pieces *pieces)
{
	const uint8_t *at = pieces->data;
	const uint8_t *end = pieces->data + pieces->size;
	uint32_t magic;
	int ret = 0;

	if (pieces->size < PACKET_HEAD)
		return 0;
	memcpy(&magic, at, sizeof(magic));
	if (magic != PACKET_MAGIC && magic != __builtin_bswap32(PACKET_MAGIC))
		return 0;
	while (at && !ret) {
		ret = add_packet_start(pieces, at - pieces->data);
		at = memmem(at + 1, end - at - 1, pieces->data, PACKET_HEAD);
	}
	return ret;
}

/*
 * Write the first @num packets, as a whole or only their headers, so that source.ctf.fs can try to
 * open them.
 */
static int write_packets(const struct pieces *pieces, size_t num, bool whole, const char *path)
{
	uint64_t end = pieces->starts[num];
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int ret = 0;

	if (fd < 0)
		return -errno;
	if (whole) {
		ret = write_file_at(fd, pieces->data, end, 0);
	} else {
		for (size_t i = 0; i < num && !ret; i++) {
			uint64_t at = pieces->starts[i];
			uint64_t size = pieces->starts[i + 1] - at;

			if (size > HEAD_BYTES)
				size = HEAD_BYTES;
			ret = write_file_at(fd, pieces->data + at, size, at);
		}
		if (!ret && ftruncate(fd, end))
			ret = -errno;
	}
	if (close(fd) && !ret)
		ret = -errno;
	return ret;
}

/*
 * Find by bisection how many packets are good, counted from the first one. Return this number or a
 * negative errno value.
 */
static ssize_t count_good_packets(struct ctf_files *files, const struct pieces *pieces,
				  const char *path)
{
	size_t good = 0, bad = pieces->num, try = pieces->num - 1;

	/*
	 * Usually, the last packet is truncated. Therefore, first try all packets except the last
	 * one.
	 */
	while (bad - good > 1) {
		int ret = write_packets(pieces, try, false, path);
		char *reason;

		if (ret < 0)
			return ret;
		reason = ctf_try_opening(files);
		if (reason)
			bad = try;
		else
			good = try;
		free(reason);
		try = good + (bad - good) / 2;
	}
	return good;
}

/* Write the good packets to @to. Return their size (bytes), or a negative errno value. */
static int64_t rescue_packets(struct ctf_files *files, struct pieces *pieces, const char *probe,
			      const char *to)
{
	ssize_t good;
	int ret = find_packet_starts(pieces);

	if (ret < 0 || pieces->num < 2)
		return ret;
	good = count_good_packets(files, pieces, probe);
	if (good <= 0)
		return good;
	ret = write_packets(pieces, good, true, to);
	return ret < 0 ? ret : (int64_t)pieces->starts[good];
}

static int64_t rescue_file_packets(struct ctf_files *files, const char *from, const char *probe,
				   const char *to, uint64_t *size)
{
	struct pieces pieces = { 0 };
	int fd = open(from, O_RDONLY | O_CLOEXEC);
	struct stat st;
	int64_t ret;
	void *map;

	if (fd < 0)
		return -errno;
	ret = fstat(fd, &st) ? -errno : 0;
	*size = st.st_size;
	map = MAP_FAILED;
	if (!ret && st.st_size) {
		map = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (map == MAP_FAILED)
			ret = -errno;
	}
	close(fd);
	if (map == MAP_FAILED)
		return ret;
	pieces.data = map;
	pieces.size = st.st_size;
	ret = rescue_packets(files, &pieces, probe, to);
	munmap(map, st.st_size);
	free(pieces.starts);
	return ret;
}

/* ---- the scratch directory --------------------------------------------- */

struct salvage {
	struct trace *trace;
	struct ctf_files *files;
	char *probe;  /* directory in which stream files are tried, one at a time */
	char *result; /* directory for all readable data */
};

/* Copy the undamaged part of a stream file that source.ctf.fs has rejected. */
static int salvage_damaged_file(struct salvage *salvage, const char *name, const char *reason)
{
	struct trace *trace = salvage->trace;
	char *from = io_format("%s/%s", trace->real_path, name);
	char *probe = io_format("%s/%s", salvage->probe, name);
	char *to = io_format("%s/%s", salvage->result, name);
	uint64_t size = 0;
	int64_t good = -ENOMEM;

	if (from && probe && to) {
		unlink(probe);
		good = rescue_file_packets(salvage->files, from, probe, to, &size);
		unlink(probe);
	}
	if (good < 0) {
		io_warn(trace->io,
			"%s: stream %s is damaged (%s), and its intact part could not be copied to %s: %s.",
			trace->path, name, reason, salvage->result, strerror(-good));
		if (to)
			unlink(to);
	} else if (!good) {
		io_warn(trace->io, "%s: stream %s is damaged; none of it can be read (%s).",
			trace->path, name, reason);
	} else {
		io_warn(trace->io,
			"%s: stream %s is damaged after %llu of %llu bytes; it was read up to that point (%s).",
			trace->path, name, (unsigned long long)good, (unsigned long long)size,
			reason);
	}
	trace->info.damaged++;
	free(from);
	free(probe);
	free(to);
	return 0;
}

static int salvage_file(void *arg, const char *name)
{
	struct salvage *salvage = arg;
	const char *from = salvage->trace->real_path;
	int ret = ctf_scratch_link(salvage->probe, from, name);
	char *probe, *reason;

	if (ret < 0)
		return ret;
	reason = ctf_try_opening(salvage->files);
	if (reason) {
		ret = salvage_damaged_file(salvage, name, reason);
		free(reason);
		return ret;
	}
	probe = io_format("%s/%s", salvage->probe, name);
	if (!probe)
		return -ENOMEM;
	unlink(probe);
	free(probe);
	return ctf_scratch_link(salvage->result, from, name);
}

static int make_salvage_folders(struct salvage *salvage)
{
	struct ctf_files *files = salvage->files;
	int ret = ctf_scratch_make(files);

	if (!ret)
		ret = ctf_scratch_folder(files, "probe", true, &salvage->probe);
	if (!ret)
		ret = ctf_scratch_folder(files, "trace", true, &salvage->result);
	if (!ret)
		ret = ctf_set_folder(files, salvage->probe);
	return ret;
}

static int salvage_streams(struct salvage *salvage)
{
	struct trace *trace = salvage->trace;
	int ret = ctf_for_each_stream(trace->real_path, salvage_file, salvage);
	char *reason;

	if (!ret)
		ret = ctf_set_folder(salvage->files, salvage->result);
	if (ret < 0)
		return io_fail(trace->io, ret,
			       "%s: the intact part of the trace could not be copied into %s: %s.",
			       trace->path, salvage->files->scratch, strerror(-ret));
	reason = ctf_try_opening(salvage->files);
	if (!reason)
		return 0;
	ret = io_fail(trace->io, -EILSEQ, "%s: cannot be read (%s).", trace->path, reason);
	free(reason);
	return ret;
}

int ctf_salvage_trace(struct ctf_files *files)
{
	struct trace *trace = files->trace;
	struct salvage salvage = { .trace = trace, .files = files };
	int ret;

	files->is_salvaged = true;
	ret = make_salvage_folders(&salvage);
	if (ret < 0)
		io_fail(trace->io, ret,
			"%s: the trace is damaged, and a directory for its intact part cannot be created below $TMPDIR: %s.",
			trace->path, strerror(-ret));
	else
		ret = salvage_streams(&salvage);
	free(salvage.probe);
	free(salvage.result);
	return ret;
}
