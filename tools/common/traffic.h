/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The messages of each pair of hosts, one direction at a time: how long they
 * took, and as many of them as can be drawn.
 */
#ifndef NETSYNC_TRAFFIC_H
#define NETSYNC_TRAFFIC_H

#include "spool.h"

struct traffic_point {
	int64_t time_ns;	/* when it was sent, on the reference clock */
	int64_t before_ns;	/* delay by the clocks as they were */
	int64_t after_ns;	/* and corrected */
};

struct traffic_way {
	uint32_t from;
	uint32_t to;
	/*
	 * Both clocks are corrected. Else times are those of the sender, and
	 * delays after are as before.
	 */
	bool corrected;
	uint64_t messages;
	int64_t first_ns;	/* of the points' times */
	int64_t last_ns;
	/* Of all messages, corrected; the first two to 3 %. */
	int64_t median_ns;
	int64_t p99_ns;
	int64_t min_ns;
	int64_t max_ns;
	/*
	 * All messages, in order of time; or where there are too many, of each
	 * short time the one with the smallest delay, the one with the largest,
	 * and some others. NULL: of too many directions this is not one of the
	 * busiest, and nothing is known of its delays.
	 */
	struct traffic_point *points;
	size_t num_points;
};

/* A message, as it is kept in a spool; times are as the hosts' clocks showed them. */
struct spooled {
	uint32_t from;
	uint32_t to;
	int64_t send_ns;
	int64_t recv_ns;
};

/*
 * Keep all messages that are found in @ns from now on. False: that was said.
 */
bool traffic_keep(struct spool *spool, struct netsync *ns);

/* A host that is met in messages. */
struct traffic_host {
	const struct netsync_clock *clock; /* NULL: it could not be corrected */
	int64_t shift_ns;	/* to be added to times before */
};

struct traffic {
	struct traffic_way *ways;	/* in order of hosts */
	size_t num_ways;
};

/*
 * Of the messages in @spool, which are between these @hosts. @max_points: about
 * so many of all directions together are kept. False: that was said.
 */
bool traffic_collect(struct traffic *traffic, struct spool *spool,
		     const struct traffic_host *hosts, size_t max_points);

void traffic_release(struct traffic *traffic);

#endif
