/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Encode packet events in few bytes for another process: only the differences from the last event
 * of the same flow are sent, as numbers with seven bits per byte (util/bytes.h). The encoding
 * does not depend on the machine's byte order.
 */
#ifndef NETSYNC_IO_STREAM_CODE_H
#define NETSYNC_IO_STREAM_CODE_H

#include "io/io.h"
#include "util/bytes.h"

/*
 * Number of flows whose last packets are kept, and number of sk_buffs. Both are powers of two.
 * Chosen: each side keeps 140 KiB.
 */
#define CODE_FLOWS 1024
#define CODE_SKBS 256

/* Maximum size of an event (bytes): some forty numbers of up to ten bytes. */
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
 * Write a packet, and the point @at where it was seen. pkt->host and pkt->point are not written.
 * Members whose bits are not set in pkt->fields must be 0.
 */
void code_encode_packet(struct code *code, struct bytes_put *put, const struct netsync_packet *pkt,
			const struct observation_point *at);
void code_encode_clock(struct code *code, struct bytes_put *put, const struct clock_event *clock);
/*
 * Decode an event. Return false if the bytes are not an event, in which case their sender must no
 * longer be trusted.
 */
bool code_decode_event(struct code *code, struct bytes_take *take, struct event_seen *seen);

#endif
