/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Find relations between objects that share a resource, on one host or several hosts: which object
 * waited for which, and whether mutually exclusive states overlapped.
 */
#ifndef NETSYNC_STATES_BETWEEN_H
#define NETSYNC_STATES_BETWEEN_H

#include "definition.h"
#include "events/timebase.h"
#include "spans.h"

/* A span, its bounds, and the span whose end the object waited for. */
struct reported_span {
	struct state_span span;
	int64_t begin_bound_ns, end_bound_ns; /* NETSYNC_UNKNOWN if no bound is known */
	bool has_holder;
	bool is_uncertain; /* the order of the two ends is uncertain within the bounds */
	uint32_t holder_host;
	uint32_t holder_name; /* number of a text of that host */
	uint32_t holder_lane;
	int64_t holder_end_ns; /* corrected time at which the holder's state ended */
};

/* Overlaps of mutually exclusive states, for one definition. */
struct exclusion {
	uint64_t spans;	    /* number of spans in an exclusive state */
	uint64_t at_once;   /* number of pairs that certainly overlap */
	uint64_t uncertain; /* number of pairs whose overlap is uncertain within the bounds */
	/* The pair with the longest overlap. */
	int64_t longest_ns;
	int64_t from_ns; /* corrected time when the overlap begins */
	uint32_t hosts[2];
	uint32_t names[2];
};

/* The total of all waits of one host for another host, for one shared resource. */
struct wait {
	uint32_t definition;
	uint32_t shared_host, shared; /* its text: a number, and the host that assigned it */
	uint32_t host, holder;	      /* numbers of the waiting host and of the holder's host */
	bool is_known;		      /* whether the host that was waited for is known */
	uint64_t times;
	uint64_t uncertain;
	uint64_t total_ns;
	int64_t longest_ns;
};

struct between;

/* Create the object that compares spans. Return NULL if out of memory. */
struct between *between_new(const struct definition *definitions, size_t num,
			    const struct timebase *base, const struct spans *spans);
void between_free(struct between *between);

/*
 * Add the next span, in the order of ends. @tell is called for each span. If the span's object
 * waited, @tell is called later. Spans of one object are reported in order. Return false if out of
 * memory, or if @tell returned false.
 */
typedef bool between_tell(void *data, const struct reported_span *reported);
bool between_add_span(struct between *between, const struct state_span *span, between_tell *tell,
		      void *data);
/*
 * Report the spans that are still deferred. Call this function when no other spans follow. Return
 * the same values as between_add_span().
 */
bool between_end(struct between *between, between_tell *tell, void *data);

const struct exclusion *between_get_exclusion(const struct between *between, size_t definition);
/*
 * Sort the waits by definition, then by total time, the longest first. Return false if
 * out of memory.
 */
bool between_list_waits(struct between *between, const struct wait **waits, size_t *num);

#endif
