/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Details about each direction: late messages, which are received before they are sent or take
 * longest, with their places in the traces; and the flows with the most messages.
 */
#ifndef NETSYNC_DETAILS_H
#define NETSYNC_DETAILS_H

#include "common/traffic.h"

struct input;
struct netsync_io;

/*
 * Maximum number of places for one end of a message. There are several places if they cannot be
 * distinguished.
 */
#define MAX_PLACES 4

struct trace_place {
	uint32_t file;	 /* index: the reader's traces, then the input's text files */
	int64_t time_ns; /* time in the form that the file has */
	uint64_t frame;	 /* frame number in Wireshark; 0 if not a capture, or not found */
};

enum { SENDER, RECEIVER, NUM_ENDS };

struct late_message {
	struct spooled_packet packet;
	struct traffic_point point;
	int64_t bound_ns; /* error bound of the delay, or NETSYNC_UNKNOWN */
	struct trace_place places[NUM_ENDS][MAX_PLACES];
	unsigned int num_places[NUM_ENDS];
	struct netsync_packet seen; /* the packet in the capture; of size 0 if not found */
};

/* A flow consists of the messages with the same addresses, ports and protocol. */
struct traffic_flow {
	struct spooled_packet packet; /* any one message of the flow */
	uint64_t messages;
	uint64_t bytes; /* payload bytes of all messages */
	bool has_bytes; /* whether the sizes of all messages are known */
	int64_t min_ns; /* delays, as in struct traffic_way */
	int64_t median_ns;
	int64_t max_ns;
};

struct way_details {
	/* Inversions, the largest first, followed by the messages with the largest delays. */
	struct late_message *late;
	size_t num_late;
	struct traffic_flow *flows; /* flows with the most messages, the largest first */
	size_t num_flows;
};

struct details {
	struct way_details *ways; /* one for each of the traffic's directions, in the same order */
	size_t num_ways;
};

/*
 * Collect everything in struct details except the places. @spool is the spool from which
 * traffic_collect() has read @traffic. It contains struct spooled_packet. On failure, print a
 * message and return false.
 */
bool details_collect(struct details *details, struct spool *spool, const struct traffic *traffic,
		     const struct traffic_host *hosts);
/* Collect the flows (flows.c). */
bool details_collect_flows(struct details *details, struct spool *spool,
			   const struct traffic *traffic, const struct traffic_host *hosts);

/*
 * Find late messages in the traces that @io has read. Captures are read again to find frame
 * numbers. If out of memory, print a message and return false.
 */
bool details_find_places(struct details *details, const struct input *input, struct netsync_io *io);

void details_release(struct details *details);

/*
 * Return the index of a direction in @traffic, or -1 if it does not exist. @last is the index of
 * the previous message's direction.
 */
ptrdiff_t details_find_way(const struct traffic *traffic, const struct spooled *message,
			   ptrdiff_t last);

/*
 * Return a limit for each of @num_ways directions, from 1 to @most. The sum of all limits is about
 * @all.
 */
static inline size_t details_compute_share(size_t all, size_t num_ways, size_t most)
{
	const size_t each = num_ways ? all / num_ways : most;

	return each < 1 ? 1 : each < most ? each : most;
}

#endif
