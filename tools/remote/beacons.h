/* SPDX-License-Identifier: GPL-2.0-only */
/* The beacons of several machines: each is told of the others, and at which addresses. */
#ifndef NETSYNC_BEACONS_H
#define NETSYNC_BEACONS_H

#include <stdbool.h>

#include "remote.h"

struct beacons {
	/* As asked for. */
	unsigned int rate;	/* pairs each second to each neighbour */
	unsigned int port;	/* 0: any */
	bool probe;		/* only see who can be reached */

	/* Those that take part; their numbers are their ids. */
	struct beacon_host *hosts;
	unsigned int num;
};

/* What one machine has heard of another. */
struct beacon_link {
	const struct remote *from, *to;
	int port;		/* of @to */
	uint64_t received;
	int64_t rtt_ns;		/* 0: not known */
};

/*
 * Those of @list that are ready, of which @wanted has to be set, take part if
 * they can; that they cannot was said. Return: how many do; with less than two
 * nothing is sent.
 */
unsigned int beacons_start(struct beacons *beacons, struct remotes *all,
			   const bool *wanted);
/* Hand out what each has heard of each of its neighbours, and forget who took part. */
void beacons_stop(struct beacons *beacons, struct remotes *all,
		  void (*tell)(void *data, const struct beacon_link *link),
		  void *data);

/* Only forget them: their agents have ended, or will. */
void beacons_free(struct beacons *beacons);

#endif
