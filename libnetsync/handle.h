/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* struct netsync: what was pushed, and the results of the last netsync_solve(). */
#ifndef NETSYNC_HANDLE_H
#define NETSYNC_HANDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "match/match.h"
#include "message/message.h"
#include "netsync.h"
#include "reduce/reduce.h"
#include "steer/held.h"
#include "util/parallel.h"

/* Of the messages of a host with others, of one part of the pairs; see pair_part(). */
struct used {
	int64_t last; /* the latest time, but of those that are held, ns */
	struct resolution resolution; /* of the stamps */
};

struct netsync {
	struct host *host;
	size_t num_hosts;
	size_t host_room;
	struct steering *steering; /* of each host */
	size_t steering_room;
	bool steered; /* any of them */
	struct used *used[PAIR_PARTS]; /* of each host */
	size_t used_room[PAIR_PARTS];
	struct held held;
	struct parallel parallel; /* threads that match, and estimate */
	struct matcher matcher;
	struct pairs pairs;
	uint64_t packets;
	uint64_t loopback;
	uint64_t unsupported;
	netsync_packet_func packet_func;
	void *packet_data;
	netsync_message_func message_func;
	void *message_data;
	/* results */
	bool solved;
	uint32_t reference;
	struct netsync_pair_info *pair_info;
	size_t num_pair_info;
	char error[512];
};

#endif
