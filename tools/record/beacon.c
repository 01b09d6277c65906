// SPDX-License-Identifier: GPL-2.0-only
/* Start beacons between the recorded hosts, and warn if no packets arrived. */
#include <stdlib.h>

#include "common/complain.h"
#include "record.h"

void record_beacon_start(struct record_run *rec)
{
	bool *wanted = calloc(rec->all.num, sizeof(*wanted));

	for (unsigned int i = 0; wanted && i < rec->all.num; i++)
		wanted[i] = rec->hosts[i].recording;
	if (rec->beacons.rate && wanted && beacons_start(&rec->beacons, &rec->all, wanted) < 2)
		complain("warning: --beacon needs at least two hosts; no packets are sent.");
	free(wanted);
}

static void warn_of_silent_beacon(void *data, const struct beacon_link *link)
{
	(void)data;
	if (!link->received && !link->from->lost)
		complain(
			"warning: no beacon packets from %s reached %s; open UDP port %d in the firewall.",
			link->from->name, link->to->name, link->port);
}

void record_beacon_stop(struct record_run *rec)
{
	beacons_stop(&rec->beacons, &rec->all, warn_of_silent_beacon, NULL);
}
