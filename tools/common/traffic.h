/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Messages of each pair of hosts, by direction: quantiles of their delays, and as many points as a
 * plot can show.
 */
#ifndef NETSYNC_TRAFFIC_H
#define NETSYNC_TRAFFIC_H

#include "spool.h"

struct traffic_point {
	int64_t time_ns;   /* send time, on the reference clock */
	int64_t before_ns; /* delay measured by the uncorrected clocks */
	int64_t after_ns;  /* delay measured by the corrected clocks */
};

struct traffic_way {
	uint32_t from;
	uint32_t to;
	/*
	 * Whether both clocks are corrected. If not, times are on the sender's clock, and after_ns
	 * equals before_ns.
	 */
	bool corrected;
	uint64_t messages;
	int64_t first_ns; /* earliest time of all messages */
	int64_t last_ns;
	/*
	 * Corrected delays of all messages. The median and the 99 % quantile are accurate to 3 %.
	 */
	int64_t median_ns;
	int64_t p99_ns;
	int64_t min_ns;
	int64_t max_ns;
	/*
	 * All messages in order of time. If there are too many, these are the messages with the
	 * minimum and the maximum delay in each short interval, and some others. NULL if this
	 * direction is not among the busiest ones, so that its delays are not known.
	 */
	struct traffic_point *points;
	size_t num_points;
};

/* A message in a spool. Times are on the hosts' uncorrected clocks. */
struct spooled {
	uint32_t from;
	uint32_t to;
	int64_t send_ns;
	int64_t recv_ns;
};

/* A message, and its packet as the sender recorded it. */
struct spooled_packet {
	struct spooled message; /* first member, so that code can use the message alone */
	uint32_t fields;	/* which members are known, as in struct netsync_message */
	uint32_t len;
	uint8_t saddr[16];
	uint8_t daddr[16];
	uint16_t sport;
	uint16_t dport;
	uint8_t protocol;
};

/*
 * Store all messages that @ns finds from now on in the spool. On failure, print a message and
 * return false.
 */
bool traffic_spool_messages(struct spool *spool, struct netsync *ns);
/* Like traffic_spool_messages(), but store each message as struct spooled_packet. */
bool traffic_spool_packets(struct spool *spool, struct netsync *ns);

/* A host that exchanged messages. */
struct traffic_host {
	const struct netsync_clock *clock; /* NULL if the clock is not corrected */
	int64_t shift_ns;		   /* to add to its times before correction */
};

struct traffic {
	struct traffic_way *ways; /* directions in the order of their hosts */
	size_t num_ways;
};

/*
 * Collect the messages in @spool between these @hosts. Store about @max_points points for all
 * directions together. On failure, print a message and return false.
 */
bool traffic_collect(struct traffic *traffic, struct spool *spool, const struct traffic_host *hosts,
		     size_t max_points);

/* Return the times of a message in a direction between these hosts. */
struct traffic_point traffic_make_point(const struct traffic_host *hosts,
					const struct traffic_way *way,
					const struct spooled *message);

void traffic_release(struct traffic *traffic);

#endif
