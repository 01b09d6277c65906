/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The pages that a processor filled in the kernel's ring buffer, as they lie in
 * a trace.dat file, and the events in them.
 */
#ifndef NETSYNC_TRACEDAT_PAGE_H
#define NETSYNC_TRACEDAT_PAGE_H

#include "io/tracedat/file.h"

/* An event, as it was recorded. */
struct dat_event {
	uint64_t ts;
	const uint8_t *data;
	uint32_t size;
};

/* Where in the pages of one processor reading is. */
struct dat_pages {
	const struct dat_file *file;
	const struct dat_buffer *buffer;
	const struct dat_cpu *cpu;
	uint64_t at;		/* in the file, behind what is in chunk */
	uint64_t end;
	uint32_t chunks;	/* compressed ones that follow */
	uint8_t *chunk;		/* some pages */
	size_t chunk_size;
	size_t page;		/* in the chunk: the next one */
	const uint8_t *event;	/* in the last one: the next one */
	const uint8_t *events_end;
	uint64_t ts;		/* of the event before it */
	uint64_t lost;		/* events, at least, before this one */
};

/* Make it stand at the first event. 0; -EILSEQ: it is damaged; -ENOMEM. */
int dat_first(struct dat_pages *pages, const struct dat_file *file,
	      const struct dat_buffer *buffer, const struct dat_cpu *cpu);
/* Read up to the last event, of the last pages alone; 1, 0 or as dat_first(). */
int dat_last(struct dat_pages *pages, struct dat_event *event);
/*
 * The next event. 1; 0: there is none; -EILSEQ: what follows is damaged;
 * -ENOMEM.
 */
int dat_next(struct dat_pages *pages, struct dat_event *event);
void dat_release(struct dat_pages *pages);

#endif
