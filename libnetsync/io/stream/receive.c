// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Replay the records of a reader process as calls of io_add_event() and similar functions in this
 * process.
 */
#include <errno.h>
#include <string.h>

#include "io/stream/stream.h"

static int use_stream_events(struct stream *stream, struct bytes_take *take)
{
	struct event_seen seen;
	int ret = 0;

	while (!ret && take->at < take->end) {
		if (!code_decode_event(&stream->code, take, &seen))
			return -EPROTO;
		stream->num_packets += !seen.is_clock;
		if (stream->packets && !seen.is_clock)
			range_extend(stream->packets, seen.pkt.time_ns, seen.pkt.time_ns);
		ret = io_add_event(stream->trace, &seen);
	}
	return ret;
}

static int use_stream_span(struct stream *stream, struct bytes_take *take)
{
	const int64_t first_ns = bytes_take_signed(take);
	const int64_t last_ns = bytes_take_signed(take);

	return take->bad ? -EPROTO : io_add_span(stream->trace, first_ns, last_ns);
}

/* Read a name with its terminating NUL. */
static void take_span_name(struct bytes_take *take, char name[SPAN_NAME_SIZE])
{
	const size_t left = (size_t)(take->end - take->at);
	const size_t size = strnlen((const char *)take->at, left) + 1;

	take->bad |= size > left || size > SPAN_NAME_SIZE;
	bytes_take_copy(take, name, take->bad ? 0 : size);
}

static int use_stream_part(struct stream *stream, struct bytes_take *take)
{
	struct span_part part = { 0 };

	for (int i = 0; i < 2; i++)
		part.key[i] = bytes_take_fixed(take, sizeof(part.key[i]));
	part.check = bytes_take_fixed(take, sizeof(part.check));
	for (int i = 0; i < 2; i++)
		part.group_id[i] = bytes_take_fixed(take, sizeof(part.group_id[i]));
	part.start_ns = bytes_take_signed(take);
	part.end_ns = bytes_take_signed(take);
	part.kind = (uint32_t)bytes_take_up_to(take, NETSYNC_IO_QUEUE);
	part.role = (uint32_t)bytes_take_up_to(take, SPAN_ALL_ROLES);
	part.member = (uint32_t)bytes_take_up_to(take, UINT32_MAX);
	part.members = (uint32_t)bytes_take_up_to(take, UINT32_MAX);
	part.step = (int32_t)bytes_take_within(take, INT32_MAX);
	take_span_name(take, part.group);
	take_span_name(take, part.what);
	return take->bad || take->at < take->end ? -EPROTO : io_add_part(stream->trace, &part);
}

static int use_stream_state(struct stream *stream, struct bytes_take *take)
{
	const struct trace_counts before = trace_get_counts(stream->trace);

	if (!stream->is_quiet)
		trace_decode_counts(take, &before, stream->trace);
	return take->bad ? -EPROTO : 0;
}

static int use_stream_end(struct stream *stream, struct bytes_take *take)
{
	stream->end.read_ns = bytes_take_signed(take);
	stream->end.more = bytes_take_up_to(take, 1);
	return take->bad ? -EPROTO : 1;
}

int stream_use_record(struct stream *stream, struct netsync_io *io, const struct worker_head *head,
		      const void *payload)
{
	struct bytes_take take = bytes_take_all(payload, head->size);

	if (head->what == STREAM_ERROR)
		return io_fail(io, head->number ? -head->number : -EIO, "%s",
			       (const char *)payload);
	if (head->what == STREAM_WARNING) {
		if (!stream->is_quiet)
			io_warn(io, "%s", (const char *)payload);
		return 0;
	}
	if (!stream->trace || head->number != stream->number)
		return -EPROTO;
	switch (head->what) {
	case STREAM_EVENTS:
		return use_stream_events(stream, &take);
	case STREAM_SPAN:
		return use_stream_span(stream, &take);
	case STREAM_PART:
		return use_stream_part(stream, &take);
	case STREAM_STATE:
		return use_stream_state(stream, &take);
	case STREAM_END:
		return use_stream_end(stream, &take);
	default:
		return -EPROTO;
	}
}
