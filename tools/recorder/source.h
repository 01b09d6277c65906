/* SPDX-License-Identifier: GPL-2.0-only */
/* A source of packets, which delivers the frames of network devices and describes these devices. */
#ifndef NETSYNC_RECORDER_SOURCE_H
#define NETSYNC_RECORDER_SOURCE_H

#include <net/if.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "probe-record.h"

/* Size of a sentence with the reason why a source cannot be used, bytes. */
#define LONGEST_REASON 256

/* Settings that select packets. */
struct packet_selection {
	size_t buffer;	/* memory for packets that are not yet written, bytes */
	size_t payload; /* number of payload bytes of each packet */
	uint32_t netns; /* inode number of the only network namespace; 0 means all */
	pid_t process;	/* process in that namespace; 0 for the namespace of the recorder */
	/*
	 * @netns is also used outside of the container, whose control group is @cgroup. A source
	 * that cannot select control groups records the namespace.
	 */
	bool is_shared;
	int device; /* index of the only device in this namespace; 0 means all */
	bool with_loopback;
	uint16_t unwanted[2]; /* TCP ports of the connection to skip; 0 if there is none */
	uint16_t port[MOST_WANTED];
	uint8_t num_ports; /* 0 means all */
	struct wanted_address address[MOST_WANTED];
	uint8_t num_addresses;	/* 0 means all */
	uint8_t sampling;	/* record one of 2^sampling packets */
	uint64_t cgroup;	/* ID of the only control group; 0 means all */
	bool measures_programs; /* measure the run time of BPF programs */
};

/* A frame. */
struct seen_frame {
	uint64_t time_ns; /* CLOCK_REALTIME */
	uint32_t netns;	  /* inode number of the device's network namespace */
	int device;	  /* index in that namespace */
	uint64_t serial;  /* distinguishes devices that had the same index one after the other */
	uint16_t device_type; /* ARPHRD_... */
	uint16_t protocol;    /* Ethernet type, host byte order */
	uint32_t flags;	      /* flags of pcapng */
	uint32_t original;    /* length of the frame from the link header on, bytes */
	size_t captured;      /* number of these bytes that are at @link */
	const uint8_t *link;
	size_t link_length;    /* number of bytes before the network header */
	uint16_t tag_protocol; /* VLAN tag that was removed from the frame; 0 if there is none */
	uint16_t tag;
};

struct seen_device {
	char name[IF_NAMESIZE];
	uint8_t mac[6];
	bool has_mac;
};

/* Numbers of packets since the beginning. */
struct source_counts {
	uint64_t received;
	uint64_t lost;	     /* number of these that were not read in time */
	uint64_t unreadable; /* number of these whose headers the kernel could not provide */
	/* CPU time of BPF programs, ns; 0 without such programs, UINT64_MAX if unknown */
	uint64_t programs_ns;
};

typedef void (*take_frame_fn)(void *data, const struct seen_frame *frame);

/* A source of packets. Only one recording is possible in a process. */
struct packet_source {
	const char *name;
	/* Start receiving. On failure, set @why to a sentence with the reason, and return false. */
	bool (*open)(const struct packet_selection *selection, char why[LONGEST_REASON]);
	/*
	 * Call @take for each received frame. Wait for frames for at most @timeout_ms, or until
	 * a signal that is not in @mask arrives. Return 1 if there were frames, 0 if there were
	 * none, or a negative errno value.
	 */
	int (*take)(int timeout_ms, const sigset_t *mask, take_frame_fn take, void *data);
	/* Stop receiving. Frames received before can still be read. */
	void (*stop)(void);
	void (*count)(struct source_counts *counts);
	/*
	 * Describe the device of a frame. Return false if the device is not known, or no longer
	 * exists.
	 */
	bool (*describe)(const struct seen_frame *frame, struct seen_device *described);
	void (*close)(void);
};

extern const struct packet_source module_source, bpf_source, packet_socket_source;

#endif
