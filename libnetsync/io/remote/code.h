/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Packet events in few bytes, to be sent to another machine: only the differences from the last
 * event of the same flow, in numbers of seven bits a byte (util/leb128.h). The bytes are the
 * same on machines of any byte order.
 */
#ifndef NETSYNC_IO_REMOTE_CODE_H
#define NETSYNC_IO_REMOTE_CODE_H

#include "io/io.h"

/*
 * Flows whose last packets are known, and sk_buffs. Both powers of two, chosen: both
 * sides keep 140 KiB for a trace.
 */
#define CODE_FLOWS 1024
#define CODE_SKBS 256

/* Limit of the size of an event (bytes): some forty numbers of up to ten bytes. */
#define CODE_MAX_EVENT 512

/* State that both sides keep of the events of a trace; all zero at first. */
struct code {
	int64_t time_ns;
	struct {
		struct netsync_packet pkt;
		struct observation_point at;
	} flows[CODE_FLOWS];
	uint64_t skbs[CODE_SKBS];
};

/* Bytes that are put, for which there has to be room, */
struct code_put {
	uint8_t *at;
};

/* and taken; bad: there were less of them, or too large a number. */
struct code_take {
	const uint8_t *at, *end;
	bool bad;
};

void code_put_number(struct code_put *put, uint64_t number);
void code_put_signed(struct code_put *put, int64_t number);
void code_put_bytes(struct code_put *put, const void *bytes, size_t num);

/* 0 where it is bad, as all that follows is. */
uint64_t code_take_number(struct code_take *take);
/* At most @most. */
uint64_t code_take_up_to(struct code_take *take, uint64_t most);
int64_t code_take_signed(struct code_take *take);
void code_take_bytes(struct code_take *take, void *bytes, size_t num);

/*
 * Write a packet, and @at, where it was seen; pkt->host and pkt->point are not written. Members
 * that its fields exclude must be 0.
 */
void code_put_packet(struct code *code, struct code_put *put,
		     const struct netsync_packet *pkt, const struct observation_point *at);
void code_put_clock(struct code *code, struct code_put *put,
		    const struct clock_event *clock);
/*
 * Take an event. False: the bytes are no event, and their sender must not be trusted further.
 */
bool code_take_event(struct code *code, struct code_take *take, struct event_seen *seen);

#endif
