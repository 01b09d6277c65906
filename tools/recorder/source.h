/* SPDX-License-Identifier: GPL-2.0-only */
/* A source of packets: frames of network devices, and what these devices are called. */
#ifndef NETSYNC_RECORDER_SOURCE_H
#define NETSYNC_RECORDER_SOURCE_H

#include <net/if.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "probe-record.h"

/* Bytes of a sentence that says why a source cannot be used. */
#define LONGEST_REASON 256

/* Which packets are wanted. */
struct packet_selection {
	size_t buffer;	/* bytes of memory for packets not yet written */
	size_t payload; /* bytes of each packet's payload */
	uint32_t netns; /* inode number of the only network namespace; 0: all */
	pid_t process;	/* has that namespace; 0: it is the own one */
	int device;	/* index of the only device, in this namespace; 0: all */
	bool with_loopback;
	uint16_t unwanted[2]; /* TCP ports of a connection to be skipped; 0 if none */
	uint16_t port[MOST_WANTED];
	uint8_t num_ports; /* 0: all */
	struct wanted_address address[MOST_WANTED];
	uint8_t num_addresses; /* 0: all */
	uint8_t sampling;      /* record one of 2^sampling packets */
	uint64_t cgroup;       /* ID of the only control group; 0: all */
};

/* A frame. */
struct seen_frame {
	uint64_t time_ns;     /* CLOCK_REALTIME */
	uint32_t netns;	      /* inode number of the network namespace of its device */
	int device;	      /* index in that namespace */
	uint64_t serial;      /* differs between devices that had one index after another */
	uint16_t device_type; /* ARPHRD_... */
	uint16_t protocol;    /* Ethernet type, host byte order */
	uint32_t flags;	      /* of pcapng */
	uint32_t original;    /* bytes from the link header on */
	size_t captured;      /* of these, at @link */
	const uint8_t *link;
	size_t link_length;    /* bytes before the network header */
	uint16_t tag_protocol; /* tag of a virtual LAN that is not in the frame; 0 if none */
	uint16_t tag;
};

struct seen_device {
	char name[IF_NAMESIZE];
	uint8_t mac[6];
	bool has_mac;
};

/* Packets since the begin. */
struct source_counts {
	uint64_t received;
	uint64_t lost;	     /* of these: they were not taken in time */
	uint64_t unreadable; /* and: the kernel did not show their headers */
};

typedef void (*take_frame_fn)(void *data, const struct seen_frame *frame);

/* There is one recording in a process. */
struct packet_source {
	const char *name;
	/*
	 * Begin to receive. On failure, set @why to a sentence with the reason, and return
	 * false.
	 */
	bool (*open)(const struct packet_selection *selection, char why[LONGEST_REASON]);
	/*
	 * Call @take with received frames. Wait for frames for at most @timeout_ms, or until a
	 * signal that is not in @mask arrives. Return 1 if there were frames; 0 if there were
	 * none; or a negative errno value.
	 */
	int (*take)(int timeout_ms, const sigset_t *mask, take_frame_fn take, void *data);
	/* Stop receiving; frames received before can still be taken. */
	void (*stop)(void);
	void (*count)(struct source_counts *counts);
	/*
	 * Describe the device of a frame. Return false if the device is not known, or no longer
	 * exists.
	 */
	bool (*describe)(const struct seen_frame *frame, struct seen_device *described);
	void (*close)(void);
};

extern const struct packet_source packet_socket_source, bpf_source;

#endif
