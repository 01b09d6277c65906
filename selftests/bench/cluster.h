/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Simulated clusters: hosts with known clocks, and their messages. Equal seeds give equal clusters.
 * Faults (late, wrong, repeated, reordered and lost messages) use separate random numbers, so that
 * a cluster with faults has all messages of the cluster without faults for the same seed.
 *
 * True time is in ns from the start, as a double, which has a resolution of 0.02 ns over a day.
 */
#ifndef CLUSTER_H
#define CLUSTER_H

#include <stdbool.h>
#include <stdint.h>

enum cluster_topology {
	ALL_PAIRS,
	CHAIN,
	STAR,	/* host 0 is the centre */
	SPARSE, /* a random tree, and as many additional random links */
	EIGHT,	/* each host exchanges messages with eight others: cluster_eight */
};

/*
 * Differences between the numbers of hosts that exchange messages in a ring, in both directions.
 * Chosen to include near and far hosts. The number of hosts must be more than twice the last
 * difference, so that no two links connect the same hosts.
 */
#define CLUSTER_EIGHT 4
extern const int cluster_eight[CLUSTER_EIGHT];

/* Behaviour of the clocks, in addition to a random offset (+-10 s) and skew (+-50 ppm). */
enum cluster_clocks {
	/*
	 * a sine of 50 us with a period of 300-900 s, and a ramp of 20 ppm/h for all hosts except
	 * host 0
	 */
	BEND = 1 << 0,
	/* rate steps of 20 ppm up or down every 100-300 s, within 40 ppm of the initial rate */
	RATE_STEPS = 1 << 1,
	/* host 1 is stepped by 50 ms, once */
	JUMP = 1 << 2,
	/* host 1 and its clock stop three times for 0.2-2 s */
	PAUSES = 1 << 3,
	/* host 0 has a linear clock */
	STEADY_FIRST = 1 << 4,

	/*
	 * A free-running crystal (IEEE Std 1139): random-walk and flicker frequency modulation, and
	 * the temperature of the room.
	 */
	QUARTZ = 1 << 5,
	/*
	 * chronyd in a busy network: every 16-64 s, it slews the clock by 20-100 ppm for 0.5-8 s
	 * and corrects the rate.
	 */
	CHRONY = 1 << 6,
	/* chronyd in a calm network: every 64-1024 s, it slews the clock by 0.1-5 ppm. */
	CHRONY_CALM = 1 << 7,
	/*
	 * adjtime(3): slews the clock by 500 us in each second, and by the remainder in the last
	 * one.
	 */
	ADJTIME = 1 << 8,
	/* Host 1 smears half of a leap second linearly over 24 h. */
	SMEAR = 1 << 9,
	/* host 1 is stepped four times by seconds, and four times by up to 200 us */
	SET = 1 << 10,
	/* the last host is stepped by seconds, three times */
	SET_LAST = 1 << 11,
	/* host 1 is suspended for a sixth of the time, and its clock stands still */
	SUSPEND = 1 << 12,
	/*
	 * The last host has four processors whose clocks differ by up to 10 ms and 100 ppm. The
	 * host's time is therefore not defined.
	 */
	FALSE_LAST = 1 << 13,
	/* Nothing but random-walk frequency modulation, three times that of QUARTZ. */
	WALK = 1 << 14,
	/* ptp4l: each second, it removes 0.7 times the measured offset. */
	PTP = 1 << 15,
};

struct cluster_spec {
	int hosts;
	enum cluster_topology topology;
	unsigned int clocks; /* set of enum cluster_clocks */
	double span_s;
	long messages; /* number of messages before losses and repetitions */
	int steered;   /* daemons steer this many hosts, the last ones; 0 selects all hosts */

	/*
	 * Two values: [0] is for messages to a host with a higher number, [1] for messages to a
	 * lower number.
	 */
	double min_delay_ns[2];	 /* 0 selects 30 us */
	double mean_delay_ns[2]; /* mean exponential excess delay; 0 selects 100 us */

	double late;	 /* fraction of messages that wait for a further 20 ms on average */
	double wrong;	 /* fraction of messages with the receive time of another packet */
	double near;	 /* fraction of messages whose receive time is wrong by up to 200 us */
	double repeated; /* fraction of messages that are repeated, unchanged or received later */
	double lost[2];	 /* fraction of messages that are lost */
	double gap_s;	 /* once, nothing is sent for this time */
	bool shuffled;
	double resolution_ns; /* resolution of stamps; 0 selects 1 ns */
	double processors_ns; /* the clocks of a host's processors differ by up to this time */
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
	struct cluster_message *msg; /* in order of send times */
	long num;
	double gap_from_ns; /* start of the gap */
	double gap_to_ns;
};

/* Make a cluster, which owns all its memory. Return false if out of memory. */
bool cluster_make(struct cluster *c, const struct cluster_spec *spec, uint64_t seed);
void cluster_free(struct cluster *c);

/* Return the reading of @host's clock at a true time, rounded to 1 ns. */
int64_t cluster_read_clock(const struct cluster *c, int host, double t);

/*
 * Return the clock offset of @ref minus that of @host at a true time, with an error of at most
 * 0.001 ns.
 */
double cluster_compute_offset(const struct cluster *c, int ref, int host, double t);

/* Return whether the host's clock has a defined time. See FALSE_LAST. */
bool cluster_host_is_sound(const struct cluster *c, int host);

/*
 * The kernel's report on a host's clock at a true time: the reading of a raw clock with the same
 * oscillator; the rate of the clock relative to the raw clock from this time on; and whether the
 * clock was stepped at this time. Only steered or stepped hosts have reports.
 */
struct cluster_point {
	int64_t time_ns;
	int64_t raw_ns;
	double rate;
	bool was_set;
};

/*
 * Get the next report after @t and set @t to its time. Return false if there are no more reports.
 * Initially, @t is -1. Each change has a report, and so does each second.
 */
bool cluster_make_next_point(const struct cluster *c, int host, double *t,
			     struct cluster_point *point);

/*
 * Get the beginning and end of the @index-th step or pause of @host, and by how much its
 * clock is stepped. Return false if there is none.
 */
bool cluster_get_break(const struct cluster *c, int host, int index, double *from, double *to,
		       double *ahead);

/* Return whether the messages of @host show on which side of a step or pause @t is. */
bool cluster_break_is_heard(const struct cluster *c, int host, int index, double t);

#endif
