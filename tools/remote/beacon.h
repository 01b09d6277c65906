/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The beacon. While machines that exchange little traffic are traced, they send each other small
 * UDP packets, in pairs back to back. The second packet of a pair rarely waits in a queue (as in
 * Huygens, NSDI '18).
 *
 * All packets differ in the fields that are traced. Each packet has its own payload, for the
 * digest in netsync's events. LTTng's own events have no digest. Over IPv4, they distinguish
 * packets by the IP id. IPv6 has no such id, so the lengths of its packets do not repeat within
 * half a minute, up to about 20 pairs per second.
 */
#ifndef NETSYNC_BEACON_H
#define NETSYNC_BEACON_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/* Default and maximum rate, in pairs per second to each neighbour. Chosen. */
#define BEACON_RATE 10
#define BEACON_RATE_MAX 1000
/* UDP port. Chosen, because no service in Debian's /etc/services uses it. */
#define BEACON_PORT 7712

/*
 * Maximum number of a machine's neighbours, and maximum number of addresses of each neighbour.
 * Chosen.
 */
#define BEACON_NEIGHBOURS 4
#define BEACON_ADDRESSES 32

struct beacon_peer {
	uint16_t id;
	/* Possible addresses of the peer. The first address that answers is used. */
	struct sockaddr_storage address[BEACON_ADDRESSES];
	unsigned int num_addresses;

	/*
	 * Results for the caller: numbers of packets, and the shortest round trip in ns, or 0 if
	 * unknown.
	 */
	uint64_t sent, received;
	int64_t rtt_ns;

	/* Only beacon.c uses the following members. */
	struct sockaddr_storage path; /* the family is unspecified while the path is unknown */
	int64_t next_ns, heard_ns;
	uint64_t count;
	unsigned int probes;
};

struct beacon {
	uint64_t session;  /* the same on all machines; packets with other values are ignored */
	uint16_t id;	   /* number of this machine, from 0 */
	unsigned int rate; /* rate of pairs to each peer, per second */
	bool probe;	   /* only find out which machines answer */
	int socks[2];	   /* the sockets of beacon_open() */
	struct beacon_peer peers[BEACON_NEIGHBOURS];
	unsigned int num_peers;
};

/*
 * Choose the machines, at most four, with which machine @id of @num machines exchanges packets.
 * Write them to @peers, and return their number.
 */
unsigned int beacon_choose_neighbours(unsigned int num, unsigned int id,
				      uint16_t peers[BEACON_NEIGHBOURS]);

/*
 * Open sockets for IPv4 and IPv6 at @port. 0 means any port. If a protocol is not supported, its
 * socket is -1. Return the port, or a negative errno value.
 */
int beacon_open(uint16_t port, int socks[2]);

/* Add the addresses of a name, with @port, to the possible addresses of a peer. */
void beacon_add_address(struct beacon_peer *peer, const char *name, uint16_t port);

/*
 * Exchange packets until a signal sets *@stop. The signal is blocked except while this function
 * waits.
 */
void beacon_run(struct beacon *beacon, const volatile sig_atomic_t *stop);

#endif
