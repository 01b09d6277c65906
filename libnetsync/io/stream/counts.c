// SPDX-License-Identifier: LGPL-2.1-or-later
/* Encode and decode the losses and other counts of a trace. */
#include "io/stream/stream.h"

/* Maximum value of a count. The sum of four counts still fits into 64 bits. */
#define MAX_COUNT (UINT64_MAX / 4)

struct trace_counts trace_get_counts(const struct trace *trace)
{
	const struct netsync_io_trace *info = &trace->info;

	return (struct trace_counts){ {
		info->damaged,
		info->killed,
		info->stuck,
		info->lost_events,
		info->lost_packets,
		trace->out_of_range,
		trace->unused,
	} };
}

void trace_encode_counts(struct bytes_put *put, const struct trace_counts *before,
			 const struct trace_counts *now)
{
	for (int i = 0; i < TRACE_COUNTS; i++)
		bytes_put_number(put, now->of[i] - before->of[i]);
}

/* Decode a count that is at least @before and at most @most. */
static uint64_t decode_count(struct bytes_take *take, uint64_t before, uint64_t most)
{
	return before + bytes_take_up_to(take, before < most ? most - before : 0);
}

void trace_decode_counts(struct bytes_take *take, const struct trace_counts *before,
			 struct trace *trace)
{
	struct netsync_io_trace *info = &trace->info;
	const uint64_t *of = before->of;

	info->damaged = (uint32_t)decode_count(take, of[0], UINT32_MAX);
	info->killed = (uint32_t)decode_count(take, of[1], UINT32_MAX);
	info->stuck = (uint32_t)decode_count(take, of[2], UINT32_MAX);
	info->lost_events = decode_count(take, of[3], MAX_COUNT);
	info->lost_packets = decode_count(take, of[4], MAX_COUNT);
	trace->out_of_range = decode_count(take, of[5], MAX_COUNT);
	trace->unused = decode_count(take, of[6], MAX_COUNT);
}
