/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Single messages and flows of each direction: late messages, that is those that are received
 * before being sent or take longest, and where these are in the traces; and the flows with
 * the most messages.
 */
#ifndef NETSYNC_DETAILS_H
#define NETSYNC_DETAILS_H

#include "common/traffic.h"

struct input;
struct netsync_io;

/* Places of one end of a message, at most: several where they cannot be told apart. */
#define MAX_PLACES 4

struct trace_place {
	uint32_t file;		/* trace of the reader; behind these, text of the input */
	int64_t time_ns;	/* as written there */
	uint64_t frame;		/* as Wireshark numbers it; 0: not a capture, or not found */
};

enum { SENDER, RECEIVER, NUM_ENDS };

struct late_message {
	struct spooled_packet packet;
	struct traffic_point point;
	int64_t bound_ns;	/* of the delay; NETSYNC_UNKNOWN: none */
	struct trace_place places[NUM_ENDS][MAX_PLACES];
	unsigned int num_places[NUM_ENDS];
	struct netsync_packet seen;	/* in a capture; size 0: in none */
};

/* The messages with the same addresses, ports and protocol. */
struct traffic_flow {
	struct spooled_packet packet;	/* one of these */
	uint64_t messages;
	uint64_t bytes;		/* of payload */
	bool has_bytes;		/* of all these it is known */
	int64_t min_ns;		/* delays, as of struct traffic_way */
	int64_t median_ns;
	int64_t max_ns;
};

struct way_details {
	/* Inversions first, the largest of them at first; then the largest delays. */
	struct late_message *late;
	size_t num_late;
	struct traffic_flow *flows;	/* those with the most messages, in this order */
	size_t num_flows;
};

struct details {
	struct way_details *ways;	/* as of the traffic they are of */
	size_t num_ways;
};

/*
 * Collect what struct details is but for places. @spool: of struct spooled_packet, as
 * traffic_collect() has read it for @traffic. False: that failed, and was said.
 */
bool details_collect(struct details *details, struct spool *spool,
		     const struct traffic *traffic, const struct traffic_host *hosts);
/* flows.c: the part of it that is about flows. */
bool details_collect_flows(struct details *details, struct spool *spool,
			   const struct traffic *traffic, const struct traffic_host *hosts);

/*
 * Look late messages up in the traces that @io has read: captures are read again for the
 * numbers of their frames. False: there is not enough memory, which was said.
 */
bool details_find_places(struct details *details, const struct input *input,
			 struct netsync_io *io);

void details_release(struct details *details);

/* The number of a direction in @traffic, of which @last is the one before; -1: none. */
ptrdiff_t details_way_of(const struct traffic *traffic, const struct spooled *message,
			 ptrdiff_t last);

/* So many of @most in each of @num_ways, that these are about @all; one at least. */
static inline size_t details_share(size_t all, size_t num_ways, size_t most)
{
	const size_t each = num_ways ? all / num_ways : most;

	return each < 1 ? 1 : each < most ? each : most;
}

#endif
