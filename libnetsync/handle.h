/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* struct netsync contains all input and the results of the last netsync_solve(). */
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

/* Results about a host from the messages in one part of the pairs; see get_pair_part(). */
struct used {
	int64_t last; /* latest time of messages that were used and not deferred, ns */
	struct resolution resolution; /* the resolution of the timestamps */
};

struct netsync {
	struct host *host;
	size_t num_hosts;
	size_t host_room;
	struct steering *steering; /* array indexed by host */
	size_t steering_room;
	bool steered;		       /* whether at least one host has clock readings */
	struct used *used[PAIR_PARTS]; /* arrays indexed by host */
	size_t used_room[PAIR_PARTS];
	struct held held;
	struct early early[PAIR_PARTS];
	struct parallel parallel; /* threads that match and estimate */
	struct matcher matcher;
	struct pairs pairs;
	uint64_t packets;
	uint64_t loopback;
	uint64_t unsupported;
	netsync_packet_func packet_func;
	void *packet_data;
	netsync_message_func message_func;
	void *message_data;
	/* The results of netsync_solve(). */
	bool solved;
	uint32_t reference;
	struct netsync_pair_info *pair_info;
	size_t num_pair_info;
	char error[512];
};

/* Set the message that netsync_error() returns. Return @error. */
int handle_fail(struct netsync *ns, int error, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
int handle_fail_no_memory(struct netsync *ns);
/* Set the message for a call that cannot wait for threads, or cannot use their results. */
int handle_fail_to_match(struct netsync *ns, int error);

/* Clear the error of an earlier call, so that netsync_error() reports only the last call. */
static inline void handle_forget_error(struct netsync *ns)
{
	*ns->error = '\0';
}

struct steered_hosts handle_get_steered_hosts(const struct netsync *ns);
/* Collect what the parts of the pairs know about a host. Store it in the host. */
void handle_gather_parts(struct netsync *ns, uint32_t host);
/* Add a message, whose times are relative to the hosts' origins. Return 0 or -ENOMEM. */
int handle_add_message(struct netsync *ns, uint32_t from, uint32_t to, int64_t send, int64_t recv);
/*
 * Sort the early messages. Defer messages of hosts that have turned out to be steered. If @all is
 * true, use all other messages. Return 0 or -ENOMEM. After -ENOMEM, the next call tries again with
 * the remaining messages.
 */
int handle_sort_early_messages(struct netsync *ns, bool all);
/* Forget the results of netsync_solve(). */
void handle_drop_results(struct netsync *ns);
/* Return the number of a host, or NO_HOST if no host has this name. */
uint32_t handle_find_host(const struct netsync *ns, const char *name);

#endif
