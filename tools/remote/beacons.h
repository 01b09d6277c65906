/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Run the beacons of several machines. Each machine gets a list of its neighbours and their
 * addresses.
 */
#ifndef NETSYNC_BEACONS_H
#define NETSYNC_BEACONS_H

#include <stdbool.h>

#include "remote.h"

struct beacons {
	/* The user's settings. */
	unsigned int rate; /* rate of pairs to each neighbour, per second */
	unsigned int port; /* 0 means any port */
	bool probe;	   /* only find out which machines can be reached */

	/* Participating hosts. The index of a host is its id. */
	struct beacon_host *hosts;
	unsigned int num;
};

/* The packets that one machine received from another. */
struct beacon_link {
	const struct remote *from, *to;
	int port; /* port of @to */
	uint64_t received;
	int64_t rtt_ns; /* shortest round-trip time, or 0 if not known */
};

/*
 * Start beacons on those hosts of @list that are ready and that @wanted selects. Report failures.
 * Return the number of participants. If there are fewer than two, no packets are sent.
 */
unsigned int beacons_start(struct beacons *beacons, struct remotes *all, const bool *wanted);
/*
 * Stop the beacons. Pass to @tell what each host received from each of its neighbours, and forget
 * the participants.
 */
void beacons_stop(struct beacons *beacons, struct remotes *all,
		  void (*tell)(void *data, const struct beacon_link *link), void *data);

/*
 * Forget the participants without stopping their beacons, because their agents have ended or
 * will end.
 */
void beacons_free(struct beacons *beacons);

#endif
