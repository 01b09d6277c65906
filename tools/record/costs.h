/* SPDX-License-Identifier: GPL-2.0-only */
/* The costs of a recording, as netsync-recorder reports them at its end with --costs. */
#ifndef NETSYNC_RECORD_COSTS_H
#define NETSYNC_RECORD_COSTS_H

#include <stdbool.h>
#include <stdint.h>

struct capture_costs {
	bool is_known;
	int64_t time_ns;     /* duration of the recording */
	int64_t recorded;    /* number of packets in the capture */
	int64_t lost;	     /* number of packets that were not written in time */
	int64_t own_ns;	     /* CPU time of netsync-recorder */
	int64_t programs_ns; /* CPU time of BPF programs; 0 if there are none, -1 if unknown */
};

/* Parse a line of netsync-recorder's standard error. Return false if it does not contain costs. */
bool costs_handle_line(struct capture_costs *costs, const char *line);

#endif
