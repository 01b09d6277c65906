/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files of packets, pcap and pcapng, block by block as they lie.
 *
 * libpcap reads these, too, but of a pcapng file neither several link types
 * nor the blocks of interfaces, nor the direction of a packet; and to write a
 * corrected copy the blocks have to be walked in any case.
 *
 * What is in memory is a window of fixed size, however large file and blocks
 * are: of a block larger than that the rest is skipped.
 */
#ifndef NETSYNC_IO_CAPTURE_H
#define NETSYNC_IO_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How pcap files begin, by their units of time. */
#define CAPTURE_PCAP_US UINT32_C(0xa1b2c3d4)
#define CAPTURE_PCAP_NS UINT32_C(0xa1b23c4d)

enum capture_kind {
	CAPTURE_HEADER,		/* of a pcap file or of a section */
	CAPTURE_INTERFACE,
	CAPTURE_PACKET,
	CAPTURE_STATISTICS,	/* of an interface */
	CAPTURE_OTHER,
};

enum capture_dir {
	CAPTURE_UNKNOWN,
	CAPTURE_IN,
	CAPTURE_OUT,
};

struct capture_interface {
	uint16_t link;		/* LINKTYPE_... */
	uint8_t resolution;	/* as if_tsresol: 9 is 10^-9 s, 0x80 + 30 2^-30 s */
	int64_t offset_s;	/* to be added to all its times */
};

struct capture_block {
	enum capture_kind kind;
	uint64_t at;		/* in the file */
	uint64_t size;		/* in the file, with all that belongs to it */
	const uint8_t *bytes;	/* valid until the next one is read; */
	size_t loaded;		/* so many of them */
	size_t options;		/* where these begin in it; 0: it has none */
	const struct capture_interface *interface;
	uint32_t interface_id;

	/* Of packets. */
	bool has_time;
	size_t time_at;		/* where ticks are in it */
	uint64_t ticks;		/* of the interface's resolution */
	const uint8_t *data;
	size_t captured;	/* bytes of data, as loaded */
	uint32_t original;	/* as many as the packet had */
	enum capture_dir dir;
};

/* Options of pcapng, as they lie in a block. */
struct capture_option {
	uint16_t code;
	uint16_t len;
	const uint8_t *value;	/* len bytes */
};

enum {
	OPTION_END = 0,
	OPTION_IF_IPV4 = 4,	/* of interfaces: address and mask */
	OPTION_IF_IPV6 = 5,	/* address and length of the prefix */
	OPTION_IF_MAC = 6,
	OPTION_IF_TSRESOL = 9,
	OPTION_IF_TSOFFSET = 14,
	OPTION_EPB_FLAGS = 2,	/* of packets: the direction in two bits */
	OPTION_ISB_START = 2,	/* of statistics: times */
	OPTION_ISB_END = 3,
};

#define RESOLUTION_NS 9

struct capture {
	int fd;
	bool ng;		/* pcapng */
	bool swapped;		/* not this machine's byte order */
	uint8_t *window;
	uint64_t window_at;	/* in the file */
	size_t window_len;
	uint64_t next;		/* where the next block is */
	struct capture_interface *interfaces;
	size_t num_interfaces;
	size_t interface_room;
	const char *damage;	/* why capture_next() failed; a clause */
};

/* Does a file begin like one of these? */
bool capture_claims(const uint8_t *head, size_t len);

/* To be closed in every case. 0, or -errno. */
int capture_open(struct capture *capture, const char *path);
void capture_close(struct capture *capture);

/*
 * 1: there is a block; 0: the file ends; -EILSEQ: what follows is none, and
 * capture->damage says why; -ENOMEM, or what the system says.
 */
int capture_next(struct capture *capture, struct capture_block *block);

/* At first *at is block->options. False: there is no further one. */
bool capture_next_option(const struct capture *capture,
			 const struct capture_block *block, size_t *at,
			 struct capture_option *option);

/* In the byte order of the file. */
uint64_t capture_u64(const struct capture *capture, const uint8_t *bytes);
/* Times of pcapng are two words, the higher one first in any order. */
uint64_t capture_ticks(const struct capture *capture, const uint8_t *bytes);

/* Rounded down. False: it does not fit into 64 bits. */
bool capture_time(const struct capture_interface *interface, uint64_t ticks,
		  int64_t *time_ns);
/* How long a tick is, rounded up. */
int64_t capture_tick_ns(const struct capture_interface *interface);

#endif
