/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Observations of one host: all messages that it exchanged with its
 * neighbours, as limits of its correction. A message that the host sent is a
 * limit from above, one that it received a limit from below. Values are what
 * lies beyond the straight part of the correction.
 */
#ifndef NETSYNC_CURVE_OBSERVATIONS_H
#define NETSYNC_CURVE_OBSERVATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "curve/correction.h"
#include "message/message.h"

/* Messages of a group at least: their lowest is judged as one. Chosen. */
#define GROUP_MESSAGES 16
/*
 * A fit that is further from observations than a line by this factor has diverged. A line
 * is no further than itself; where a clock was set unseen a curve swings to either side of
 * the step, by less than the line is off. Chosen.
 */
#define STRAYED 2.0

/* On which side of the correction a limit lies. */
enum { ABOVE, BELOW };

/* Messages between the host and one whose correction is known. */
struct link {
	const struct pair *pair;
	const struct correction *other;
	bool first;    /* the host is the pair's host[0] */
	bool straight; /* there is a line that all messages allow */
	/*
	 * Its messages tell little by themselves: they are observations of one link
	 * together with all other thin ones, which come last.
	 */
	bool thin;
	/*
	 * The host has so few bins, of all its links, that the spline may have an interval
	 * for each: observations are bins of their own.
	 */
	bool few_bins;
	bool idle; /* it is one of the links, but its messages are not looked at */
};

struct observation {
	double t;	 /* host's time since the start of its span, ns */
	double y;	 /* limit of the correction, ns */
	double residual; /* y - the curve last given, ns */
};

/* The residual, outward positive: what the observation leaves to the curve, ns. */
static inline double observation_outward(const struct observation *o, int side)
{
	return side == BELOW ? -o->residual : o->residual;
}

/* A bin of time of one direction. */
struct obs_bin {
	double t; /* mean time of its messages, ns */
	uint32_t messages;
	uint32_t from;	   /* its first observation */
	uint32_t num;	   /* observations; 0: all were rejected */
	uint32_t gathered; /* the same, before any was rejected */
	uint32_t link;	   /* of those that were gathered: whose messages they are */
	/* Where the minimum delay is larger than elsewhere (delays.h): */
	double excess;	     /* by how much, ns */
	double excess_error; /* standard deviation of that, ns a message */
};

/* One direction of one link: ABOVE if the host sent, BELOW if it received. */
struct obs_direction {
	struct obs_bin *bin; /* in order of time */
	size_t bins;
	double width; /* of a bin, ns */
	uint64_t messages;
	double mean;	    /* delay beyond the minimum, ns */
	double other_error; /* expected error of the other's correction, ns */
};

struct observations {
	double span;			 /* ns */
	size_t links;			 /* thin ones are the last, as one */
	bool pooled;			 /* there are thin ones */
	struct obs_direction *direction; /* 2 of each link: ABOVE, BELOW */
	struct observation *obs;
	size_t num;
	uint64_t messages[2]; /* ABOVE, BELOW */
	double resolution;    /* of the coarsest stamps, ns; 0: whole ns */
	double softness;      /* of the edge of delays, see delays_soften() */
};

/* Neighbouring bins with enough messages to say something of the lowest. */
struct bin_group {
	double t; /* of the innermost observation, ns */
	double y; /* its residual, outward positive, ns */
	double messages;
	size_t from; /* first bin */
	size_t to;   /* behind the last */
};

/* A curve of the host, beyond its straight correction: t, value in ns. */
typedef double (*curve_fn)(void *arg, double t);

/*
 * The offset of a correction that leads through a message of the link: what is
 * beyond it does not depend on origins, not even in the last digits.
 */
int64_t observations_level(const struct link *l);

/* Which of the observations' links is one of the given? */
size_t observations_link(const struct observations *p, const struct link *links, size_t i);

/* Fill @p from the messages of all links: 0 or -ENOMEM; release in any case. */
int observations_gather(struct observations *p, const struct correction *c,
			const struct link *links, size_t num_links);
void observations_release(struct observations *p);

/* Take a line from all observations: y -= offset + slope * t. */
void observations_detrend(struct observations *p, double offset, double slope);

/* Set all residuals, against a curve; NULL: against zero. */
void observations_set_residuals(struct observations *p, curve_fn curve, void *arg);

/*
 * Residuals are set: is the curve further from the observations, on the average, than
 * STRAYED times the straight line that these are beyond? Such a fit has diverged.
 */
bool observations_strayed(const struct observations *p);

/*
 * The innermost observation of a bin that has some: its residual, outward
 * positive. *t: its time.
 */
double observations_innermost(const struct observations *p, const struct obs_bin *bin, int side,
			      double *t);

/*
 * Divide a direction into groups of bins, of at least @messages each: their
 * number. Groups are in order of time; there is room for one for each bin.
 */
size_t observations_group(const struct observations *p, const struct obs_direction *dir, int side,
			  double messages, struct bin_group *group);

/*
 * The margins that messages leave: at each of @num groups of one direction, half of
 * what is between it and the next group of the other, ns. Return: how many, or 0 if
 * either direction has too few groups.
 */
size_t bin_group_margins(const struct bin_group *group, size_t num, const struct bin_group *other,
			 size_t num_other, double *margin);

/* Of all observations, how many are not kept. */
size_t observations_rejected(const struct observations *p);

/* The most bins of any direction. */
size_t observations_most_bins(const struct observations *p);

#endif
