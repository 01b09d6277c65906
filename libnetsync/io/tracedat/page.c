// SPDX-License-Identifier: LGPL-2.1-or-later
/* Decode the events in the pages of a processor's ring buffer, and the times of these events. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/tracedat/page.h"

/* Number of bytes of uncompressed data that are read at a time. Chosen: 16 pages of 4 KiB. */
#define CHUNK_SIZE 65536
/*
 * Limits for a compressed chunk: its size after decompression (bytes), and the compression ratio. A
 * chunk that exceeds a limit is damaged. Chosen; trace-cmd compresses ten pages at a time.
 */
#define MAX_CHUNK (16 * DAT_MAX_PAGE)
#define MAX_RATIO 4096

/* Layout of a page: its time, a long with the size of its data and flags, and its data. */
#define TIME_SIZE 8
#define DATA_MASK ((1 << 27) - 1)
#define MISSED_EVENTS (UINT32_C(1) << 31)
#define MISSED_STORED (UINT32_C(1) << 30)

/*
 * Header of an event. 5 bits contain the event's size in 32-bit words, or one of the types below.
 * 27 bits contain the time since the previous event.
 */
#define DELTA_BITS 27
enum { LARGE = 0, PADDING = 29, TIME_EXTEND = 30, TIME_STAMP = 31 };
/* Number of bits of an absolute time that are stored. The upper bits are those of the last time. */
#define STAMP_BITS 59

/* ---- chunks ------------------------------------------------------------ */

/*
 * Return space for @size bytes. The space is used again for later chunks, because requesting space
 * from the kernel for each chunk took longer than all other work. Return NULL if out of memory.
 */
static uint8_t *reserve_page_space(struct dat_space *space, size_t size)
{
	if (space->size < size) {
		free(space->bytes);
		space->bytes = malloc(size);
		space->size = space->bytes ? size : 0;
	}
	return space->bytes;
}

static int read_plain_chunk(struct dat_pages *pages)
{
	uint64_t left = pages->end - pages->at;
	size_t size = pages->buffer->page_size;

	if (size < CHUNK_SIZE)
		size = CHUNK_SIZE;
	if (size > left)
		size = left;
	pages->chunk = reserve_page_space(&pages->space, size);
	if (!pages->chunk)
		return -ENOMEM;
	pages->chunk_size = read_bytes_at(pages->file->from, pages->chunk, size, pages->at);
	pages->at += size;
	return pages->chunk_size ? 1 : -EILSEQ;
}

/* Get the sizes of the compressed chunk at pages->at. If there is no chunk, return false. */
static bool read_chunk_sizes(const struct dat_pages *pages, uint32_t *from, uint32_t *to)
{
	uint8_t sizes[8];

	if (pages->end - pages->at < sizeof(sizes) ||
	    read_bytes_at(pages->file->from, sizes, sizeof(sizes), pages->at) < sizeof(sizes))
		return false;
	*from = dat_read_number(pages->file, sizes, 4);
	*to = dat_read_number(pages->file, sizes + 4, 4);
	return *from <= pages->end - pages->at - sizeof(sizes) && *to <= MAX_CHUNK &&
	       *to / MAX_RATIO <= *from;
}

static int read_compressed_chunk(struct dat_pages *pages)
{
	uint32_t from_size, to_size;
	uint8_t *from;
	int ret = 1;

	if (!read_chunk_sizes(pages, &from_size, &to_size))
		return -EILSEQ;
	from = reserve_page_space(&pages->packed, from_size + (size_t)1);
	pages->chunk = reserve_page_space(&pages->space, to_size + (size_t)1);
	if (!from || !pages->chunk)
		ret = -ENOMEM;
	else if (read_bytes_at(pages->file->from, from, from_size, pages->at + 8) < from_size ||
		 !dat_decompress(pages->file, pages->chunk, to_size, from, from_size))
		ret = -EILSEQ;
	pages->chunk_size = to_size;
	pages->at += 8 + (uint64_t)from_size;
	pages->chunks--;
	return ret;
}

static int read_next_chunk(struct dat_pages *pages)
{
	pages->chunk = NULL;
	pages->chunk_size = pages->page = 0;
	pages->event = pages->events_end = NULL;
	if (pages->buffer->compressed)
		return pages->chunks ? read_compressed_chunk(pages) : 0;
	return pages->at < pages->end ? read_plain_chunk(pages) : 0;
}

/* ---- pages ------------------------------------------------------------- */

/* Get the number of lost events. The kernel writes it after the data if there is space. */
static uint64_t read_num_missed(const struct dat_pages *pages, const uint8_t *page, uint64_t marks)
{
	unsigned int size = pages->file->long_size;
	size_t room = page + pages->buffer->page_size - pages->events_end;
	uint64_t num = 0;

	if ((marks & MISSED_STORED) && room >= size)
		num = dat_read_number(pages->file, pages->events_end, size);
	/* A nonsensical number would make all other losses insignificant. */
	return num && num < UINT32_MAX ? num : 1;
}

static int read_next_page(struct dat_pages *pages)
{
	const struct dat_file *file = pages->file;
	const size_t page_size = pages->buffer->page_size;
	const uint8_t *page;
	uint64_t marks;
	size_t size;
	int ret;

	if (pages->page == pages->chunk_size) {
		ret = read_next_chunk(pages);
		if (ret <= 0)
			return ret;
	}
	if (pages->chunk_size - pages->page < page_size)
		return -EILSEQ;
	page = pages->chunk + pages->page;
	pages->page += page_size;
	pages->ts = dat_read_number(file, page, TIME_SIZE);
	marks = dat_read_number(file, page + TIME_SIZE, file->long_size);
	size = marks & DATA_MASK;
	if (size > page_size - TIME_SIZE - file->long_size)
		return -EILSEQ;
	pages->event = page + TIME_SIZE + file->long_size;
	pages->events_end = pages->event + size;
	if (marks & MISSED_EVENTS)
		pages->lost += read_num_missed(pages, page, marks);
	return 1;
}

/* ---- events ------------------------------------------------------------ */

static uint64_t make_stamp_absolute(uint64_t before, uint64_t stamp)
{
	stamp |= before >> STAMP_BITS << STAMP_BITS;
	/* Since @before, the stored bits may have overflowed. */
	return stamp < before ? stamp + (UINT64_C(1) << STAMP_BITS) : stamp;
}

/* Read the next record of the page. Return 1 for an event, 0 for a time or padding, or -EILSEQ. */
static int read_page_record(struct dat_pages *pages, struct dat_event *event)
{
	const struct dat_file *file = pages->file;
	size_t left = pages->events_end - pages->event, size;
	const uint8_t *at = pages->event;
	uint32_t head, type, word = 0;
	uint64_t delta;

	if (left < 4)
		return -EILSEQ;
	head = dat_read_number(file, at, 4);
	type = file->big_endian ? head >> DELTA_BITS : head & 31;
	delta = file->big_endian ? head & ((1 << DELTA_BITS) - 1) : head >> 5;
	if (type == PADDING && !delta) {
		pages->event = pages->events_end;
		return 0;
	}
	if (type == LARGE || type >= PADDING) {
		if (left < 8)
			return -EILSEQ;
		word = dat_read_number(file, at + 4, 4);
	}
	size = type == LARGE || type == PADDING ? ((size_t)word + 3) & ~(size_t)3 :
	       type >= TIME_EXTEND		? 4 :
						  type * 4;
	if (size > left - 4 || ((type == LARGE || type == PADDING) && size < 4))
		return -EILSEQ;
	pages->event += 4 + size;
	if (type == TIME_EXTEND)
		delta += (uint64_t)word << DELTA_BITS;
	if (type == TIME_STAMP)
		pages->ts = make_stamp_absolute(pages->ts, delta + ((uint64_t)word << DELTA_BITS));
	else
		pages->ts += delta;
	if (type >= PADDING)
		return 0;
	event->ts = pages->ts;
	event->data = at + (type == LARGE ? 8 : 4);
	event->size = type == LARGE ? size - 4 : size;
	return 1;
}

int dat_next_event(struct dat_pages *pages, struct dat_event *event)
{
	int ret = 0;

	while (!ret) {
		while (pages->event == pages->events_end) {
			ret = read_next_page(pages);
			if (ret <= 0)
				return ret;
		}
		ret = read_page_record(pages, event);
	}
	return ret;
}

/* Write a page that contains records of @pages. The first record comes after @ts. */
static void put_cut_page(const struct dat_pages *pages, uint8_t *to, uint64_t ts,
			 const uint8_t *first, const uint8_t *last)
{
	const struct dat_file *file = pages->file;
	const size_t page_size = pages->buffer->page_size;
	const uint8_t *page = pages->chunk + pages->page - page_size;
	const unsigned int word = file->long_size;
	const uint8_t *records = page + TIME_SIZE + word;
	uint64_t marks = dat_read_number(file, page + TIME_SIZE, word) &
			 (MISSED_EVENTS | MISSED_STORED);
	uint8_t *end = to + TIME_SIZE + word + (last - first);

	/*
	 * Events were lost before the first record. The number of lost events was stored if the
	 * page had space for it.
	 */
	if (first > records)
		marks = 0;
	else if (page + page_size - pages->events_end < (ptrdiff_t)word)
		marks &= MISSED_EVENTS;
	memset(to, 0, page_size);
	dat_put_number(file, to, ts, TIME_SIZE);
	dat_put_number(file, to + TIME_SIZE, marks | (uint64_t)(last - first), word);
	memcpy(to + TIME_SIZE + word, first, last - first);
	if (marks & MISSED_STORED)
		memcpy(end, pages->events_end, word);
}

int dat_cut_page(struct dat_pages *pages, bool (*keeps)(const void *data, uint64_t ts),
		 const void *data, uint8_t *to)
{
	int ret;

	while ((ret = read_next_page(pages)) > 0) {
		const uint8_t *first = pages->event, *last = NULL;
		struct dat_event event;
		uint64_t ts = pages->ts;

		while (pages->event != pages->events_end) {
			ret = read_page_record(pages, &event);
			if (ret < 0)
				return ret;
			if (!ret)
				continue;
			if (keeps(data, event.ts)) {
				last = pages->event;
			} else if (!last) {
				first = pages->event;
				ts = pages->ts;
			}
		}
		if (!last)
			continue;
		put_cut_page(pages, to, ts, first, last);
		return 1;
	}
	return ret;
}

int dat_begin_events(struct dat_pages *pages, const struct dat_file *file,
		     const struct dat_buffer *buffer, const struct dat_cpu *cpu)
{
	uint8_t chunks[4];

	*pages = (struct dat_pages){
		.file = file, .buffer = buffer, .cpu = cpu, .at = cpu->at, .end = cpu->at
	};
	if (!cpu->size)
		return 0;
	if (cpu->at > file->size || (buffer->compressed && file->size - cpu->at < sizeof(chunks)))
		return -EILSEQ;
	if (!buffer->compressed) {
		if (cpu->size < file->size - cpu->at)
			pages->end += cpu->size;
		else
			pages->end = file->size;
		return 0;
	}
	/* The number of chunks precedes the chunks. cpu->size does not always include it. */
	if (cpu->size < file->size - cpu->at - sizeof(chunks))
		pages->end += sizeof(chunks) + cpu->size;
	else
		pages->end = file->size;
	if (read_bytes_at(file->from, chunks, sizeof(chunks), cpu->at) < sizeof(chunks))
		return -EILSEQ;
	pages->at += sizeof(chunks);
	pages->chunks = dat_read_number(file, chunks, sizeof(chunks));
	return 0;
}

/* Go to the last pages or to the first damaged chunk. */
static void seek_last_pages(struct dat_pages *pages)
{
	const uint64_t page_size = pages->buffer->page_size;
	uint64_t left = pages->end - pages->at;
	uint32_t from, to;

	if (!pages->buffer->compressed) {
		if (left > page_size)
			pages->at += (left - 1) / page_size * page_size;
		return;
	}
	while (pages->chunks > 1 && read_chunk_sizes(pages, &from, &to)) {
		pages->at += 8 + (uint64_t)from;
		pages->chunks--;
	}
}

int dat_find_last_event(struct dat_pages *pages, struct dat_event *event)
{
	bool any = false;
	int ret;

	seek_last_pages(pages);
	while ((ret = dat_next_event(pages, event)) > 0)
		any = true;
	/* If a page has no events, its time is after all events before it. */
	if (!any) {
		event->ts = pages->ts;
		any = pages->chunk;
	}
	return ret == -ENOMEM ? ret : any;
}

void dat_skip_before(struct dat_pages *pages, bool (*is_before)(const void *data, uint64_t ts),
		     const void *data)
{
	const uint64_t page_size = pages->buffer->page_size;
	/*
	 * The last page that is known to be before this time, and the first page that is known not
	 * to be.
	 */
	uint64_t from = 0, to;
	uint8_t time[TIME_SIZE];

	if (pages->buffer->compressed || pages->chunk)
		return;
	to = (pages->end - pages->at) / page_size;
	while (to - from > 1 && from < to) {
		const uint64_t middle = from + (to - from) / 2;

		if (read_bytes_at(pages->file->from, time, sizeof(time),
				  pages->at + middle * page_size) == sizeof(time) &&
		    is_before(data, dat_read_number(pages->file, time, sizeof(time))))
			from = middle;
		else
			to = middle;
	}
	pages->at += from * page_size;
}

uint64_t dat_compute_unpacked_size(const struct dat_file *file, const struct dat_buffer *buffer,
				   const struct dat_cpu *cpu)
{
	struct dat_pages pages;
	uint32_t from, to;
	uint64_t size = 0;

	if (!buffer->compressed || dat_begin_events(&pages, file, buffer, cpu))
		return 0;
	for (; pages.chunks && read_chunk_sizes(&pages, &from, &to); pages.chunks--) {
		pages.at += 8 + (uint64_t)from;
		size += to;
	}
	return size;
}

void dat_release_pages(struct dat_pages *pages)
{
	free(pages->space.bytes);
	free(pages->packed.bytes);
	pages->space = pages->packed = (struct dat_space){ NULL };
	pages->chunk = NULL;
	pages->chunk_size = pages->page = 0;
	pages->event = pages->events_end = NULL;
	pages->at = pages->end;
	pages->chunks = 0;
}
