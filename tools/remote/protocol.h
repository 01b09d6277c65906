/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The protocol between netsync and its agents: the requests, the members of each line, and their
 * limits. Each end checks a whole line before it uses any part of the line, because the other end
 * may have any version, be damaged, or be hostile.
 */
#ifndef NETSYNC_PROTOCOL_H
#define NETSYNC_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <json.h>

/*
 * Maximum sizes of a line and of a block of data, bytes. Each line and each block is in memory as a
 * whole. Chosen.
 */
#define PROTOCOL_LINE (1 << 20)
#define PROTOCOL_DATA (1 << 20)
/* Minimum amount of data within each time limit, bytes. A sender that is slower is given up. */
#define PROTOCOL_STEP (1 << 16)
/* Maximum size of a message, which may list the names of many events, bytes. */
#define PROTOCOL_SENTENCE (1 << 16)
/*
 * Maximum for counts of bytes, packets, events and ns. The maximum exceeds all possible values, and
 * the sum of several such counts still fits into 64 bits.
 */
#define PROTOCOL_COUNT (INT64_C(1) << 60)
/*
 * Size of the parts into which a long text is divided, bytes. As JSON, each part fits into a pipe
 * as a whole.
 */
#define PROTOCOL_PIECE 8192
/* Maximum number of addresses of a machine. Containers can add hundreds of addresses. Chosen. */
#define PROTOCOL_ADDRESSES 256
/*
 * Maximum number of clock readings in a line. There are ten per second, and a line may contain the
 * readings of half a minute. Chosen.
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

/* Return whether the members of a request, or of an agent's line, are valid. */
bool protocol_check_request(const struct protocol_request *request, struct json_object *object,
			    char why[PROTOCOL_WHY]);
bool protocol_check_answer(struct json_object *object, char why[PROTOCOL_WHY]);

#endif
