/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Read the blocks of pcap and pcapng files as they are in the file.
 *
 * libpcap is not used, because it does not support several link types in a pcapng file, interface
 * blocks, or packet directions. Corrected copies need the blocks in any case.
 *
 * Only a window of limited size is in memory, however large the file and its blocks are. The rest
 * of a larger block is skipped.
 */
#ifndef NETSYNC_IO_CAPTURE_H
#define NETSYNC_IO_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/unpack/unpack.h"

/* Magic numbers of pcap files, by their unit of time. */
#define CAPTURE_PCAP_US UINT32_C(0xa1b2c3d4)
#define CAPTURE_PCAP_NS UINT32_C(0xa1b23c4d)

enum capture_kind {
	CAPTURE_HEADER, /* header of a pcap file or of a pcapng section */
	CAPTURE_INTERFACE,
	CAPTURE_PACKET,
	CAPTURE_STATISTICS, /* statistics of an interface */
	CAPTURE_RECORD,	    /* not a packet, but Wireshark assigns a number to it */
	CAPTURE_OTHER,
};

enum capture_dir {
	CAPTURE_UNKNOWN,
	CAPTURE_IN,
	CAPTURE_OUT,
};

struct capture_interface {
	uint16_t link;	    /* LINKTYPE_... */
	uint32_t snaplen;   /* maximum number of captured bytes per packet, or 0 without a limit */
	uint8_t resolution; /* like if_tsresol: 9 means 10^-9 s, 0x80 + 30 means 2^-30 s */
	int64_t offset_s;   /* added to all times (s) */
};

struct capture_block {
	enum capture_kind kind;
	uint64_t at;	      /* offset in the file (bytes) */
	uint64_t size;	      /* size in the file, including header and trailer (bytes) */
	const uint8_t *bytes; /* valid until the next block is read */
	size_t loaded;	      /* number of bytes that are in memory */
	uint32_t type;	      /* block type of pcapng */
	size_t options;	      /* offset of the options in the block (bytes), or 0 without options */
	const struct capture_interface *interface;
	uint32_t interface_id;

	/* The following members are only for packet blocks. */
	bool has_time;
	size_t time_at; /* offset of @ticks in the block (bytes) */
	uint64_t ticks; /* in units of the interface's resolution */
	const uint8_t *data;
	size_t captured;   /* number of bytes of data in memory */
	uint32_t original; /* number of bytes of the packet on the link */
	enum capture_dir dir;
};

/* pcapng block types (draft-ietf-opsawg-pcapng). */
enum {
	NG_INTERFACE = 1,
	NG_OLD_PACKET = 2,
	NG_SIMPLE_PACKET = 3,
	NG_NAMES = 4,
	NG_STATISTICS = 5,
	NG_PACKET = 6,
	NG_JOURNAL = 9,
	NG_SECRETS = 10,
	NG_SYSDIG = 0x204, /* sysdig events, which Wireshark reads */
	NG_SYSDIG_2 = 0x216,
	NG_SYSDIG_LARGE = 0x221,
	NG_CUSTOM = 0xbad,
};
#define NG_SECTION UINT32_C(0x0a0d0d0a) /* a palindrome: the same in any byte order */
#define NG_ORDER UINT32_C(0x1a2b3c4d)	/* byte-order magic of a section */

/* An option in a pcapng block. */
struct capture_option {
	uint16_t code;
	uint16_t len;
	const uint8_t *value; /* len bytes */
};

enum {
	OPTION_END = 0,
	OPTION_COMMENT = 1,
	OPTION_SHB_USERAPPL = 4, /* sections: the program that wrote the section */
	OPTION_IF_NAME = 2,
	OPTION_IF_DESCRIPTION = 3,
	OPTION_IF_IPV4 = 4, /* interfaces: address and mask */
	OPTION_IF_IPV6 = 5, /* interfaces: address and prefix length */
	OPTION_IF_MAC = 6,
	OPTION_IF_TSRESOL = 9,
	OPTION_IF_FILTER = 11, /* a 0 and a text, or a 1 and BPF instructions */
	OPTION_IF_TSOFFSET = 14,
	OPTION_EPB_FLAGS = 2,	/* packets: flags, with the direction in two bits */
	OPTION_EPB_DROPS = 4,	/* packets: number of packets lost before this one */
	OPTION_EPB_VERDICT = 7, /* packets: a 0 and bytes, or a number from 1 on and 64 bits */
	OPTION_ISB_START = 2,	/* statistics: times */
	OPTION_ISB_END = 3,
};

/* Value of the option if_tsresol for nanoseconds: 10^-9 s. */
#define RESOLUTION_NS 9

struct capture_file {
	struct unpacked file;
	bool ng;      /* pcapng */
	bool swapped; /* whether the byte order differs from this machine's */
	uint8_t *window;
	uint64_t window_at; /* offset in the file (bytes) */
	size_t window_len;
	size_t window_room;
	size_t max_window; /* the caller may change this after capture_open() */
	uint64_t next;	   /* offset of the next block (bytes) */
	struct capture_interface *interfaces;
	size_t num_interfaces;
	size_t interface_room;
	uint64_t end;	    /* no data from this offset on is used; a decoder may read on */
	bool grows;	    /* data may still be appended: an incomplete block is not damage */
	const char *damage; /* why capture_next_block() failed (a clause) */
};

/* Return whether the first bytes of a file identify one of the formats. */
bool capture_has_magic(const uint8_t *head, size_t len);

/*
 * Open a capture and read it from @from up to byte @end. capture_close() also closes @from. Call it
 * even on failure. Return 0 or a negative errno value.
 */
int capture_open(struct capture_file *capture, struct disk_file *from, uint64_t end);
void capture_close(struct capture_file *capture);
/*
 * Release the file and the window, but not what is needed to continue at the next block. Continue
 * by opening the file again, as capture_open() does.
 */
void capture_suspend(struct capture_file *capture);
int capture_resume(struct capture_file *capture, struct disk_file *from);

/*
 * Read a block. Return 1; 0 at the end of the file, or at an incomplete block of a file that
 * grows; -EILSEQ if the rest is damaged, with a
 * description in capture->damage; -ENOMEM, or another errno value of the system.
 */
int capture_next_block(struct capture_file *capture, struct capture_block *block);

/*
 * Read the next option of a block. Before the first call, *at must be block->options. If no option
 * is left, return false.
 */
bool capture_next_option(const struct capture_file *capture, const struct capture_block *block,
			 size_t *at, struct capture_option *option);

/* Read a number in the byte order of the file. */
uint16_t capture_read_u16(const struct capture_file *capture, const uint8_t *bytes);
uint32_t capture_read_u32(const struct capture_file *capture, const uint8_t *bytes);
uint64_t capture_read_u64(const struct capture_file *capture, const uint8_t *bytes);
/*
 * Read a pcapng time. A pcapng time consists of two words; the higher one comes first in either
 * byte order.
 */
uint64_t capture_read_ticks(const struct capture_file *capture, const uint8_t *bytes);

/*
 * Convert ticks to a time, which is rounded down. Return false if the time does not fit into 64
 * bits.
 */
bool capture_convert_ticks(const struct capture_interface *interface, uint64_t ticks,
			   int64_t *time_ns);
/* Return the duration of a tick, rounded up (ns). */
int64_t capture_get_tick_ns(const struct capture_interface *interface);

#endif
