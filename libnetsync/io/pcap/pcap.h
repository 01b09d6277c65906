/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Captures: the reader (pcap.c), and in which direction their packets went
 * (addresses.c).
 */
#ifndef NETSYNC_IO_PCAP_H
#define NETSYNC_IO_PCAP_H

#include "io/direction/direction.h"
#include "io/pcap/capture.h"

/* Interfaces that are told apart. */
#define MAX_INTERFACES 64

struct pcap {
	struct capture capture;
	bool is_open;
	bool has_begun;
	uint64_t end;		/* what is behind it was not there or damaged */
	uint64_t unmarked;	/* packets that do not tell their direction */
	bool alone;		/* no other trace has seen a packet of it */
	struct own found;	/* addresses in the file itself */
	const struct own *own;	/* all of the host's that are known */
	struct samples samples;
	struct samples inside;	/* by packet_key_inside(), of packets that tell */
	struct samples directed;	/* no direction, and of those that do */
	struct common_mac macs[MAX_INTERFACES];
	uint64_t cut;
	uint64_t untold;
};

/* One packet, as far as it could be read. */
struct seen {
	int64_t time_ns;	/* INT64_MAX: beyond what can be shown */
	int64_t tick_ns;	/* it may have been so much later, less 1 ns */
	uint32_t interface;
	enum frame_result result;
	struct frame_link link;
	struct netsync_packet pkt;
};

static inline bool is_pcap(const struct trace *trace)
{
	return trace->reader == &pcap_reader;
}

/* Open it, at its beginning: 0, or negative: io_fail() was called. */
int pcap_open_capture(struct trace *trace);
void pcap_close_capture(struct pcap *pcap);
/* The next packet; 0: there is none; negative: io_fail() was called. */
int pcap_next_packet(struct trace *trace, struct seen *seen);

int pcap_prepare(struct netsync_io *io);

#endif
