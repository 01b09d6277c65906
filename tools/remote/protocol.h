/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The protocol between netsync and its agents, with the requests, the members of each line, and
 * their limits. Both ends check each line before they use any of it, because the other end may
 * have any version, be damaged, or be hostile.
 */
#ifndef NETSYNC_PROTOCOL_H
#define NETSYNC_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <json.h>

/*
 * Maximum sizes of a line and of a block of data, bytes. Each of them is kept in memory
 * completely. Chosen.
 */
#define PROTOCOL_LINE (1 << 20)
#define PROTOCOL_DATA (1 << 20)
/* Minimum amount of data in each time limit, bytes. A slower sender is lost. */
#define PROTOCOL_STEP (1 << 16)
/* Maximum size of a message, which may list the names of many events, bytes. */
#define PROTOCOL_SENTENCE (1 << 16)
/*
 * Maximum for counts of bytes, packets, events and ns. It is above all possible values, and the
 * sum of several such counts still fits.
 */
#define PROTOCOL_COUNT (INT64_C(1) << 60)
/* Size of the parts of a long text, bytes. As JSON, each part fits into a pipe at once. */
#define PROTOCOL_PIECE 8192
/* Maximum number of addresses of one machine, because containers can add hundreds. Chosen. */
#define PROTOCOL_ADDRESSES 256
/*
 * Maximum number of clock readings in a line. There are ten per second, and a line may contain
 * those of half a minute. Chosen.
 */
#define PROTOCOL_CLOCKS 256

/* Size of an error message, bytes. Chosen. */
#define PROTOCOL_WHY 160

struct protocol_member;

struct protocol_request {
	const char *name;
	unsigned int limit_s; /* time limit of an answer */
	bool data;	      /* data may precede the answer */
	const struct protocol_member *members;
};

/* Find a request by its name. Return NULL if there is no such request. */
const struct protocol_request *protocol_find_request(const char *name);

/* Are the members of a request, or of an agent's line, valid? */
bool protocol_check_request(const struct protocol_request *request, struct json_object *object,
			    char why[PROTOCOL_WHY]);
bool protocol_check_answer(struct json_object *object, char why[PROTOCOL_WHY]);

#endif
