/* SPDX-License-Identifier: GPL-2.0-only */
/* Record that packets.bpf.c sends to packets.c for each TCP packet. */
#ifndef PACKETS_H
#define PACKETS_H

#include <linux/types.h>

struct packet {
	__u64 time_ns;	/* time on CLOCK_MONOTONIC */
	__u32 netns;	/* inode number of the network namespace */
	__u32 ifindex;	/* device that saw the packet */
	__u8 saddr[16]; /* IPv4 as ::ffff:a.b.c.d */
	__u8 daddr[16];
	__u32 seq;
	__u32 ack;
	__u16 sport;
	__u16 dport;
	__u16 flags; /* 16 bits of the header, from the data offset to the flags */
	__u16 window;
	__u32 len; /* number of payload bytes */
	__u8 is_in;
	__u8 reserved[3];
};

#endif
