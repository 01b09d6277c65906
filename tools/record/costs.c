// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdio.h>

#include "costs.h"

/* Longest CPU time, ns, so that sums do not overflow. */
#define LONGEST_NS (INT64_MAX / 4)

bool costs_handle_line(struct capture_costs *costs, const char *line)
{
	struct capture_costs read = { .is_known = true };
	int end = 0;

	/* recorder.c writes this line. The host controls the numbers. */
	if (sscanf(line,
		   "netsync-costs %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 "%n",
		   &read.time_ns, &read.recorded, &read.lost, &read.own_ns, &read.programs_ns,
		   &end) != 5 ||
	    line[end] || read.time_ns <= 0 || read.recorded < 0 || read.lost < 0 ||
	    read.own_ns < 0 || read.own_ns > LONGEST_NS || read.programs_ns < -1 ||
	    read.programs_ns > LONGEST_NS)
		return false;
	*costs = read;
	return true;
}
