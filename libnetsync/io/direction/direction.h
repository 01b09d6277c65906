/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Determine whether the host sent or received a captured packet. Some captures record the
 * direction of each packet; for others the direction follows from the host's addresses:
 *
 *	direction.c	directions, from known addresses
 *	infer.c		addresses, inferred from captures of several hosts
 *	infer-known.c	addresses, inferred from traces that have directions
 */
#ifndef NETSYNC_IO_DIRECTION_H
#define NETSYNC_IO_DIRECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/io.h"
#include "io/packet/frame.h"

struct address {
	bool is_mac;	   /* if true, only MAC_SIZE bytes are used, otherwise all 16 */
	uint8_t bytes[16]; /* as in struct netsync_packet */
};

/* The known addresses of a host. */
struct own_addresses {
	char *host_name;
	bool given; /* whether the user has given these addresses */
	struct address *address;
	size_t num;
	size_t room;
};

struct own_addresses_list {
	struct own_addresses *own;
	size_t num;
	size_t room;
};

enum direction {
	DIRECTION_UNKNOWN, /* the packet contains no known address of the host */
	DIRECTION_LOCAL,   /* the packet never leaves the host */
	DIRECTION_IN,
	DIRECTION_OUT,
};

/*
 * Find the addresses of a host. If no address is known, own_addresses_find() returns NULL. If out
 * of memory, own_addresses_find_or_add() returns NULL.
 */
struct own_addresses *own_addresses_find(const struct own_addresses_list *owns,
					 const char *host_name);
struct own_addresses *own_addresses_find_or_add(struct own_addresses_list *owns,
						const char *host_name);
/* Add an address, unless it is already known. Return 0 or -ENOMEM. */
int own_addresses_add(struct own_addresses *own, const struct address *address);
/* Add addresses to those of a host, unless there are none. Return 0 or -ENOMEM. */
int own_addresses_add_all(struct own_addresses_list *owns, const char *host_name,
			  const struct own_addresses *from);
/* Parse "10.0.0.1", "fe80::1" or "02:00:00:00:00:01". */
bool address_parse(struct address *address, const char *text);
/* Write an address as text. Return @text. */
#define ADDRESS_TEXT 48 /* bytes; INET6_ADDRSTRLEN is 46 */
char *address_format(char text[ADDRESS_TEXT], const struct address *address);
void own_addresses_release(struct own_addresses_list *owns);

/* Determine the direction of a packet. @own may be NULL. */
enum direction direction_find(const struct own_addresses *own, const struct frame_link *link,
			      const struct netsync_packet *pkt);

/* ---- inferring addresses ---------------------------------------------- */

/* A sample is a packet in one capture. */
struct sighted {
	uint64_t key; /* key of the packet, which is equal in all captures */
	int64_t time_ns;
	uint8_t addr[2][16]; /* both addresses, the lower one first */
	bool back;	     /* whether the packet goes from the second address to the first */
	enum direction dir;  /* direction that the trace has recorded */
};

/*
 * The samples of a capture. The number of samples of all captures is limited. Samples are chosen by
 * their keys, so that all captures have samples of the same packets.
 */
struct packet_samples {
	struct sighted *of;
	size_t num;
	size_t room;
};

/* The samples of all captures together. */
struct sampling {
	struct packet_samples **all;
	size_t num_all;
	uint64_t mask; /* packets are samples if their keys have none of these bits */
	size_t num;
};

/* Add a sample if its key is chosen. Return 0 or -ENOMEM. */
int sampling_add(struct sampling *sampling, struct packet_samples *samples, uint64_t key,
		 int64_t time_ns, const struct netsync_packet *pkt, enum direction dir);
/* Add a sample that another process has taken. Return 0 or -ENOMEM. */
int sampling_put(struct sampling *sampling, struct packet_samples *samples,
		 const struct sighted *sample);
void samples_sort(struct packet_samples *samples);
/*
 * Sort the samples. Drop samples whose key occurs twice, because they belong to several packets or
 * interfaces.
 */
void samples_drop_repeated(struct packet_samples *samples);

/* A host (one clock), with the samples of all its traces. */
struct watcher {
	const char *name;
	/* Samples of its captures. The inference functions sort them. */
	struct packet_samples samples;
	struct packet_samples inside; /* samples with packet_compute_nat_key(), without direction */
	/* Samples with keys of packet_compute_nat_key(), with a known direction. */
	struct packet_samples directed;
	bool wanted;		    /* whether its addresses are not known */
	bool is_inferred;	    /* whether its addresses were inferred from known directions */
	bool met;		    /* whether another host has samples of the same packets */
	bool doubtful;		    /* whether the inferred addresses are inconsistent */
	struct own_addresses own;   /* inferred: the host's addresses */
	struct own_addresses other; /* inferred: addresses of its peers */
};

/*
 * Infer addresses from packets between x and y that are in two captures. Each capture records a
 * time between a packet from x to y and a packet from y to x. If the packet to y comes first, this
 * time is longer in the capture at x, by the sum of both delays. Otherwise, the time is longer in
 * the capture at y. This comparison works for any clocks, and reveals which host has x. Return 0 or
 * -ENOMEM.
 */
int infer_from_shared_packets(struct watcher *watchers, size_t num);

/*
 * Infer addresses from packets whose direction another trace has recorded. If one host has sent a
 * packet that another host has also recorded, the other host has received the packet, and vice
 * versa. These packets reveal the addresses of hosts whose captures have no directions. Addresses
 * are as these hosts see them, even if a router translates addresses. Return 0 or -ENOMEM.
 */
int infer_from_known_directions(struct watcher *watchers, size_t num);

/*
 * The hardware address of an interface: the address that all its frames contain, if there is only
 * one.
 */
struct common_mac {
	bool any;	  /* whether a frame was added */
	unsigned int num; /* number of addresses that all frames so far contain */
	uint8_t mac[2][MAC_SIZE];
};

void common_mac_add(struct common_mac *common, const struct frame_link *link);

#endif
