/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Packet events in few bytes, to be sent to another process: only the differences from the last
 * event of the same flow, in numbers of seven bits a byte (util/bytes.h). The bytes are the
 * same on machines of any byte order.
 */
#ifndef NETSYNC_IO_STREAM_CODE_H
#define NETSYNC_IO_STREAM_CODE_H

#include "io/io.h"
#include "util/bytes.h"

/*
 * Flows whose last packets are known, and sk_buffs. Both powers of two, chosen: both
 * sides keep 140 KiB.
 */
#define CODE_FLOWS 1024
#define CODE_SKBS 256

/* Limit of the size of an event (bytes): some forty numbers of up to ten bytes. */
#define CODE_MAX_EVENT 512

/* State that both sides keep for decoding the events of all traces; initially zero. */
struct code {
	int64_t time_ns;
	struct {
		struct netsync_packet pkt;
		struct observation_point at;
	} flows[CODE_FLOWS];
	uint64_t skbs[CODE_SKBS];
};

/*
 * Write a packet, and @at, where it was seen; pkt->host and pkt->point are not written. Members
 * that its fields exclude must be 0.
 */
void code_encode_packet(struct code *code, struct bytes_put *put, const struct netsync_packet *pkt,
			const struct observation_point *at);
void code_encode_clock(struct code *code, struct bytes_put *put, const struct clock_event *clock);
/*
 * Decode an event. Return false if the bytes are not an event, so that their sender must not be
 * trusted further.
 */
bool code_decode_event(struct code *code, struct bytes_take *take, struct event_seen *seen);

#endif
