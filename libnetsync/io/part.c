// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Read one part of the traces while other processes read the other parts. Packets are sent to the
 * process that distributes them, and counts to the process that reports all traces.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/io.h"
#include "io/stream/stream.h"

/*
 * Number of values, besides counts, that netsync_io_save_counts() saves for a trace. A value takes
 * at most ten bytes.
 */
#define NUMBERS 5
/* Counts of a trace before it is read. */
static const struct trace_counts none;

/* Maximum value of a count. The sum of four counts still fits into 64 bits. */
#define MAX_COUNT (UINT64_MAX / 4)

/*
 * Return the part that reads a trace. Each server belongs to one part. The server only describes
 * its traces to the other parts.
 */
static uint32_t find_part_of_trace(const struct netsync_io *io, const struct trace *trace)
{
	return (trace->is_remote ? trace->server : trace->host->index) % io->part->parts;
}

bool io_reads_texts(const struct netsync_io *io)
{
	return !io->part || !io->part->part;
}

bool io_reads_trace(const struct netsync_io *io, const struct trace *trace)
{
	return !io->part || (trace->host && find_part_of_trace(io, trace) == io->part->part);
}

int io_check_part_of_hosts(struct netsync_io *io)
{
	for (size_t i = 0; i < io->num_traces && io->part; i++) {
		const struct trace *trace = io->traces[i];
		const struct trace *base = trace->host->base;

		if (trace->reader->has_parts)
			return io_fail(
				io, -EBUSY,
				"%s: the spans of all hosts must be read by one process; use \"netsync sync\" without MPI.",
				trace->path);
		if (find_part_of_trace(io, trace) != find_part_of_trace(io, base))
			return io_fail(
				io, -EEXIST,
				"%s and %s are both traces of host %s, and one process must read all traces of a host; give one of them another host name (NAME=PATH).",
				base->path, trace->path, trace->host->name);
	}
	return 0;
}

int io_push_packet(struct netsync_io *io, const struct netsync_packet *pkt)
{
	return io->part ? io->part->packet(io->part->data, pkt) : netsync_push_packet(io->ns, pkt);
}

int io_push_clock(struct netsync_io *io, const struct netsync_clock_point *point)
{
	return io->part ? io->part->clock(io->part->data, point) :
			  netsync_push_clock(io->ns, point);
}

int io_end_slice(struct netsync_io *io, unsigned int slice, unsigned int slices, unsigned int *done)
{
	int ret;

	*done = slice;
	if (!io->part)
		return 0;
	ret = io->part->slice(io->part->data, slice, slices);
	if (ret < 0)
		return io_fail(io, ret,
			       "Another process that reads a part of the traces has ended.");
	if ((unsigned int)ret < slice)
		*done = (unsigned int)ret;
	return 0;
}

int io_end_part(struct netsync_io *io)
{
	int ret;

	if (!io->part)
		return 0;
	io->part_ended = true;
	ret = io->part->end(io->part->data);
	io->part_ended = false;
	return ret < 0 && !io->error ?
		       io_fail(io, ret,
			       "Another process that reads a part of the traces has ended.") :
		       ret;
}

int netsync_io_set_part(struct netsync_io *io, const struct netsync_io_part *part)
{
	if (part->size < sizeof(*part) || !part->parts || part->part >= part->parts ||
	    !part->packet || !part->clock || !part->slice || !part->end)
		return io_fail(io, -EINVAL, "Invalid part of the traces.");
	if (io->was_read || io->live)
		return io_fail(io, -EBUSY, "The reader has already been used.");
	free(io->part);
	io->part = malloc(sizeof(*io->part));
	if (!io->part)
		return io_fail_no_memory(io);
	memcpy(io->part, part, sizeof(*part));
	return 0;
}

int netsync_io_save_counts(struct netsync_io *io, netsync_write_func write, void *data)
{
	int ret = 0;

	if (!io->part_ended)
		return io_fail(
			io, -EBUSY,
			"Packet counts can be saved only after this part of the traces was read.");
	for (size_t i = 0; i < io->num_traces && !ret; i++) {
		const struct trace *trace = io->traces[i];
		const struct netsync_io_trace *info = &trace->info;
		const struct trace_counts counts = trace_get_counts(trace);
		uint8_t bytes[10 * (NUMBERS + TRACE_COUNTS)];
		struct bytes_put put = { bytes };

		if (!io_reads_trace(io, trace))
			continue;
		bytes_put_number(&put, i);
		bytes_put_number(&put, info->packets);
		bytes_put_signed(&put, info->first_ns);
		bytes_put_signed(&put, info->last_ns);
		trace_encode_counts(&put, &none, &counts);
		bytes_put_number(&put, trace->without_netns);
		ret = write(data, bytes, (size_t)(put.at - bytes));
	}
	return ret ? io_fail(io, ret, "Cannot write the counts.") : 0;
}

int netsync_io_merge_counts(struct netsync_io *io, const void *bytes, size_t size)
{
	struct bytes_take take = bytes_take_all(bytes, size);

	if (!io->part_ended)
		return io_fail(
			io, -EBUSY,
			"Packet counts can be merged only after this part of the traces was read.");
	while (take.at < take.end && !take.bad) {
		const size_t i = bytes_take_up_to(&take, io->num_traces - 1);
		struct trace *trace = io->num_traces ? io->traces[i] : NULL;
		struct netsync_io_trace *info;

		take.bad |= !trace || io_reads_trace(io, trace);
		if (take.bad)
			break;
		info = &trace->info;
		info->packets = bytes_take_up_to(&take, MAX_COUNT);
		info->first_ns = bytes_take_signed(&take);
		info->last_ns = bytes_take_signed(&take);
		trace_decode_counts(&take, &none, trace);
		trace->without_netns = bytes_take_up_to(&take, MAX_COUNT);
	}
	return take.bad ? io_fail(io, -EBADMSG,
				  "The counts of another part of the traces are invalid.") :
			  0;
}
