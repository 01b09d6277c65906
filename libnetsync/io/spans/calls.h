/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which times of a call or queue have a known order. */
#ifndef NETSYNC_IO_SPANS_CALLS_H
#define NETSYNC_IO_SPANS_CALLS_H

#include "io/spans/relations.h"

/* Maximum number of spans of one call. Chosen: retries and consumers are few. */
#define CALL_MAX_PARTS 64
/* Number of operations whose calls are counted, a power of two. Chosen. */
#define CALL_OPERATIONS 4096

/* The calls of one operation of servers, by its name. */
struct call_operation {
	uint64_t name; /* hash */
	uint64_t calls, asynchronous;
};

struct calls {
	struct call_operation operation[CALL_OPERATIONS];
	uint64_t used;	       /* number of calls and queues with both sides */
	uint64_t calls;	       /* number of these that are calls */
	uint64_t alone;	       /* number of spans without client or server */
	uint64_t asynchronous; /* number of calls of which only the starts are used */
	uint64_t disordered;   /* number of calls within one host that have a wrong order */
	uint32_t disordered_host;
	const struct name *asynchronous_what, *disordered_what; /* the first ones */
};

/* Add a part to a call, unless it has this part already. Return 0 or -ENOMEM. */
int call_add_part(struct relation *relation, const struct netsync_io_span *part);
/* Has the call both a client and a server, or a producer and a consumer? */
bool call_is_paired(const struct relation *relation);
/* Count a call when it gets its first pair, before it is used. */
void call_note_pair(struct calls *calls, const struct relation *relation);
/* Remove the roles of a call whose end has no known order. */
void call_settle(struct calls *calls, struct relation *relation);
void calls_warn(struct netsync_io *io, const struct calls *calls);

#endif
