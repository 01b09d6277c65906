/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Read events from the pages of a processor's ring buffer in a trace.dat file. */
#ifndef NETSYNC_TRACEDAT_PAGE_H
#define NETSYNC_TRACEDAT_PAGE_H

#include "io/tracedat/file.h"

/* A raw event. */
struct dat_event {
	uint64_t ts;
	const uint8_t *data;
	uint32_t size;
};

/* The current position in one processor's pages. */
struct dat_pages {
	const struct dat_file *file;
	const struct dat_buffer *buffer;
	const struct dat_cpu *cpu;
	uint64_t at; /* offset in the file of the byte after the chunk (bytes) */
	uint64_t end;
	uint32_t chunks; /* number of compressed chunks that are left */
	uint8_t *chunk;	 /* pages in memory, or NULL before reading */
	size_t chunk_size;
	/* Buffers to read chunks into, and to decompress them into. */
	struct dat_space {
		uint8_t *bytes;
		size_t size;
	} space, packed;
	size_t page;	      /* offset of the next page in the chunk (bytes) */
	const uint8_t *event; /* next event in the page */
	const uint8_t *events_end;
	uint64_t ts;   /* time of the previous event */
	uint64_t lost; /* minimum number of events that were lost before the next one */
};

/* Go to the first event. Return 0, -EILSEQ if the data are damaged, or -ENOMEM. */
int dat_begin_events(struct dat_pages *pages, const struct dat_file *file,
		     const struct dat_buffer *buffer, const struct dat_cpu *cpu);
/* Find the last event. Return 1, 0 if there is none, or an error like dat_begin_events(). */
int dat_find_last_event(struct dat_pages *pages, struct dat_event *event);
/* Read the next event. Return 1, 0 if there is none, -EILSEQ if the rest is damaged, or -ENOMEM. */
int dat_next_event(struct dat_pages *pages, struct dat_event *event);
/*
 * If pages are not compressed, skip from the first event to the last page whose time satisfies
 * @is_before. If @is_before is true for a time, it must be true for all earlier times.
 */
void dat_skip_before(struct dat_pages *pages, bool (*is_before)(const void *data, uint64_t ts),
		     const void *data);
/*
 * Find the next page that has an event for which @keeps is true. Copy it to @to, without the events
 * before the first such event and after the last one. Return 1, 0 if there is no such page, or an
 * error like dat_next_event().
 */
int dat_cut_page(struct dat_pages *pages, bool (*keeps)(const void *data, uint64_t ts),
		 const void *data, uint8_t *to);
void dat_release_pages(struct dat_pages *pages);
/*
 * Return the size of a processor's data after decompression (bytes), as the chunks declare it. If
 * the data are not compressed, return 0.
 */
uint64_t dat_compute_unpacked_size(const struct dat_file *file, const struct dat_buffer *buffer,
				   const struct dat_cpu *cpu);

#endif
