// SPDX-License-Identifier: LGPL-2.1-or-later
/* Read the options of a trace.dat file: clock, machine, and offsets of buffers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/tracedat/section.h"
#include "util/array.h"

/* Maximum number of buffers (ftrace instances) in a file. Chosen. */
#define MAX_BUFFERS 64

/* In a list of clocks, return the selected one, which is in brackets. */
static char *find_chosen_clock(const char *text)
{
	const char *from = strchr(text, '['), *to = from ? strchr(from, ']') : NULL;

	return to ? strndup(from + 1, to - from - 1) : strdup(text);
}

static int compare_samples_by_time(const void *a, const void *b)
{
	const struct dat_sample *p = a, *q = b;

	return p->time < q->time ? -1 : p->time > q->time;
}

static int read_shift_samples(struct cursor *cursor, struct dat_shift *shift)
{
	shift->num = cursor_read_number(cursor, 4);
	if (cursor->bad || shift->num > (cursor->end - cursor->at) / 24) {
		shift->num = 0;
		return -EILSEQ;
	}
	shift->samples = calloc(shift->num + 1, sizeof(*shift->samples));
	if (!shift->samples)
		return -ENOMEM;
	for (uint32_t i = 0; i < shift->num; i++)
		shift->samples[i].time = cursor_read_number(cursor, 8);
	for (uint32_t i = 0; i < shift->num; i++)
		shift->samples[i].offset = cursor_read_number(cursor, 8);
	for (uint32_t i = 0; i < shift->num; i++)
		shift->samples[i].scaling = cursor_read_number(cursor, 8);
	return 0;
}

/* Files of some versions have no fractions. The scaling factors in these files are integers. */
static void read_shift_fractions(struct cursor *cursor, struct dat_file *file)
{
	if (cursor->at == cursor->end)
		return;
	for (uint32_t cpu = 0; cpu < file->num_shifts; cpu++)
		for (uint32_t i = 0; i < file->shifts[cpu].num; i++) {
			uint64_t bits = cursor_read_number(cursor, 8);

			cursor->bad |= bits > 63;
			file->shifts[cpu].samples[i].fraction = bits;
		}
}

static void sort_shift_samples(struct dat_shift *shift)
{
	uint32_t num = 0;

	qsort(shift->samples, shift->num, sizeof(*shift->samples), compare_samples_by_time);
	for (uint32_t i = 0; i < shift->num; i++)
		if (!num || shift->samples[i].time != shift->samples[num - 1].time)
			shift->samples[num++] = shift->samples[i];
	shift->num = num;
}

void dat_free_shifts(struct dat_file *file)
{
	for (uint32_t i = 0; i < file->num_shifts; i++)
		free(file->shifts[i].samples);
	free(file->shifts);
	file->shifts = NULL;
	file->num_shifts = 0;
}

/* Read a TIME_SHIFT option. If a file has several, the last one is used. */
static int read_time_shifts(struct dat_file *file, struct cursor *cursor)
{
	uint32_t num;
	int ret = 0;

	dat_free_shifts(file);
	cursor_skip(cursor, 8);
	file->interpolate = cursor_read_number(cursor, 4) & SHIFT_INTERPOLATES;
	num = cursor_read_number(cursor, 4);
	if (cursor->bad || num > (cursor->end - cursor->at) / 4)
		return dat_set_problem(file, "its option TIME_SHIFT is damaged");
	file->shifts = calloc(num + 1, sizeof(*file->shifts));
	if (!file->shifts)
		return -ENOMEM;
	for (; file->num_shifts < num && !ret; file->num_shifts++)
		ret = read_shift_samples(cursor, &file->shifts[file->num_shifts]);
	if (ret == -ENOMEM)
		return ret;
	read_shift_fractions(cursor, file);
	if (ret < 0 || cursor->bad)
		return dat_set_problem(file, "its option TIME_SHIFT is damaged");
	for (uint32_t cpu = 0; cpu < num; cpu++)
		sort_shift_samples(&file->shifts[cpu]);
	return 0;
}

struct dat_buffer *dat_add_buffer(struct dat_file *file)
{
	struct dat_buffer *last = array_add(&file->buffers, file->num_buffers, sizeof(*last));

	if (last) {
		file->num_buffers++;
		last->page_size = file->page_size;
	}
	return last;
}

/* Read the offsets and sizes of the data of @num processors. */
int dat_read_cpus(const struct dat_file *file, struct cursor *cursor, struct dat_buffer *buffer,
		  uint32_t num)
{
	if (num > DAT_MAX_CPUS || num > (cursor->end - cursor->at) / 16)
		cursor->bad = true;
	if (cursor->bad)
		return -EILSEQ;
	buffer->cpus = calloc(num + 1, sizeof(*buffer->cpus));
	if (!buffer->cpus)
		return -ENOMEM;
	buffer->list_at = cursor->at;
	for (uint32_t i = 0; i < num; i++) {
		struct dat_cpu *cpu = &buffer->cpus[i];

		cpu->number = file->version < 7 ? i : cursor_read_number(cursor, 4);
		cpu->at = cursor_read_number(cursor, 8);
		cpu->size = cursor_read_number(cursor, 8);
		cursor->bad |= cpu->number >= DAT_MAX_CPUS;
	}
	if (cursor->bad)
		return -EILSEQ;
	buffer->num_cpus = num;
	return 0;
}

/*
 * Read a buffer of version 7. The section tells whether its data are compressed. The option
 * contains all other properties of the buffer.
 */
static int read_buffer_7(struct dat_file *file, struct cursor *cursor)
{
	struct dat_buffer *buffer = dat_add_buffer(file);
	char name[256], clock[64];
	uint8_t section[4];
	uint64_t at;

	if (!buffer)
		return -ENOMEM;
	at = cursor_read_number(cursor, 8);
	cursor_read_word(cursor, name, sizeof(name));
	cursor_read_word(cursor, clock, sizeof(clock));
	buffer->name = strdup(name);
	buffer->clock = strdup(clock);
	if (!buffer->name || !buffer->clock)
		return -ENOMEM;
	buffer->page_size = cursor_read_number(cursor, 4);
	buffer->section_at = at;
	if (read_bytes_at(file->from, section, sizeof(section), at) < sizeof(section))
		return dat_set_problem(file, CUT_SHORT);
	buffer->compressed = dat_read_number(file, section + 2, 2) & SECTION_COMPRESSED;
	return dat_read_cpus(file, cursor, buffer, cursor_read_number(cursor, 4));
}

/*
 * Read a buffer of version 6. The option contains the offset of the buffer's list of processors,
 * which is read later.
 */
static int note_buffer_6(struct dat_file *file, struct cursor *cursor)
{
	struct dat_buffer *buffer = dat_add_buffer(file);
	char name[256];

	if (!buffer)
		return -ENOMEM;
	buffer->cpus = calloc(1, sizeof(*buffer->cpus));
	if (!buffer->cpus)
		return -ENOMEM;
	buffer->stored_at = cursor->at;
	buffer->cpus->at = cursor_read_number(cursor, 8);
	cursor_read_word(cursor, name, sizeof(name));
	buffer->name = strdup(name);
	return buffer->name ? 0 : -ENOMEM;
}

static int read_text_option(struct cursor *cursor, char **text)
{
	free(*text);
	*text = cursor_read_text(cursor, cursor->end - cursor->at);
	return *text || cursor->bad ? 0 : -ENOMEM;
}

/* Read an offset to add to all times: the date in us, or another offset in ns. */
static int read_offset_option(struct dat_file *file, unsigned int id, struct cursor *cursor)
{
	const bool is_date = id == OPTION_DATE;
	char *text = NULL;
	const int ret = read_text_option(cursor, &text);
	uint64_t offset;

	if (!text)
		return ret;
	offset = strtoull(text, NULL, 0) * (is_date ? 1000 : 1);
	file->offset_ns += offset;
	file->has_date = file->has_date || is_date;
	file->date_ns += is_date ? offset : 0;
	free(text);
	return ret;
}

static int read_option(struct dat_file *file, unsigned int id, struct cursor *cursor)
{
	char *text = NULL;
	int ret = 0;

	switch (id) {
	case OPTION_DATE:
	case OPTION_OFFSET:
		return read_offset_option(file, id, cursor);
	case OPTION_TRACECLOCK:
		ret = read_text_option(cursor, &text);
		free(file->clock);
		file->clock = text ? find_chosen_clock(text) : NULL;
		if (text && !file->clock)
			ret = -ENOMEM;
		break;
	case OPTION_UNAME:
		return read_text_option(cursor, &file->uname);
	case OPTION_CPUCOUNT:
		file->cpu_count = cursor_read_number(cursor, 4);
		break;
	case OPTION_TRACEID:
		file->id = cursor_read_number(cursor, 8);
		file->has_id = !cursor->bad;
		break;
	case OPTION_TIME_SHIFT:
		return read_time_shifts(file, cursor);
	case OPTION_TSC2NSEC:
		file->tsc_mult = cursor_read_number(cursor, 4);
		file->tsc_shift = cursor_read_number(cursor, 4);
		if (file->tsc_shift > 63)
			return dat_set_problem(file, "its option TSC2NSEC is damaged");
		break;
	case OPTION_BUFFER:
		if (file->num_buffers == MAX_BUFFERS)
			return dat_set_problem(file, "it has more buffers than netsync supports");
		return file->version < 7 ? note_buffer_6(file, cursor) :
					   read_buffer_7(file, cursor);
	default:
		break;
	}
	free(text);
	return ret;
}

int dat_read_options(struct dat_file *file, struct cursor *cursor, uint64_t *header_info,
		     uint64_t *next)
{
	int ret = 0;

	while (!ret) {
		unsigned int id = cursor_read_number(cursor, 2);
		struct cursor option = *cursor;
		uint32_t size;

		if (!id && file->version < 7 && !cursor->bad) {
			file->options_end = option.at - 2;
			return 0;
		}
		size = cursor_read_number(cursor, 4);
		option.at = cursor->at;
		option.end = cursor->at + size;
		cursor_skip(cursor, size);
		if (cursor->bad)
			return dat_set_problem(file, CUT_SHORT);
		if (id == OPTION_HEADER_INFO)
			*header_info = cursor_read_number(&option, 8);
		else if (id == OPTION_EVENT_FORMATS)
			file->formats_at = cursor_read_number(&option, 8);
		else if (id != OPTION_DONE)
			ret = read_option(file, id, &option);
		if (option.bad && !ret)
			ret = -EILSEQ;
		if (id == OPTION_DONE) {
			file->next_at = cursor->memory ? 0 : option.at;
			*next = cursor_read_number(&option, 8);
			break;
		}
	}
	return ret == -EILSEQ && !file->problem ?
		       dat_set_problem(file, "one of its options is damaged") :
		       ret;
}
