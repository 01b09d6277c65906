/* SPDX-License-Identifier: GPL-2.0-only */
/* What the BPF programs in the kernel (probes.bpf.c) and the recorder (probes.c) share. */
#ifndef NETSYNC_RECORDER_PROBE_RECORD_H
#define NETSYNC_RECORDER_PROBE_RECORD_H

#include <linux/types.h>

/* Ports and addresses that packets can be selected by. Chosen. */
#define MOST_WANTED 16
/* Bytes of a frame that are looked at: nearly all have their headers in the former. Chosen. */
#define USUAL_HEADERS 128
#define MOST_HEADERS 512
/* Of 2^N packets one is recorded; the largest N, as in the kernel module. */
#define MAX_SAMPLING 16

/* In host byte order, IPv4 as ::ffff:a.b.c.d. */
struct wanted_address {
	__u32 words[4];
};

/* Which packets the kernel records. Constants for the BPF programs, set before they are loaded. */
struct probe_settings {
	__u32 netns;		 /* inode number of the only network namespace; 0: all */
	__u32 ifindex;		 /* the only device in it; 0: all */
	__u32 payload;		 /* bytes of payload of each packet */
	__u32 wakeup_bytes;	 /* wake the recorder when so many are in the ring */
	__u64 cgroup;		 /* ID of the only control group, with those below it; 0: all */
	__u16 unwanted[2];	 /* TCP ports of the connection to be skipped; 0 if none */
	__u16 port[MOST_WANTED]; /* one of these; 0: unused */
	struct wanted_address address[MOST_WANTED];
	__u8 num_ports;
	__u8 num_addresses;
	__u8 sampling;
	__u8 with_loopback;
};

/* Counts of a processor. */
struct probe_counts {
	__u64 wanted;	  /* packets to be recorded */
	__u64 lost;	  /* of these, the ring was full */
	__u64 unreadable; /* their headers are in memory that this kernel cannot read for BPF */
	__u64 used;	  /* packets[] of programs that run, a bit for each */
};

enum probe_kind { PROBE_FRAME, PROBE_DEVICE };

/* A network device, before its first frame. */
struct probe_device {
	__u32 kind;
	__u32 netns;
	__u64 serial; /* as in its frames */
	__u32 ifindex;
	char name[16];
	__u8 mac[6];
	__u16 mac_length;
};

struct probe_frame {
	__u32 kind;
	__u32 netns;
	__u64 time_ns; /* CLOCK_MONOTONIC */
	__u64 serial;  /* of its device, whose number can be used again; 0 if unknown */
	__u32 ifindex;
	__u32 original;	    /* bytes from the link header on */
	__u16 captured;	    /* of these, at @bytes */
	__u16 link_length;  /* bytes before the network header; of no meaning for Ethernet */
	__u16 device_type;  /* ARPHRD_... */
	__u16 protocol;	    /* Ethernet type, host byte order */
	__u16 tag_protocol; /* tag of a virtual LAN that is not in the frame; 0 if none */
	__u16 tag;
	__u8 is_out;
	__u8 packet_type; /* PACKET_HOST..., of received frames */
	__u8 reserved[2]; /* to a multiple of 8 bytes */
	__u8 bytes[0];
};

#endif
