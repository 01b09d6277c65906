/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The state of captures while they are merged into one (merge.c). */
#ifndef NETSYNC_IO_MERGE_H
#define NETSYNC_IO_MERGE_H

#include "io/io.h"
#include "io/pcap/ng.h"
#include "util/time-heap.h"

/*
 * The longest block that is merged, bytes. Chosen: Wireshark reads no network packet longer
 * than 256 KiB, and no packet at all above 128 MiB.
 */
#define MERGE_MAX_BLOCK ((size_t)16 << 20)
/* Interfaces of all captures together; each new one is compared with all. Chosen. */
#define MERGE_MAX_INTERFACES 65536

/* A block of pcapng with a packet that is to be written. */
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
	bool has_begun; /* the second reading */
	uint64_t size;	/* of the file, bytes */
	uint64_t end;	/* offset of the end, or of damage */
	/* Found by the first reading. */
	bool has_packets;
	int64_t first_ns;     /* new times: the earliest; */
	int64_t disorder_ns;  /* how far a packet is before another one that precedes it */
	uint32_t *interfaces; /* numbers in the merged file, of all sections in turn */
	size_t num_interfaces;
	uint64_t untimed; /* packets without a time */
	uint64_t others;  /* blocks that have no place in the merged file */
	/* Of either reading. */
	size_t section;	   /* interfaces of the sections before this one */
	size_t num_seen;   /* interfaces until now */
	int64_t newest_ns; /* the latest new time */
	/* Packets that are held back, of rising ranks. */
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
	struct ng_block block; /* that is being made */
	netsync_io_progress_func progress;
	void *progress_data;
	uint64_t done, total; /* bytes of the files, each of which is read twice */
	uint64_t looks;
	size_t out_len;
	uint8_t out[(size_t)256 << 10]; /* bytes that are written together. Chosen. */
};

#endif
