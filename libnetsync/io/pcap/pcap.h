/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The reader of captures (pcap.c), and the directions of their packets (addresses.c, samples.c). */
#ifndef NETSYNC_IO_PCAP_H
#define NETSYNC_IO_PCAP_H

#include "io/direction/direction.h"
#include "io/pcap/capture.h"
#include "io/pcap/file-name.h"
#include "io/pcap/growing.h"
#include "io/pcap/traits.h"

/*
 * Number of interfaces that are distinguished. Interfaces with higher numbers share slots.
 * Chosen.
 */
#define MAX_INTERFACES 64

struct pcap {
	struct capture_file capture;
	bool is_open;
	bool has_begun;
	uint64_t end; /* offset of the end, or of damage (bytes) */
	struct file_name name;
	struct traits traits;
	enum frame_mark way; /* direction of all packets without a recorded direction */
	uint64_t unmarked;   /* number of packets without a direction */
	bool alone;	     /* no other trace has its packets, or its directions are unknown */
	struct own_addresses found;	 /* addresses in the file */
	const struct own_addresses *own; /* all known addresses of the host */
	struct packet_samples samples;
	struct packet_samples inside; /* samples by packet_compute_nat_key() without direction */
	/* Samples by packet_compute_nat_key() with known direction. */
	struct packet_samples directed;
	struct common_mac macs[MAX_INTERFACES];
	uint64_t cut;
	uint64_t without_direction;
};

/* A captured packet, as far as it could be read. */
struct captured_packet {
	int64_t time_ns; /* INT64_MAX if the time does not fit into 64 bits */
	int64_t tick_ns; /* the packet's time may be later by up to tick_ns - 1 */
	uint32_t interface;
	enum frame_result result;
	struct frame_link link;
	struct netsync_packet pkt;
};

static inline bool pcap_is_capture(const struct trace *trace)
{
	return trace->reader == &pcap_reader;
}

/* Open the file at its beginning. Return 0, or a negative value after io_fail(). */
int pcap_open_capture(struct trace *trace);
void pcap_close_capture(struct pcap *pcap);
/* Read a packet. Return 1; 0 if there is none left; or a negative value after io_fail(). */
int pcap_next_packet(struct trace *trace, struct captured_packet *seen);

int pcap_prepare(struct netsync_io *io);
/* Add addresses to those of a host. Return 0, or a negative value after io_fail(). */
int pcap_keep_addresses(struct netsync_io *io, const char *host_name,
			const struct own_addresses *from);

/* group.c: name the hosts of captures. Return 0, -ENOMEM, or a negative value after io_fail(). */
int pcap_group_captures(const struct netsync_io *io);
/* Report which captures were joined. Return 0, or a negative value after io_fail(). */
int pcap_report_groups(struct netsync_io *io);

/* The selection of samples for each kind of key. */
struct samplings {
	struct sampling whole;
	struct sampling inside; /* by packet_compute_nat_key(), with or without direction */
};

/* samples.c: add a sample by packet_compute_nat_key(). Return 0 or -ENOMEM. */
int sampling_add_by_nat_key(struct sampling *sampling, struct packet_samples *samples,
			    int64_t time_ns, const struct netsync_packet *pkt, enum direction dir);
/*
 * Take samples of all captures, whose arrays are in @samplings. Return 0, or the result of
 * io_fail().
 */
int pcap_sample_captures(struct netsync_io *io, struct samplings *samplings);

#endif
