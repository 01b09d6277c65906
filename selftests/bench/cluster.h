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
	EIGHT,		/* each host with eight others, see cluster_eight */
};

/*
 * How far further the hosts are that a host talks with in a ring, numbers of hosts; as many
 * are as far back. Chosen: near ones and far ones. There are to be more than twice as many
 * hosts as the last one, lest two links be of the same hosts.
 */
#define CLUSTER_EIGHT 4
extern const int cluster_eight[CLUSTER_EIGHT];

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

	/*
	 * A quartz left alone (IEEE Std 1139): random-walk and flicker
	 * frequency modulation, and the room's temperature.
	 */
	QUARTZ = 1 << 5,
	/*
	 * chronyd in a busy network: every 16-64 s it slews by 20-100 ppm for
	 * 0.5-8 s, and corrects the rate.
	 */
	CHRONY = 1 << 6,
	/* chronyd in a calm one: every 64-1024 s, by 0.1-5 ppm. */
	CHRONY_CALM = 1 << 7,
	/* adjtime(3): 500 us in each second, the rest in the last one. */
	ADJTIME = 1 << 8,
	/* Half a leap second, smeared linearly over 24 h, by host 1. */
	SMEAR = 1 << 9,
	/* host 1 is set, four times by seconds, four times by up to 200 us */
	SET = 1 << 10,
	/* the last host is set three times by seconds */
	SET_LAST = 1 << 11,
	/* host 1 is suspended for a sixth of the time; its clock stands still */
	SUSPEND = 1 << 12,
	/*
	 * The last host has four processors whose clocks differ by up to 10 ms
	 * and 100 ppm; nobody can say what its time is.
	 */
	FALSE_LAST = 1 << 13,
	/* Random-walk frequency modulation alone, three times that of QUARTZ. */
	WALK = 1 << 14,
	/* ptp4l: each second it takes 0.7 of the offset away, as it reads it. */
	PTP = 1 << 15,
};

struct cluster_spec {
	int hosts;
	enum cluster_topology topology;
	unsigned int clocks;	/* enum cluster_clocks */
	double span_s;
	long messages;		/* before losses and repetitions */
	int steered;		/* hosts, the last ones, whose clocks daemons steer; 0: all */

	/* Of two values, [1] is for messages to a smaller host number. */
	double min_delay_ns[2];	/* 0: 30 us */
	double mean_delay_ns[2];/* exponential, on top; 0: 100 us */

	double late;		/* share: another exponential 20 ms */
	double wrong;		/* share: received time of another packet */
	double near;		/* share: received up to 200 us off */
	double repeated;	/* share: twice, as it was or received later */
	double lost[2];		/* share */
	double gap_s;		/* nothing is sent for so long, once */
	bool shuffled;
	double resolution_ns;	/* of stamps; 0: 1 ns */
	double processors_ns;	/* clocks of a host's processors differ by up to this */
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

/* Does its clock show a time that can be told? See FALSE_LAST. */
bool cluster_host_is_sound(const struct cluster *c, int host);

/*
 * What the kernel tells of a host's clock at a true instant: what a raw clock, of
 * the same oscillator, shows, and how fast the clock goes against that from there
 * on; whether it was set just then. Only a host that is steered or set is told of.
 */
struct cluster_point {
	int64_t time_ns;
	int64_t raw_ns;
	double rate;
	bool was_set;
};

/*
 * The next of them after @t: one for each change, and one a second. False: there
 * is none. @t becomes its instant; -1 at first.
 */
bool cluster_next_point(const struct cluster *c, int host, double *t,
			struct cluster_point *point);

/*
 * When the @index-th jump or pause of @host begins and ends, and by how much
 * its clock is set; false: there is none.
 */
bool cluster_break(const struct cluster *c, int host, int index, double *from,
		   double *to, double *ahead);

/* Does a message of @host tell on which side of a jump or pause @t is? */
bool cluster_break_is_heard(const struct cluster *c, int host, int index, double t);

#endif
