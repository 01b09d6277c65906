/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The state of captures while they are merged into one (merge.c). */
#ifndef NETSYNC_IO_MERGE_H
#define NETSYNC_IO_MERGE_H

#include "io/io.h"
#include "io/pcap/ng.h"
#include "util/time-heap.h"

/*
 * Maximum size of a block in the merged file (bytes). Chosen: Wireshark reads no network packet
 * above 256 KiB, and no packet at all above 128 MiB.
 */
#define MERGE_MAX_BLOCK ((size_t)16 << 20)
/*
 * Maximum number of interfaces of all captures together. Each new interface is compared with all
 * others. Chosen.
 */
#define MERGE_MAX_INTERFACES 65536

/* A pcapng block with a packet that has not been written yet. */
struct held_packet {
	size_t len;
	uint8_t bytes[];
};

struct described_interface {
	uint64_t hash;
	struct ng_block block;
};

struct merged_capture {
	struct netsync_io_capture of;
	struct capture_file capture;
	bool is_open;
	bool has_begun; /* whether the second reading has begun */
	uint64_t size;	/* size of the file (bytes) */
	uint64_t end;	/* offset of the end of the file or of damage (bytes) */
	/* The first reading sets the following members. */
	bool has_packets;
	int64_t first_ns;     /* earliest corrected time (ns) */
	int64_t disorder_ns;  /* by how much a packet precedes an earlier one, at most (ns) */
	uint32_t *interfaces; /* numbers of the interfaces in the merged file */
	size_t num_interfaces;
	uint64_t untimed; /* number of packets without a time */
	uint64_t others;  /* number of blocks that cannot be merged */
	/* State while the capture is read. */
	size_t section;	   /* number of interfaces in all earlier sections */
	size_t num_seen;   /* number of interfaces so far */
	int64_t newest_ns; /* latest corrected time (ns) */
	/* Deferred packets. Their ranks increase. */
	struct time_heap held;
	size_t held_room;
	size_t held_bytes;
	uint64_t num_held;
};

struct capture_merge {
	struct netsync_io *io;
	int fd;
	struct merged_capture *captures;
	size_t num;
	struct described_interface *interfaces;
	size_t num_interfaces;
	struct ng_block block; /* the current block */
	netsync_io_progress_func progress;
	void *progress_data;
	uint64_t done, total; /* bytes that were read, and all bytes; each file is read twice */
	uint64_t looks;
	size_t out_len;
	uint8_t out[(size_t)256 << 10]; /* bytes that are written together; size chosen */
};

#endif
