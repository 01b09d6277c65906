/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of netsync states:
 *
 *	definition.h   read the rules of definitions
 *	words.h        split a definition into words
 *	machine.h      turn events into spans, in a process for each host
 *	object.h       keep the objects of a host
 *	value.h        read the fields of events
 *	spans.h        merge the spans of all hosts into one order
 *	between.h      find relations between spans of several objects
 *	totals.h       add up times by object and state
 *	table.c, json.c, csv.c, perfetto.c, html.c   write the output in each format
 */
#ifndef NETSYNC_STATES_H
#define NETSYNC_STATES_H

#include "between.h"
#include "timeline/timeline.h"
#include "totals.h"
#include "value.h"

/* A rule that was never used on a host, because no event had a required field. */
struct states_missing {
	uint32_t host;
	struct span_missing missing;
};

struct states {
	const struct definition *definitions;
	size_t num_definitions;
	const struct timebase *base;
	struct spans *spans;
	struct between *between;
	struct totals totals;
	struct span_counts *counts; /* by host, then by definition */
	struct span_losses *losses; /* losses of each host */
	struct states_missing *missing;
	size_t num_missing;
	const struct timeline_format *timeline; /* output format for --perfetto */
	/* Maximum number of rows for objects in the table; 0 if unlimited. */
	unsigned int limit;
	bool failed; /* memory is exhausted */
};

/*
 * Read all spans. Fill in totals, counts and losses. Unless @tell is NULL, call it for each span.
 * Return false if @tell returned false. If reading failed, print a message and return false.
 */
bool states_read(struct states *states, between_tell *tell, void *data);

static inline const struct span_counts *states_get_counts(const struct states *states,
							  uint32_t host, size_t definition)
{
	return &states->counts[host * states->num_definitions + definition];
}

/* If not everything was written, set errno and return false. If out of memory, errno is 0. */
bool states_print_table(FILE *out, struct states *states);
bool states_write_json(FILE *out, struct states *states);
bool states_write_csv(FILE *out, struct states *states);
bool states_write_perfetto(FILE *out, struct states *states);
bool states_write_html(FILE *out, struct states *states);

#endif
