// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Copy a trace.dat file with corrected times. The copy is the same as the original except for an
 * added TIME_SHIFT option, which contains offsets that are added to times, for each processor.
 * trace-cmd and its library, in which the option corrects virtual machines, apply it to every
 * 64-bit time.
 *
 * If only a part of the events is copied, the pages of each processor are rewritten at their
 * offset. If the pages were compressed, they are instead appended uncompressed to the file. The
 * unused rest of their original space is a hole in the file, because no other data may move.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/io.h"
#include "io/tracedat/page.h"
#include "io/tracedat/section.h"

/* Number of bytes that are copied between two reports of the progress. Chosen. */
#define COPY_SIZE (1 << 20)

struct dat_copy {
	struct copy_task task;
	struct dat_file file;
	int fd;
	uint64_t at;  /* offset of the next bytes to write (bytes) */
	uint64_t end; /* version 7: end of the data in the original (bytes) */
	uint8_t *option;
	size_t option_size;
	netsync_io_keep_func keep; /* NULL to keep all events */
	netsync_io_progress_func progress;
	void *data; /* argument for both functions */
};

/* ---- the option -------------------------------------------------------- */

/* Return a number that exceeds the numbers of all processors. */
static uint32_t count_dat_processors(const struct dat_file *file)
{
	uint32_t num = file->cpu_count;

	for (size_t i = 0; i < file->num_buffers; i++)
		for (uint32_t j = 0; j < file->buffers[i].num_cpus; j++)
			if (file->buffers[i].cpus[j].number >= num)
				num = file->buffers[i].cpus[j].number + 1;
	return num < DAT_MAX_CPUS ? num : DAT_MAX_CPUS;
}

/* Write the knots of one processor. Offsets are interpolated between knots. All rates are 1. */
static uint8_t *put_time_shift_knots(const struct dat_file *file, uint8_t *at,
				     const struct netsync_io_knot *knots, uint32_t num)
{
	at = dat_put_number(file, at, num, 4);
	for (uint32_t i = 0; i < num; i++)
		at = dat_put_number(file, at, knots[i].time_ns - file->offset_ns, 8);
	for (uint32_t i = 0; i < num; i++)
		at = dat_put_number(file, at,
				    (uint64_t)knots[i].new_ns - (uint64_t)knots[i].time_ns, 8);
	for (uint32_t i = 0; i < num; i++)
		at = dat_put_number(file, at, 1, 8);
	return at;
}

static int make_time_shift_option(struct dat_copy *copy, const struct netsync_io_knot *knots,
				  uint32_t num)
{
	const struct dat_file *file = &copy->file;
	const uint32_t processors = count_dat_processors(file);
	/*
	 * The last array has the shifts by which the scaling is divided, which are 0 for each knot.
	 */
	uint64_t size = 8 + 4 + 4 + processors * (4 + (uint64_t)num * (3 + 1) * 8);
	uint8_t *at;

	if (size > INT32_MAX)
		return io_fail(
			copy->task.io, -ENOMEM,
			"%s: the correction of the clock has too many knots for this number of processors.",
			copy->task.from);
	copy->option_size = 2 + 4 + size;
	copy->option = calloc(1, copy->option_size);
	if (!copy->option)
		return io_fail_no_memory(copy->task.io);
	at = dat_put_number(file, copy->option, OPTION_TIME_SHIFT, 2);
	at = dat_put_number(file, at, size, 4);
	at = dat_put_number(file, at, 0, 8); /* the guest's host has no trace id */
	at = dat_put_number(file, at, SHIFT_INTERPOLATES, 4);
	at = dat_put_number(file, at, processors, 4);
	for (uint32_t i = 0; i < processors; i++)
		at = put_time_shift_knots(file, at, knots, num);
	return 0;
}

/* ---- writing ----------------------------------------------------------- */

static int write_dat_bytes(struct dat_copy *copy, const void *bytes, size_t size)
{
	while (size) {
		ssize_t num = pwrite(copy->fd, bytes, size, copy->at);

		if (num < 0 && errno == EINTR)
			continue;
		if (num < 0)
			return io_fail_file(copy->task.io, copy->task.to, -errno);
		bytes = (const char *)bytes + num;
		copy->at += num;
		size -= num;
	}
	return 0;
}

static int write_dat_number(struct dat_copy *copy, uint64_t number, unsigned int size)
{
	uint8_t bytes[8];

	dat_put_number(&copy->file, bytes, number, size);
	return write_dat_bytes(copy, bytes, size);
}

/* Copy the bytes from offset @from to @to of the original. */
static int copy_dat_bytes(struct dat_copy *copy, uint64_t from, uint64_t to)
{
	char *buffer = malloc(COPY_SIZE);
	int ret = 0;

	if (!buffer)
		return io_fail_no_memory(copy->task.io);
	while (from < to && !ret) {
		size_t size = to - from < COPY_SIZE ? to - from : COPY_SIZE;

		if (copy->progress && copy->progress(copy->data, from, copy->file.size))
			ret = io_fail(copy->task.io, -ECANCELED, "Copying was stopped.");
		else if (read_bytes_at(copy->file.from, buffer, size, from) < size)
			ret = io_fail_file(copy->task.io, copy->task.from, -EIO);
		else
			ret = write_dat_bytes(copy, buffer, size);
		from += size;
	}
	free(buffer);
	return ret;
}

/* ---- copying a part of the events --------------------------------------- */

/* A processor whose pages are written. */
struct cut {
	const struct dat_copy *copy;
	const struct dat_cpu *cpu;
};

static bool is_event_kept(const void *data, uint64_t ts)
{
	const struct cut *cut = data;
	const struct dat_copy *copy = cut->copy;

	return copy->keep(copy->data, dat_convert_stamp(&copy->file, cut->cpu->number, ts));
}

/* Write the pages of a processor at copy->at. */
static int write_kept_pages(struct dat_copy *copy, const struct dat_buffer *buffer,
			    const struct dat_cpu *cpu)
{
	const struct cut cut = { copy, cpu };
	uint8_t *page = malloc(buffer->page_size);
	struct dat_pages pages;
	int ret = page ? dat_begin_events(&pages, &copy->file, buffer, cpu) : -ENOMEM;

	while (!ret) {
		ret = dat_cut_page(&pages, is_event_kept, &cut, page);
		if (ret <= 0)
			break;
		ret = write_dat_bytes(copy, page, buffer->page_size);
		if (!ret && copy->progress && copy->progress(copy->data, pages.at, copy->file.size))
			ret = io_fail(copy->task.io, -ECANCELED, "Copying was stopped.");
	}
	if (ret == -ENOMEM)
		io_fail_no_memory(copy->task.io);
	else if (ret == -EILSEQ)
		io_fail(copy->task.io, ret,
			"%s: the events of processor %u are damaged; no part of them can be copied.",
			copy->task.from, cpu->number);
	if (page)
		dat_release_pages(&pages);
	free(page);
	return ret;
}

/* Write the pages of a processor, and store their offset. */
static int write_kept_cpu_pages(struct dat_copy *copy, const struct dat_buffer *buffer,
				struct dat_cpu *cpu)
{
	const uint64_t page_size = buffer->page_size, in_place = copy->at;
	uint64_t at;
	int ret;

	if (buffer->compressed)
		copy->at = (copy->end + page_size - 1) & ~(page_size - 1);
	at = copy->at;
	ret = write_kept_pages(copy, buffer, cpu);
	cpu->size = copy->at - at;
	if (!buffer->compressed)
		return ret;
	cpu->at = at;
	copy->end = copy->at;
	copy->at = in_place;
	return ret;
}

/* Return the first processor's data at or after @at, or NULL if there are none. */
static struct dat_cpu *find_next_cpu_data(const struct dat_copy *copy, uint64_t at,
					  struct dat_buffer **in)
{
	struct dat_cpu *next = NULL;

	for (size_t i = 0; i < copy->file.num_buffers; i++)
		for (uint32_t j = 0; j < copy->file.buffers[i].num_cpus; j++) {
			struct dat_cpu *cpu = &copy->file.buffers[i].cpus[j];

			if (!cpu->size || cpu->at < at || (next && cpu->at >= next->at))
				continue;
			next = cpu;
			*in = &copy->file.buffers[i];
		}
	return next;
}

/* Copy the bytes from offset @from to @to of the original. Copy only the events to be kept. */
static int copy_kept_range(struct dat_copy *copy, uint64_t from, uint64_t to)
{
	struct dat_buffer *buffer = NULL;
	struct dat_cpu *cpu;
	int ret = 0;

	while (!ret && copy->keep && (cpu = find_next_cpu_data(copy, from, &buffer)) &&
	       cpu->at < to) {
		const uint64_t end = cpu->size < to - cpu->at ? cpu->at + cpu->size : to;
		const uint64_t behind = copy->at + (end - from);

		ret = copy_dat_bytes(copy, from, cpu->at);
		if (!ret)
			ret = write_kept_cpu_pages(copy, buffer, cpu);
		copy->at = behind;
		from = end;
	}
	if (!ret)
		ret = copy_dat_bytes(copy, from, to);
	if (copy->end < copy->at)
		copy->end = copy->at;
	if (!ret && ftruncate(copy->fd, (off_t)copy->end))
		ret = io_fail_file(copy->task.io, copy->task.to, -errno);
	return ret;
}

/* Version 7: write the offsets of all processors' data. Mark the data as uncompressed. */
static int put_buffer_7(struct dat_copy *copy, const struct dat_buffer *buffer)
{
	uint8_t flags[2];
	int ret = 0;

	for (uint32_t i = 0; i < buffer->num_cpus && !ret; i++) {
		copy->at = buffer->list_at + i * 20 + 4;
		ret = write_dat_number(copy, buffer->cpus[i].at, 8);
		if (!ret)
			ret = write_dat_number(copy, buffer->cpus[i].size, 8);
	}
	copy->at = buffer->section_at + 2;
	if (ret || !buffer->compressed)
		return ret;
	if (read_bytes_at(copy->file.from, flags, sizeof(flags), copy->at) < sizeof(flags))
		return io_fail_file(copy->task.io, copy->task.from, -EIO);
	return write_dat_number(copy, dat_read_number(&copy->file, flags, 2) & ~SECTION_COMPRESSED,
				2);
}

/* ---- version 7 --------------------------------------------------------- */

/* Append a section of options, and link it to the last section. */
static int write_version_7(struct dat_copy *copy)
{
	const struct dat_file *file = &copy->file;
	uint8_t head[16], done[14] = { 0 };
	int ret;

	copy->end = file->size;
	ret = copy_kept_range(copy, 0, file->size);

	copy->at = copy->end;
	memset(head, 0, 4);
	memcpy(head + 4, file->description, 4);
	dat_put_number(file, head + 8, copy->option_size + sizeof(done), 8);
	dat_put_number(file, done + 2, 8, 4);
	if (!ret)
		ret = write_dat_bytes(copy, head, sizeof(head));
	if (!ret)
		ret = write_dat_bytes(copy, copy->option, copy->option_size);
	if (!ret)
		ret = write_dat_bytes(copy, done, sizeof(done));
	for (size_t i = 0; i < file->num_buffers && copy->keep && !ret; i++)
		if (dat_has_data(&file->buffers[i]))
			ret = put_buffer_7(copy, &file->buffers[i]);
	copy->at = file->next_at;
	return ret ? ret : write_dat_number(copy, copy->end, 8);
}

/* ---- version 6 --------------------------------------------------------- */

/*
 * How data move in a copy of version 6. Bytes are inserted after the options, and events move by
 * whole pages.
 */
struct move {
	uint64_t options_end;
	uint64_t by;	 /* by how much the data after options_end move (bytes) */
	uint64_t events; /* offset of the first event (bytes) */
	uint64_t events_by;
};

/*
 * Find the offset of the first event. Everything to which the file refers by offset is at or after
 * this offset.
 */
static uint64_t find_first_event_offset(const struct dat_file *file)
{
	uint64_t first = file->size;

	for (size_t i = 0; i < file->num_buffers; i++)
		for (uint32_t j = 0; j < file->buffers[i].num_cpus; j++) {
			const struct dat_cpu *cpu = &file->buffers[i].cpus[j];

			if (cpu->size && cpu->at < first)
				first = cpu->at;
		}
	return first;
}

/* Convert an offset in the original to the offset in the copy. */
static uint64_t compute_moved_offset(const struct move *move, uint64_t at)
{
	return at >= move->events      ? at + move->events_by :
	       at >= move->options_end ? at + move->by :
					 at;
}

/*
 * Correct an offset that the file contains. The offset has the value @place and is stored at @at;
 * both are offsets in the original.
 */
static int move_stored_offset(struct dat_copy *copy, const struct move *move, uint64_t at,
			      uint64_t place)
{
	if (place < move->events)
		return 0;
	copy->at = compute_moved_offset(move, at);
	return write_dat_number(copy, place + move->events_by, 8);
}

static int move_stored_offsets(struct dat_copy *copy, const struct move *move)
{
	int ret = 0;

	for (size_t i = 0; i < copy->file.num_buffers && !ret; i++) {
		const struct dat_buffer *buffer = &copy->file.buffers[i];

		/* The stored offset leads to the word "flyrecord" before the list. */
		if (buffer->stored_at)
			ret = move_stored_offset(copy, move, buffer->stored_at,
						 buffer->list_at - sizeof("flyrecord"));
		for (uint32_t j = 0; j < buffer->num_cpus && !ret; j++) {
			ret = move_stored_offset(copy, move, buffer->list_at + 16 * j,
						 buffer->cpus[j].at);
			copy->at = compute_moved_offset(move, buffer->list_at + 16 * j + 8);
			if (!ret && copy->keep)
				ret = write_dat_number(copy, buffer->cpus[j].size, 8);
		}
	}
	return ret;
}

static int write_version_6(struct dat_copy *copy)
{
	static const char begin[10] = "options  ", end[2];
	const struct dat_file *file = &copy->file;
	const uint64_t page_size = file->page_size;
	struct move move = { .options_end = file->options_end,
			     .by = copy->option_size,
			     .events = find_first_event_offset(file) };
	int ret;

	if (file->no_options)
		move.by += sizeof(begin) + sizeof(end);
	move.events_by = (move.by + page_size - 1) & ~(page_size - 1);
	if (move.events < move.options_end)
		return io_fail(
			copy->task.io, -EILSEQ,
			"%s: unexpected layout of trace.dat; trace-cmd does not write such files.",
			copy->task.from);
	ret = copy_dat_bytes(copy, 0, move.options_end);
	if (!ret && file->no_options)
		ret = write_dat_bytes(copy, begin, sizeof(begin));
	if (!ret)
		ret = write_dat_bytes(copy, copy->option, copy->option_size);
	if (!ret && file->no_options)
		ret = write_dat_bytes(copy, end, sizeof(end));
	if (!ret)
		ret = copy_dat_bytes(copy, move.options_end, move.events);
	copy->at = move.events + move.events_by;
	if (!ret)
		ret = copy_kept_range(copy, move.events, file->size);
	return ret ? ret : move_stored_offsets(copy, &move);
}

/* ---- the public call ---------------------------------------------------- */

/* Size of a knot in the first version of the library (bytes). */
#define MIN_KNOT_SIZE \
	(offsetof(struct netsync_io_knot, new_ns) + sizeof(((struct netsync_io_knot *)0)->new_ns))

/*
 * Copy the caller's knots, whose size may belong to another version of the library. Return 0. On
 * failure, call io_fail() and return a negative value.
 */
static int copy_given_knots(struct dat_copy *copy, struct netsync_io_knot **knots, const void *from,
			    uint32_t num, size_t from_size)
{
	const size_t size = sizeof(**knots);
	bool ok = num >= 2 && from_size >= MIN_KNOT_SIZE;

	*knots = calloc(num, size);
	if (!*knots && num)
		return io_fail_no_memory(copy->task.io);
	for (uint32_t i = 0; i < num && ok; i++) {
		memcpy(&(*knots)[i], (const char *)from + i * from_size,
		       size < from_size ? size : from_size);
		ok = !i || (*knots)[i - 1].time_ns < (*knots)[i].time_ns;
	}
	return ok ? 0 :
		    io_fail(copy->task.io, -EINVAL,
			    "At least two knots are required, in ascending order of time.");
}

/* Check that trace-cmd can use the option to correct this file. */
static int check_dat_file(struct dat_copy *copy)
{
	const struct dat_file *file = &copy->file;

	if (file->num_shifts)
		return io_fail(
			copy->task.io, -ENOTSUP,
			"%s: the times are already shifted (option TIME_SHIFT), and trace-cmd supports one shift only; correct the original file.",
			copy->task.from);
	if (file->tsc_mult)
		return io_fail(
			copy->task.io, -ENOTSUP,
			"%s: the clock counts cycles, which trace-cmd converts only after the correction; record with \"trace-cmd record -C mono\".",
			copy->task.from);
	for (size_t i = 0; i < file->num_buffers; i++)
		if (*file->buffers[i].name && dat_has_data(&file->buffers[i]))
			return io_fail(
				copy->task.io, -ENOTSUP,
				"%s: a named buffer (option -B of trace-cmd record) contains events, and trace-cmd displays these uncorrected; record without -B.",
				copy->task.from);
	if (file->version >= 7 && !file->next_at)
		return io_fail(copy->task.io, -ENOTSUP,
			       "%s: the options are compressed, so no option can be added.",
			       copy->task.from);
	return 0;
}

static int write_dat_copy(struct dat_copy *copy, const struct netsync_io_knot *knots, uint32_t num)
{
	int ret = check_dat_file(copy);
	struct stat st;

	if (!ret)
		ret = make_time_shift_option(copy, knots, num);
	if (ret)
		return ret;
	/* Use the path, because if the original is compressed, the open file is a copy. */
	if (stat(copy->task.from, &st))
		return io_fail_file(copy->task.io, copy->task.from, -errno);
	copy->fd = io_create_copy(&copy->task, st.st_mode);
	if (copy->fd < 0)
		return copy->fd;
	ret = copy->file.version < 7 ? write_version_6(copy) : write_version_7(copy);
	if (close(copy->fd) && !ret)
		ret = io_fail_file(copy->task.io, copy->task.to, -errno);
	return ret;
}

int netsync_io_copy_tracedat_part(struct netsync_io *io, const char *from, const char *to,
				  const struct netsync_io_knot *knots, uint32_t num,
				  uint32_t knot_size, netsync_io_keep_func keep,
				  netsync_io_progress_func progress, void *data)
{
	struct dat_copy copy = {
		.task = { io, from, to }, .keep = keep, .progress = progress, .data = data
	};
	struct netsync_io_knot *known;
	int ret = copy_given_knots(&copy, &known, knots, num, knot_size);

	if (ret) {
		free(known);
		return ret;
	}
	ret = dat_open(&copy.file, io, from);
	if (ret)
		ret = dat_fail(&copy.file, io, from, ret);
	else
		ret = write_dat_copy(&copy, known, num);
	free(known);
	free(copy.option);
	dat_close(&copy.file);
	return ret;
}

int netsync_io_copy_tracedat(struct netsync_io *io, const char *from, const char *to,
			     const struct netsync_io_knot *knots, uint32_t num, uint32_t knot_size,
			     netsync_io_progress_func progress, void *data)
{
	return netsync_io_copy_tracedat_part(io, from, to, knots, num, knot_size, NULL, progress,
					     data);
}
