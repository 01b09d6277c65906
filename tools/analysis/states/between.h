/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Spans of objects that share something, on one host or several: which object waited
 * for which, and whether states that exclude each other overlapped.
 */
#ifndef NETSYNC_STATES_BETWEEN_H
#define NETSYNC_STATES_BETWEEN_H

#include "definition.h"
#include "events/timebase.h"
#include "spans.h"

/* A span, its bounds, and the span whose end it waited for. */
struct span_told {
	struct state_span span;
	int64_t begin_bound_ns, end_bound_ns;	/* NETSYNC_UNKNOWN */
	bool has_holder;
	bool is_uncertain;	/* the order of the two ends, within the bounds */
	uint32_t holder_host;
	uint32_t holder_name;	/* text of that host */
	uint32_t holder_lane;
	int64_t holder_end_ns;	/* when that state ended, corrected */
};

/* Overlaps of states that exclude each other, of one definition. */
struct exclusion {
	uint64_t spans;		/* in an exclusive state */
	uint64_t at_once;	/* pairs that overlap beyond the bounds */
	uint64_t uncertain;	/* pairs that may overlap within the bounds */
	/* The pair that overlaps longest. */
	int64_t longest_ns;
	int64_t from_ns;	/* corrected */
	uint32_t hosts[2];
	uint32_t names[2];
};

/* All waits of one host for another one, for one shared thing. */
struct wait {
	uint32_t definition;
	uint32_t shared_host, shared;	/* its text, of that host */
	uint32_t host, holder;	/* numbers of hosts */
	bool is_known;		/* which host it waited for */
	uint64_t times;
	uint64_t uncertain;
	uint64_t total_ns;
	int64_t longest_ns;
};

struct between;

/* NULL: there is not enough memory. */
struct between *between_new(const struct definition *definitions, size_t num,
			    const struct timebase *base, const struct spans *spans);
void between_free(struct between *between);

/*
 * Take the next span; spans come in the order of their ends. @tell is called for each,
 * later where the object waited; spans of one object keep their order. False: there is
 * not enough memory, or @tell returned false.
 */
typedef bool between_tell(void *data, const struct span_told *told);
bool between_take(struct between *between, const struct state_span *span,
		  between_tell *tell, void *data);
/* Tell the spans that are still held back, as no other follows. Returns as above. */
bool between_end(struct between *between, between_tell *tell, void *data);

const struct exclusion *between_exclusion(const struct between *between,
					  size_t definition);
/* Sorted by definition, then by total time, the longest first. False: no memory. */
bool between_waits(struct between *between, const struct wait **waits, size_t *num);

#endif
