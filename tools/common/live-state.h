/* SPDX-License-Identifier: GPL-2.0-only */
/* The state that netsync live displays. */
#ifndef NETSYNC_LIVE_STATE_H
#define NETSYNC_LIVE_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include <netsync.h>

struct live_host {
	bool running;	  /* the host is being read */
	bool late;	  /* the host was found late, so the beginning of its data is missing */
	bool known;	  /* the correction of the host is known */
	int64_t since_ns; /* start of the data, on the host's clock */
	int64_t at_ns;	  /* time of the values below, on the host's clock */
	int64_t offset_ns;
	double skew_ppm;
	double skew_within_ppm;
	int64_t bound_ns;
	double packets_per_s;
};

struct live_pair {
	double messages_per_s[2];
};

struct live_state {
	const struct netsync *ns;
	int64_t wall_ns; /* time on this machine's clock */
	struct live_host *hosts;
	struct live_pair *pairs;
};

/* Maximum number of steps that are displayed: the most recent ones of all hosts. Chosen. */
#define LIVE_STEPS 5

struct live_step {
	uint32_t host;
	struct netsync_step step;
};

/*
 * Fill in the most recent steps in order of corrected time. Return their number, which is at most
 * LIVE_STEPS.
 */
uint32_t live_list_last_steps(const struct netsync *ns, struct live_step *steps);

#endif
