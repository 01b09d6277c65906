/* SPDX-License-Identifier: GPL-2.0-only */
/* What the BPF programs in the kernel (probes.bpf.c) and the recorder (probes.c) share. */
#ifndef NETSYNC_RECORDER_PROBE_RECORD_H
#define NETSYNC_RECORDER_PROBE_RECORD_H

#include <linux/types.h>

/* Maximum numbers of ports and of addresses by which packets can be selected. Chosen. */
#define MOST_WANTED 16
/*
 * Number of bytes of a frame that are examined first, which include the headers of nearly all
 * frames, and maximum number. Chosen.
 */
#define USUAL_HEADERS 128
#define MOST_HEADERS 512
/*
 * Maximum value of the sampling parameter N, by which one of 2^N packets is recorded, as in the
 * kernel module.
 */
#define MAX_SAMPLING 16

/* An address in host byte order. IPv4 addresses are stored as ::ffff:a.b.c.d. */
struct wanted_address {
	__u32 words[4];
};

/*
 * Settings that select which packets the kernel records. They are constants for the BPF
 * programs, and are set before the programs are loaded.
 */
struct probe_settings {
	__u32 netns;	    /* inode number of the only network namespace; 0 means all */
	__u32 ifindex;	    /* index of the only device in that namespace; 0 means all */
	__u32 payload;	    /* number of payload bytes of each packet */
	__u32 wakeup_bytes; /* amount of data in the ring at which the recorder is woken, bytes */
	/* ID of the only control group, which includes the groups below it; 0 means all */
	__u64 cgroup;
	__u16 unwanted[2];	 /* TCP ports of the connection to skip; 0 if there is none */
	__u16 port[MOST_WANTED]; /* packets with one of these ports are recorded; 0 means unused */
	struct wanted_address address[MOST_WANTED];
	__u8 num_ports;
	__u8 num_addresses;
	__u8 sampling;
	__u8 with_loopback;
};

/* Counts of one processor. */
struct probe_counts {
	__u64 wanted; /* number of packets to be recorded */
	__u64 lost;   /* number of these that were lost, because the ring was full */
	/* number of packets whose headers are in memory that BPF cannot read in this kernel */
	__u64 unreadable;
	__u64 used; /* bit set of the packets[] of running programs */
};

enum probe_kind { PROBE_FRAME, PROBE_DEVICE };

/* A description of a network device, which precedes its first frame. */
struct probe_device {
	__u32 kind;
	__u32 netns;
	__u64 serial; /* serial number, as in the device's frames */
	__u32 ifindex;
	char name[16];
	__u8 mac[6];
	__u16 mac_length;
};

struct probe_frame {
	__u32 kind;
	__u32 netns;
	__u64 time_ns; /* CLOCK_MONOTONIC */
	/* serial number of the device, because device numbers are reused; 0 if unknown */
	__u64 serial;
	__u32 ifindex;
	__u32 original;	   /* length of the frame from the link header on, bytes */
	__u16 captured;	   /* number of these bytes that are at @bytes */
	__u16 link_length; /* number of bytes before the network header; meaningless for Ethernet */
	__u16 device_type; /* ARPHRD_... */
	__u16 protocol;	   /* Ethernet type, host byte order */
	__u16 tag_protocol; /* VLAN tag that was removed from the frame; 0 if there is none */
	__u16 tag;
	__u8 is_out;
	__u8 packet_type; /* PACKET_HOST or another type, for received frames */
	__u8 reserved[2]; /* padding to a multiple of 8 bytes */
	__u8 bytes[0];
};

#endif
