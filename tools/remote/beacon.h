/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The beacon: machines that hardly talk send each other small UDP packets while
 * they are traced, in pairs back to back, of which the second seldom waits for
 * anything (as Huygens does, NSDI '18).
 *
 * No two packets are the same in what is traced of them: each has a payload of
 * its own, for the digest in our events. LTTng's own events have no digest: in
 * IPv4 the IP id tells, and IPv6, which has none, takes lengths that do not
 * repeat within half a minute, up to about 20 pairs each second.
 */
#ifndef NETSYNC_BEACON_H
#define NETSYNC_BEACON_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/* Pairs each second to each neighbour: if it is not given, and at most. Chosen. */
#define BEACON_RATE 10
#define BEACON_RATE_MAX 1000
/* UDP port. Chosen: no service in Debian's /etc/services has it. */
#define BEACON_PORT 7712

/* The most neighbours that one has, and addresses of each. Chosen. */
#define BEACON_NEIGHBOURS 4
#define BEACON_ADDRESSES 32

struct beacon_peer {
	uint16_t id;
	/* Where it may be; the first from which it is heard is kept to. */
	struct sockaddr_storage address[BEACON_ADDRESSES];
	unsigned int num_addresses;

	/* For the caller to read: packets, and the shortest round trip, or 0. */
	uint64_t sent, received;
	int64_t rtt_ns;

	/* For beacon.c alone. */
	struct sockaddr_storage path;	/* no family: not known yet */
	int64_t next_ns, heard_ns;
	uint64_t count;
	unsigned int probes;
};

struct beacon {
	uint64_t session;	/* the same for all; what has another is ignored */
	uint16_t id;		/* of this machine: 0, 1, ... */
	unsigned int rate;	/* pairs each second to each peer */
	bool probe;		/* only look who answers */
	int socks[2];		/* of beacon_open() */
	struct beacon_peer peers[BEACON_NEIGHBOURS];
	unsigned int num_peers;
};

/*
 * Whom machine @id of @num sends to, and hears from: four others at most.
 * Return: how many were written to @peers.
 */
unsigned int beacon_neighbours(unsigned int num, unsigned int id,
			       uint16_t peers[BEACON_NEIGHBOURS]);

/*
 * Sockets for IPv4 and IPv6, or -1 where there is no such thing, at @port (0:
 * any). Return: the port, or a negative errno.
 */
int beacon_open(uint16_t port, int socks[2]);

/* Add what a name or an address stands for, with a port, to where a peer may be. */
void beacon_add_address(struct beacon_peer *peer, const char *name,
			uint16_t port);

/*
 * Exchange packets until *@stop is set, by a signal that is blocked but while
 * this waits.
 */
void beacon_run(struct beacon *beacon, const volatile sig_atomic_t *stop);

#endif
