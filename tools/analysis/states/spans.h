/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Spans of time in which an object was in one state. The process that reads a host's trace writes
 * its spans to an unnamed file, in the order of their ends. Later, the spans of all hosts are read
 * from the file, merged in this order.
 */
#ifndef NETSYNC_STATES_SPANS_H
#define NETSYNC_STATES_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Used in place of a text's number if there is no text. */
#define NO_TEXT UINT32_MAX

struct state_span {
	uint32_t host;
	uint32_t definition;
	uint64_t object; /* number of the object on this host */
	uint32_t lane;	 /* number that distinguishes simultaneous objects with one name */
	/* Numbers of texts of this host. */
	uint32_t name;
	uint32_t state;
	uint32_t shared; /* NO_TEXT if nothing is shared */
	bool is_open;	 /* whether the trace ended before the state */
	/* Whether events were lost during the state, which may therefore have ended earlier. */
	bool is_doubtful;
	int64_t begin_ns, end_ns;	    /* corrected times, limited to the window */
	int64_t begin_host_ns, end_host_ns; /* times on the clock of the host */
};

/* Counts for a definition on a host, mostly of untrusted spans. */
struct span_counts {
	uint64_t events;	 /* number of events that matched a rule */
	uint64_t doubles;	 /* begins of states of objects that were already in a state */
	uint64_t unbegun;	 /* number of states that ended while the object was in no state */
	uint64_t open, doubtful; /* numbers of open and of doubtful spans */
};

/*
 * A rule that was never used for a type of events, because no event of this type had a required
 * field.
 */
struct span_missing {
	uint32_t definition;
	uint32_t line;
	uint32_t event, field; /* names of the event and the field, as numbers of texts */
	uint64_t times;
};

/* Loss of events by the tracer of a host. */
struct span_losses {
	uint64_t places; /* number of gaps in the trace */
	uint64_t number; /* number of lost events in gaps of known size */
	bool is_known;	 /* whether the sizes of all gaps are known */
};

/* ---- writing, in the process that reads a host --------------------------- */

struct span_writer;

/* Create a writer. Return NULL if out of memory. */
struct span_writer *span_writer_new(FILE *out);
/*
 * Convert a text to UTF-8 without control characters, and return its number. Return NO_TEXT if out
 * of memory.
 */
uint32_t span_put_text(struct span_writer *writer, const char *text);
void span_put(struct span_writer *writer, const struct state_span *span);
void span_put_missing(struct span_writer *writer, const struct span_missing *missing);
void span_put_counts(struct span_writer *writer, uint32_t definition,
		     const struct span_counts *counts);
void span_put_losses(struct span_writer *writer, const struct span_losses *losses);

/* ---- reading ------------------------------------------------------------- */

struct spans;

/* Create a temporary file in $TMPDIR for spans. On failure, print a message and return NULL. */
struct spans *spans_new(uint32_t num_hosts);
void spans_free(struct spans *spans);
FILE *spans_get_file(struct spans *spans);
/* Record that the file from @begin to its end contains the spans of a host. Return the end. */
off_t spans_set_part(struct spans *spans, uint32_t host, off_t begin);

struct spans_listener {
	/* Called for each span. Return false to stop. */
	bool (*span)(void *data, const struct state_span *span);
	void (*missing)(void *data, uint32_t host, const struct span_missing *missing);
	void (*counts)(void *data, uint32_t host, uint32_t definition,
		       const struct span_counts *counts);
	void (*losses)(void *data, uint32_t host, const struct span_losses *losses);
	void *data;
};

/*
 * Pass all records to the listener. Return false if the listener returned false. If reading failed,
 * print a message and return false.
 */
bool spans_read(struct spans *spans, const struct spans_listener *listener);
/* Return the text with this number. A record that was already read must have defined the text. */
const char *spans_get_text(const struct spans *spans, uint32_t host, uint32_t number);

#endif
