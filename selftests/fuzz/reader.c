// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz trace files. A file must be read, copied with corrected times, or refused, quickly and with
 * little memory. The beginning of a file determines which reader is used, so the format of a sample
 * determines which reader is tested. Files of unknown formats are read as text.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <netsync-io.h>

/* End of the file's name, which dumps of the flight recorder need. */
#define RANK "_0"

/* The trace file is in memory. The process that creates the file removes it at its own end. */
static char named[] = "host=/dev/shm/netsync-fuzz-XXXXXX" RANK;
static char *const path = named + sizeof("host=") - 1;
static char copy[sizeof(named) + sizeof(".copy")];
static int file = -1;

static void remove_file(void)
{
	unlink(path);
}

static int put_input_file(const uint8_t *data, size_t size)
{
	if (file < 0) {
		file = mkstemps(path, sizeof(RANK) - 1);
		snprintf(copy, sizeof(copy), "%s.copy", path);
		atexit(remove_file);
	}
	return file >= 0 && !ftruncate(file, 0) && pwrite(file, data, size, 0) == (ssize_t)size;
}

static int is_odd(void *data, int64_t time_ns)
{
	(void)data;
	return time_ns >> 10 & 1;
}

static void copy_tracedat(struct netsync_io *io)
{
	static const struct netsync_io_knot knots[] = {
		{ 0, 1000 },
		{ INT64_MAX / 2, INT64_MAX / 2 },
	};

	netsync_io_copy_tracedat(io, path, copy, knots, 2, sizeof(*knots), NULL, NULL);
	unlink(copy);
	netsync_io_copy_tracedat_part(io, path, copy, knots, 2, sizeof(*knots), is_odd, NULL, NULL);
	unlink(copy);
}

static int visit_event_values(void *data, const struct netsync_io_event *event)
{
	uint64_t *sum = data;

	for (uint32_t i = 0; i < event->num_fields; i++) {
		struct netsync_io_value value = { .size = sizeof(value) };

		if (netsync_io_event_value(event, i, &value))
			continue;
		*sum += (uint64_t)value.number;
		for (uint32_t j = 0; j < value.num_bytes; j++)
			*sum += value.bytes[j];
	}
	return 0;
}

static void read_all_events(struct netsync_io *io)
{
	const struct netsync_io_source source = { path, 1 };
	uint64_t sum = 0;

	netsync_io_read_events(io, &source, 1, sizeof(source), visit_event_values, &sum);
}

static int add_microsecond(void *data, int64_t time_ns, int64_t *new_ns)
{
	(void)data;
	return __builtin_add_overflow(time_ns, 1000, new_ns) ? -ERANGE : 0;
}

static int add_frame(void *data, const struct netsync_io_frame *frame)
{
	uint64_t *sum = data;

	*sum += frame->number + (uint64_t)frame->time_ns + frame->packet->len;
	return 0;
}

static void merge_twice(struct netsync_io *io)
{
	const struct netsync_io_capture captures[] = {
		{ path, "web", NULL, "first", add_microsecond, NULL },
		{ path, "db", "second", NULL, add_microsecond, NULL },
	};
	const int fd = open(copy, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	netsync_io_merge_captures(io, captures, 2, sizeof(captures[0]), "both", fd, NULL, NULL);
	close(fd);
	unlink(copy);
}

/* Name the hosts of every other capture. The hosts of the remaining captures must be inferred. */
static void read_all_frames(struct netsync_io *io, size_t size)
{
	struct netsync_io_trace info = { .size = sizeof(info) };
	uint64_t sum = 0;

	if (netsync_io_get_trace(io, 0, &info) || strcmp(info.format, "pcap"))
		return;
	netsync_io_copy_capture(io, path, copy, add_microsecond, NULL);
	unlink(copy);
	netsync_io_read_frames(io, path, add_frame, &sum);
	merge_twice(io);
	if (size % 2)
		netsync_io_add_address(io, "host=10.0.0.1");
}

static int add_microsecond_or_leave_out(void *data, int64_t time_ns, int64_t *new_ns)
{
	const int ret = add_microsecond(data, time_ns, new_ns);

	return ret || is_odd(data, time_ns) ? ret : NETSYNC_IO_LEFT_OUT;
}

static void copy_perf(struct netsync_io *io)
{
	netsync_io_copy_perf(io, path, copy, add_microsecond, NULL);
	unlink(copy);
	netsync_io_copy_perf(io, path, copy, add_microsecond_or_leave_out, NULL);
	unlink(copy);
}

static void copy_kineto(struct netsync_io *io)
{
	netsync_io_copy_kineto(io, path, copy, add_microsecond, NULL);
	unlink(copy);
	netsync_io_copy_kineto(io, path, copy, add_microsecond_or_leave_out, NULL);
	unlink(copy);
}

static void copy_retis(struct netsync_io *io)
{
	netsync_io_copy_retis(io, path, copy, add_microsecond, NULL);
	unlink(copy);
	netsync_io_copy_retis(io, path, copy, add_microsecond_or_leave_out, NULL);
	unlink(copy);
}

static int add_host_microsecond(void *data, const char *host, int64_t time_ns, int64_t *new_ns)
{
	return *host % 2 ? add_microsecond(data, time_ns, new_ns) :
			   add_microsecond_or_leave_out(data, time_ns, new_ns);
}

static void copy_spans(struct netsync_io *io)
{
	netsync_io_copy_spans(io, path, copy, add_host_microsecond, NULL);
	unlink(copy);
}

static void read_text_by(struct netsync *ns, int (*add)(struct netsync_io *, const char *, int))
{
	struct netsync_io *io = netsync_io_new(ns);

	if (!add(io, path, 0) && !netsync_io_read(io, NULL, NULL))
		netsync_solve(ns, NULL);
	netsync_io_free(io);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct netsync *ns = netsync_new();
	struct netsync_io *io = netsync_io_new(ns);
	int found;

	/* Run the reader in this process, because a crash of the reader must end the fuzzer. */
	netsync_io_set_jobs(io, 1);
	if (!put_input_file(data, size)) {
		perror(path);
		abort();
	}
	found = netsync_io_add(io, named);
	if (found == -EPROTONOSUPPORT) {
		read_text_by(ns, netsync_io_add_packets);
		read_text_by(ns, netsync_io_add_messages);
	} else if (found > 0) {
		read_all_frames(io, size);
		if (!netsync_io_read(io, NULL, NULL))
			netsync_solve(ns, NULL);
	}
	read_all_events(io);
	copy_tracedat(io);
	copy_perf(io);
	copy_kineto(io);
	copy_retis(io);
	copy_spans(io);
	netsync_io_free(io);
	netsync_free(ns);
	return 0;
}
