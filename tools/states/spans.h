/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Spans of time in which an object was in a state. Processes that read a host each put
 * theirs, in the order in which they end, into a file without a name, from which those of
 * all hosts are read again in the order in which they end.
 */
#ifndef NETSYNC_STATES_SPANS_H
#define NETSYNC_STATES_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Nothing, in place of the number of a text. */
#define NO_TEXT UINT32_MAX

struct span {
	uint32_t host;
	uint32_t definition;
	uint64_t object;	/* of this host, a number */
	uint32_t lane;		/* objects of one name at the same time have others */
	/* Numbers of texts of this host. */
	uint32_t name;
	uint32_t state;
	uint32_t shared;	/* or NO_TEXT */
	bool is_open;		/* it had not ended when the events did */
	bool is_doubtful;	/* events were lost meanwhile: it may have ended before */
	int64_t begin_ns, end_ns;	/* corrected, and cut at the window's ends */
	int64_t begin_host_ns, end_host_ns;	/* on the clock of the host */
};

/* What went less than well with the events of a definition, on a host. */
struct span_counts {
	uint64_t events;	/* that a rule was found for */
	uint64_t doubles;	/* begins of an object that was in a state already */
	uint64_t unbegun;	/* ends of one that was in none */
	uint64_t open;		/* states that did not end */
	uint64_t doubtful;	/* states of which events may be lost */
};

/* A rule that could not be used, as an event has not a field. */
struct span_missing {
	uint32_t definition;
	uint32_t line;
	uint32_t event;		/* their names: numbers of texts */
	uint32_t field;
	uint64_t times;
};

/* Of a host, as a whole. */
struct span_losses {
	uint64_t places;	/* where events were lost */
	uint64_t number;	/* so many, where it is known */
	bool is_known;		/* that is all of them */
};

/* ---- writing, in the process that reads a host --------------------------- */

struct span_writer;

/* NULL: there is not enough memory. */
struct span_writer *span_writer_new(FILE *out);
/* The number of a text, which is made UTF-8 that no terminal obeys. NO_TEXT: there is not enough memory. */
uint32_t span_text(struct span_writer *writer, const char *text);
void span_put(struct span_writer *writer, const struct span *span);
void span_put_missing(struct span_writer *writer,
		      const struct span_missing *missing);
void span_put_counts(struct span_writer *writer, uint32_t definition,
		     const struct span_counts *counts);
void span_put_losses(struct span_writer *writer,
		     const struct span_losses *losses);

/* ---- reading ------------------------------------------------------------- */

struct spans;

/* A file in $TMPDIR for so many hosts. NULL: that was said. */
struct spans *spans_new(uint32_t num_hosts);
void spans_free(struct spans *spans);
FILE *spans_file(struct spans *spans);
/* All between there and the end of the file is of this host. Return: where it ends. */
off_t spans_set(struct spans *spans, uint32_t host, off_t begin);

struct spans_listener {
	/* False: to stop. */
	bool (*span)(void *data, const struct span *span);
	void (*missing)(void *data, uint32_t host,
			const struct span_missing *missing);
	void (*counts)(void *data, uint32_t host, uint32_t definition,
		       const struct span_counts *counts);
	void (*losses)(void *data, uint32_t host,
		       const struct span_losses *losses);
	void *data;
};

/* Tell all of them. False: they cannot be read, which was said, or to be stopped. */
bool spans_read(struct spans *spans, const struct spans_listener *listener);
/* A text of what was told. */
const char *spans_text(const struct spans *spans, uint32_t host, uint32_t number);

#endif
