/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files of packets, pcap and pcapng -> their blocks, as they lie in the file.
 *
 * libpcap reads neither several link types of a pcapng file, nor blocks of interfaces,
 * nor the direction of a packet; and corrected copies need the blocks in any case.
 *
 * A window of limited size is in memory, however large file and blocks are: the rest of a
 * block that is larger is skipped.
 */
#ifndef NETSYNC_IO_CAPTURE_H
#define NETSYNC_IO_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/unpack/unpack.h"

/* First words of pcap files, by their unit of time. */
#define CAPTURE_PCAP_US UINT32_C(0xa1b2c3d4)
#define CAPTURE_PCAP_NS UINT32_C(0xa1b23c4d)

enum capture_kind {
	CAPTURE_HEADER, /* of a pcap file or of a section */
	CAPTURE_INTERFACE,
	CAPTURE_PACKET,
	CAPTURE_STATISTICS, /* of an interface */
	CAPTURE_RECORD,	    /* no packet, but Wireshark numbers it among them */
	CAPTURE_OTHER,
};

enum capture_dir {
	CAPTURE_UNKNOWN,
	CAPTURE_IN,
	CAPTURE_OUT,
};

struct capture_interface {
	uint16_t link;	    /* LINKTYPE_... */
	uint32_t snaplen;   /* bytes of a packet at most; 0: any number */
	uint8_t resolution; /* as if_tsresol: 9 is 10^-9 s, 0x80 + 30 2^-30 s */
	int64_t offset_s;   /* added to all times */
};

struct capture_block {
	enum capture_kind kind;
	uint64_t at;	      /* in the file */
	uint64_t size;	      /* in the file, with head and tail */
	const uint8_t *bytes; /* valid until the next block is read */
	size_t loaded;	      /* how many are in memory */
	uint32_t type;	      /* of pcapng */
	size_t options;	      /* their offset in the block; 0 if none */
	const struct capture_interface *interface;
	uint32_t interface_id;

	/* Packets. */
	bool has_time;
	size_t time_at; /* offset of ticks in the block */
	uint64_t ticks; /* in units of the interface's resolution */
	const uint8_t *data;
	size_t captured;   /* bytes of data in memory */
	uint32_t original; /* bytes of the packet on the link */
	enum capture_dir dir;
};

/* Types of blocks of pcapng (draft-ietf-opsawg-pcapng). */
enum {
	NG_INTERFACE = 1,
	NG_OLD_PACKET = 2,
	NG_SIMPLE_PACKET = 3,
	NG_NAMES = 4,
	NG_STATISTICS = 5,
	NG_PACKET = 6,
	NG_JOURNAL = 9,
	NG_SECRETS = 10,
	NG_SYSDIG = 0x204, /* events of sysdig that Wireshark reads */
	NG_SYSDIG_2 = 0x216,
	NG_SYSDIG_LARGE = 0x221,
	NG_CUSTOM = 0xbad,
};
#define NG_SECTION UINT32_C(0x0a0d0d0a) /* a palindrome: the same in any byte order */
#define NG_ORDER UINT32_C(0x1a2b3c4d)	/* of a section, in its byte order */

/* A pcapng option in a block. */
struct capture_option {
	uint16_t code;
	uint16_t len;
	const uint8_t *value; /* len bytes */
};

enum {
	OPTION_END = 0,
	OPTION_COMMENT = 1,
	OPTION_SHB_USERAPPL = 4, /* of sections: what wrote it */
	OPTION_IF_NAME = 2,
	OPTION_IF_DESCRIPTION = 3,
	OPTION_IF_IPV4 = 4, /* of interfaces: address and mask */
	OPTION_IF_IPV6 = 5, /* address and length of the prefix */
	OPTION_IF_MAC = 6,
	OPTION_IF_TSRESOL = 9,
	OPTION_IF_FILTER = 11, /* a 0 and a text, or a 1 and instructions of BPF */
	OPTION_IF_TSOFFSET = 14,
	OPTION_EPB_FLAGS = 2,	/* of packets: the direction in two bits */
	OPTION_EPB_DROPS = 4,	/* how many were lost before it */
	OPTION_EPB_VERDICT = 7, /* a 0 and bytes, or a number from 1 on and 64 bits */
	OPTION_ISB_START = 2,	/* of statistics: times */
	OPTION_ISB_END = 3,
};

/* Value of the option if_tsresol for nanoseconds: 10^-9 s. */
#define RESOLUTION_NS 9

struct capture_file {
	struct unpacked file;
	bool ng;      /* pcapng */
	bool swapped; /* the other byte order than this machine's */
	uint8_t *window;
	uint64_t window_at; /* in the file */
	size_t window_len;
	size_t window_room;
	size_t max_window; /* may be changed behind capture_open() */
	uint64_t next;	   /* where the next block is */
	struct capture_interface *interfaces;
	size_t num_interfaces;
	size_t interface_room;
	uint64_t end;	    /* nothing is read from here on, but by what decompresses */
	const char *damage; /* why capture_next_block() failed; a clause */
};

/* Does a file of these first bytes have one of the formats? */
bool capture_has_magic(const uint8_t *head, size_t len);

/*
 * Read the file @from up to byte @end, and close it by capture_close() in every case. Return 0
 * or a negative errno value.
 */
int capture_open(struct capture_file *capture, struct disk_file *from, uint64_t end);
void capture_close(struct capture_file *capture);

/*
 * Read a block. Return 1; 0 at the end of the file; -EILSEQ if the rest is damaged, with a
 * description in capture->damage; -ENOMEM, or another errno value of the system.
 */
int capture_next_block(struct capture_file *capture, struct capture_block *block);

/*
 * Read the next option of a block; *at is block->options at first. Return false if no option is
 * left.
 */
bool capture_next_option(const struct capture_file *capture, const struct capture_block *block,
			 size_t *at, struct capture_option *option);

/* A number in the byte order of the file. */
uint16_t capture_read_u16(const struct capture_file *capture, const uint8_t *bytes);
uint32_t capture_read_u32(const struct capture_file *capture, const uint8_t *bytes);
uint64_t capture_read_u64(const struct capture_file *capture, const uint8_t *bytes);
/* A time of pcapng: two words, the higher one first in either byte order. */
uint64_t capture_read_ticks(const struct capture_file *capture, const uint8_t *bytes);

/* Convert ticks to a time, rounded down. Return false if the time does not fit into 64 bits. */
bool capture_convert_ticks(const struct capture_interface *interface, uint64_t ticks,
			   int64_t *time_ns);
/* The duration of a tick, ns, rounded up. */
int64_t capture_get_tick_ns(const struct capture_interface *interface);

#endif
