/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Simulated clusters: hosts whose clocks are known, and the messages that they
 * exchange. The same seed gives the same cluster; the faults (late, wrong,
 * repeated, shuffled, lost messages) are drawn apart from the rest, so that a
 * cluster with faults is the clean one of that seed, plus the faults.
 *
 * True time is in ns from the start, as double: 0.02 ns fine over a day.
 */
#ifndef CLUSTER_H
#define CLUSTER_H

#include <stdbool.h>
#include <stdint.h>

enum cluster_topology {
	ALL_PAIRS,
	CHAIN,
	STAR,		/* host 0 is the middle */
	SPARSE,		/* a random tree, and as many random links again */
};

/* What the clocks do besides a random offset (+-10 s) and skew (+-50 ppm). */
enum cluster_clocks {
	/* 50 us sinusoid of 300-900 s; but for host 0 a 20 ppm/h ramp, too */
	BEND = 1 << 0,
	/* 20 ppm up or down every 100-300 s, within 40 ppm of the start */
	RATE_STEPS = 1 << 1,
	/* host 1 is set by 50 ms, once */
	JUMP = 1 << 2,
	/* host 1 stands still three times for 0.2-2 s, its clock too */
	PAUSES = 1 << 3,
	/* host 0 has none of these */
	STEADY_FIRST = 1 << 4,
};

struct cluster_spec {
	int hosts;
	enum cluster_topology topology;
	unsigned int clocks;	/* enum cluster_clocks */
	double span_s;
	long messages;		/* before losses and repetitions */

	/* Of two values, [1] is for messages to a smaller host number. */
	double min_delay_ns[2];	/* 0: 30 us */
	double mean_delay_ns[2];/* exponential, on top; 0: 100 us */

	double late;		/* share: another exponential 20 ms */
	double wrong;		/* share: received time of another packet */
	double repeated;	/* share: twice, as it was or received later */
	double lost[2];		/* share */
	double gap_s;		/* nothing is sent for so long, once */
	bool shuffled;
};

struct cluster_message {
	uint32_t from;
	uint32_t to;
	int64_t send_ns;
	int64_t recv_ns;
};

struct cluster {
	struct cluster_spec spec;
	double span_ns;
	struct cluster_clock *clock;
	struct cluster_message *msg;	/* by time of sending */
	long num;
	double gap_from_ns;		/* where nothing was sent */
	double gap_to_ns;
};

/* The name says what happened; all memory is the cluster's. False: none. */
bool cluster_make(struct cluster *c, const struct cluster_spec *spec,
		  uint64_t seed);
void cluster_free(struct cluster *c);

/* What the clock of @host shows at a true instant, rounded to 1 ns. */
int64_t cluster_reading(const struct cluster *c, int host, double t);

/* How far @ref is ahead of @host at a true instant, to 0.001 ns or better. */
double cluster_ahead(const struct cluster *c, int ref, int host, double t);

/*
 * When the @index-th jump or pause of @host begins and ends, and by how much
 * its clock is set; false: there is none.
 */
bool cluster_break(const struct cluster *c, int host, int index, double *from,
		   double *to, double *ahead);

#endif
