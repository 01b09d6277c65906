/* SPDX-License-Identifier: GPL-2.0-only */
/* The beacons of several machines: each gets the list of the others and their addresses. */
#ifndef NETSYNC_BEACONS_H
#define NETSYNC_BEACONS_H

#include <stdbool.h>

#include "remote.h"

struct beacons {
	/* As requested. */
	unsigned int rate; /* pairs per second to each neighbour */
	unsigned int port; /* 0: any */
	bool probe;	   /* only find out which machines can be reached */

	/* Participating hosts; their indexes are their ids. */
	struct beacon_host *hosts;
	unsigned int num;
};

/* What one machine received from another. */
struct beacon_link {
	const struct remote *from, *to;
	int port; /* of @to */
	uint64_t received;
	int64_t rtt_ns; /* 0 if unknown */
};

/*
 * Start beacons on the hosts of @list that are ready and set in @wanted; failures are reported.
 * Return the number of participants; with fewer than two, no packets are sent.
 */
unsigned int beacons_start(struct beacons *beacons, struct remotes *all, const bool *wanted);
/* Report what each host received from each of its neighbours, and forget the participants. */
void beacons_stop(struct beacons *beacons, struct remotes *all,
		  void (*tell)(void *data, const struct beacon_link *link), void *data);

/* Only forget the participants: their agents have ended, or will. */
void beacons_free(struct beacons *beacons);

#endif
