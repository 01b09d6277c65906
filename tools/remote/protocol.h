/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is said between netsync and its agents: which requests there are, of
 * which members each line consists, and how large these may be. Both sides hold
 * a line against this before they use any of it: the other one may be of any
 * make, damaged, or mean harm.
 */
#ifndef NETSYNC_PROTOCOL_H
#define NETSYNC_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <json.h>

/* Bytes. Each line is held in memory whole, and so are data. Chosen. */
#define PROTOCOL_LINE (1 << 20)
#define PROTOCOL_DATA (1 << 20)
/* Data that come more slowly than so many bytes in the limit are none. */
#define PROTOCOL_STEP (1 << 16)
/* Bytes of a sentence, which may list the names of many events. */
#define PROTOCOL_SENTENCE (1 << 16)
/* Bytes, packets, events, ns: nobody has more, and sums of some still fit. */
#define PROTOCOL_COUNT (INT64_C(1) << 60)
/* Bytes of a text that is sent in pieces: written as JSON, a pipe takes it at once. */
#define PROTOCOL_PIECE 8192
/* Addresses of one machine: those of containers can be hundreds. Chosen. */
#define PROTOCOL_ADDRESSES 256
/* Readings of clocks: of half a minute, ten a second. Chosen. */
#define PROTOCOL_CLOCKS 256

/* Bytes of a sentence that says what is wrong. Chosen. */
#define PROTOCOL_WHY 160

struct protocol_member;

struct protocol_request {
	const char *name;
	unsigned int limit_s;	/* the longest that an answer may take */
	bool data;		/* data may come before the answer */
	const struct protocol_member *members;
};

/* NULL: there is none of this name. */
const struct protocol_request *protocol_request(const char *name);

/* Are members of a request, or of a line of an agent, what they have to be? */
bool protocol_check_request(const struct protocol_request *request,
			    struct json_object *object, char why[PROTOCOL_WHY]);
bool protocol_check_answer(struct json_object *object, char why[PROTOCOL_WHY]);

#endif
