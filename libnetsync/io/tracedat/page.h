/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pages of a processor's ring buffer, as a trace.dat file has them -> events. */
#ifndef NETSYNC_TRACEDAT_PAGE_H
#define NETSYNC_TRACEDAT_PAGE_H

#include "io/tracedat/file.h"

/* A raw event. */
struct dat_event {
	uint64_t ts;
	const uint8_t *data;
	uint32_t size;
};

/* The place of reading in one processor's pages. */
struct dat_pages {
	const struct dat_file *file;
	const struct dat_buffer *buffer;
	const struct dat_cpu *cpu;
	uint64_t at; /* in the file, behind the chunk */
	uint64_t end;
	uint32_t chunks; /* compressed ones that are left */
	uint8_t *chunk;	 /* pages in memory; NULL if none were read */
	size_t chunk_size;
	/* Buffers for reading chunks, and for decompressing them. */
	struct dat_space {
		uint8_t *bytes;
		size_t size;
	} space, packed;
	size_t page;	      /* where the next page is in the chunk */
	const uint8_t *event; /* the next one in the page */
	const uint8_t *events_end;
	uint64_t ts;   /* of the previous event */
	uint64_t lost; /* events lost before it, at least */
};

/* Go to the first event. Return 0; -EILSEQ if the data is damaged; -ENOMEM. */
int dat_begin_events(struct dat_pages *pages, const struct dat_file *file,
		     const struct dat_buffer *buffer, const struct dat_cpu *cpu);
/* Read the last pages up to the last event; 1, 0 or as dat_begin_events(). */
int dat_find_last_event(struct dat_pages *pages, struct dat_event *event);
/* Read the next event. Return 1; 0 if there is none; -EILSEQ if the rest is damaged; -ENOMEM. */
int dat_next_event(struct dat_pages *pages, struct dat_event *event);
/*
 * From the first event on, skip to the last page whose time satisfies @is_before, if pages are not
 * compressed. @is_before must hold for a prefix of the times only.
 */
void dat_skip_before(struct dat_pages *pages, bool (*is_before)(const void *data, uint64_t ts),
		     const void *data);
/*
 * Copy the next page that has an event for which @keeps holds to @to, without the events before
 * the first such event and after the last one. Return 1, 0 or as dat_next_event().
 */
int dat_cut_page(struct dat_pages *pages, bool (*keeps)(const void *data, uint64_t ts),
		 const void *data, uint8_t *to);
void dat_release_pages(struct dat_pages *pages);
/*
 * The number of bytes that the compressed data of a processor hold, as its chunks declare; 0 if
 * the data is not compressed.
 */
uint64_t dat_compute_unpacked_size(const struct dat_file *file, const struct dat_buffer *buffer,
				   const struct dat_cpu *cpu);

#endif
