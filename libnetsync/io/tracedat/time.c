// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Convert raw timestamps to the times that trace-cmd report prints, and find the clock of these
 * times.
 */
#include "io/tracedat/file.h"

/* Correct a timestamp like trace-cmd, but with products that cannot overflow. */
static uint64_t shift_dat_time_between(const struct dat_file *file, uint64_t ts,
				       const struct dat_sample *from, const struct dat_sample *to)
{
	uint64_t offset = from->offset;

	if (file->interpolate) {
		int64_t time = to->time - from->time;
		int64_t rise = (uint64_t)to->offset - (uint64_t)from->offset;
		__int128 product = (__int128)(int64_t)(ts - from->time) * rise;

		offset += (uint64_t)((product + time / 2) / time);
	}
	return (uint64_t)((unsigned __int128)ts * from->scaling >> from->fraction) + offset;
}

static uint64_t shift_dat_time(const struct dat_file *file, const struct dat_shift *shift,
			       uint64_t ts)
{
	uint32_t from = 0, to = shift->num - 1;

	if (shift->num == 1)
		return ts + shift->samples[0].offset;
	/* Find the last sample that is not after ts and that is followed by another sample. */
	while (to - from > 1) {
		uint32_t middle = from + (to - from) / 2;

		if (shift->samples[middle].time <= ts)
			from = middle;
		else
			to = middle;
	}
	return shift_dat_time_between(file, ts, &shift->samples[from], &shift->samples[from + 1]);
}

int64_t dat_convert_stamp(const struct dat_file *file, uint32_t cpu, uint64_t ts)
{
	if (cpu < file->num_shifts && file->shifts[cpu].num)
		ts = shift_dat_time(file, &file->shifts[cpu], ts);
	if (file->tsc_mult)
		ts = (uint64_t)((unsigned __int128)ts * file->tsc_mult >> file->tsc_shift);
	return (int64_t)(ts + file->offset_ns);
}

const char *dat_get_buffer_clock(const struct dat_file *file, const struct dat_buffer *buffer)
{
	if (file->tsc_mult)
		return "tsc2nsec";
	if (buffer->clock && *buffer->clock)
		return buffer->clock;
	return file->clock ? file->clock : "local";
}

const char *dat_get_clock(const struct dat_file *file)
{
	const char *clock = NULL;

	for (size_t i = 0; i < file->num_buffers; i++) {
		const struct dat_buffer *buffer = &file->buffers[i];

		if (dat_has_data(buffer) && (!clock || !*buffer->name))
			clock = dat_get_buffer_clock(file, buffer);
	}
	return clock;
}
