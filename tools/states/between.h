/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What states of objects that share something say of each other, on one host or several:
 * who waited for whom, and whether states that exclude each other were at once.
 */
#ifndef NETSYNC_STATES_BETWEEN_H
#define NETSYNC_STATES_BETWEEN_H

#include "definition.h"
#include "events/timebase.h"
#include "spans.h"

/* A span, and for whom it waited. */
struct span_told {
	struct span span;
	int64_t begin_bound_ns, end_bound_ns;	/* NETSYNC_UNKNOWN */
	bool has_holder;
	bool is_uncertain;	/* which of the two ended first */
	uint32_t holder_host;
	uint32_t holder_name;	/* text of that host */
};

/* Of a definition: pairs of spans that exclude each other. */
struct exclusion {
	uint64_t spans;		/* in such a state */
	uint64_t at_once;	/* beyond the bounds */
	uint64_t uncertain;	/* within these nobody can tell */
	/* The one of those at once that were it longest. */
	int64_t longest_ns;
	int64_t from_ns;	/* corrected */
	uint32_t hosts[2];
	uint32_t names[2];
};

/* Who waited for whom, for the same. */
struct wait {
	uint32_t definition;
	uint32_t shared_host, shared;	/* its text, of that host */
	uint32_t host, holder;	/* numbers of hosts */
	bool is_known;		/* the holder */
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
 * Take the spans in the order in which they end. Each is told again, a bit later where it
 * waited, or its object did; those of an object in their order. False: there is not enough memory, or @tell said so.
 */
typedef bool between_tell(void *data, const struct span_told *told);
bool between_take(struct between *between, const struct span *span,
		  between_tell *tell, void *data);
/* There are no more. */
bool between_end(struct between *between, between_tell *tell, void *data);

const struct exclusion *between_exclusion(const struct between *between,
					  size_t definition);
/* By definition, and who waited longest. False: there is not enough memory. */
bool between_waits(struct between *between, const struct wait **waits, size_t *num);

#endif
