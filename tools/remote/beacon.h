/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The beacon: machines that exchange little traffic send each other small UDP packets
 * while they are traced, in pairs back to back; the second packet of a pair rarely waits
 * in a queue (as in Huygens, NSDI '18).
 *
 * All packets differ in the fields that are traced: each has its own payload, for the
 * digest in our events. LTTng's own events have no digest. IPv4 packets are distinguished
 * by the IP id. IPv6 has none; its packets have lengths that do not repeat within half a
 * minute, up to about 20 pairs per second.
 */
#ifndef NETSYNC_BEACON_H
#define NETSYNC_BEACON_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/* Default and maximum of pairs per second to each neighbour. Chosen. */
#define BEACON_RATE 10
#define BEACON_RATE_MAX 1000
/* UDP port. Chosen: no service in Debian's /etc/services has it. */
#define BEACON_PORT 7712

/* Maximum neighbours of a machine, and addresses of each. Chosen. */
#define BEACON_NEIGHBOURS 4
#define BEACON_ADDRESSES 32

struct beacon_peer {
	uint16_t id;
	/* Possible addresses; the first one that answers is kept. */
	struct sockaddr_storage address[BEACON_ADDRESSES];
	unsigned int num_addresses;

	/* Results for the caller: packets, and the shortest round trip, or 0. */
	uint64_t sent, received;
	int64_t rtt_ns;

	/* Private to beacon.c. */
	struct sockaddr_storage path; /* no family: unknown */
	int64_t next_ns, heard_ns;
	uint64_t count;
	unsigned int probes;
};

struct beacon {
	uint64_t session;  /* the same on all machines; others are ignored */
	uint16_t id;	   /* of this machine: 0, 1, ... */
	unsigned int rate; /* pairs per second to each peer */
	bool probe;	   /* only find out who answers */
	int socks[2];	   /* of beacon_open() */
	struct beacon_peer peers[BEACON_NEIGHBOURS];
	unsigned int num_peers;
};

/*
 * Find the machines that machine @id of @num exchanges packets with, at most four. Return the
 * number of machines written to @peers.
 */
unsigned int beacon_choose_neighbours(unsigned int num, unsigned int id,
				      uint16_t peers[BEACON_NEIGHBOURS]);

/*
 * Open sockets for IPv4 and IPv6 (-1 if not supported) at @port; 0 means any port. Return the
 * port, or a negative errno value.
 */
int beacon_open(uint16_t port, int socks[2]);

/* Add the addresses of a name, with a port, to the possible addresses of a peer. */
void beacon_add_address(struct beacon_peer *peer, const char *name, uint16_t port);

/*
 * Exchange packets until *@stop is set by a signal, which is blocked except while this
 * function waits.
 */
void beacon_run(struct beacon *beacon, const volatile sig_atomic_t *stop);

#endif
