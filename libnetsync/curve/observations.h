/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Observations of one host: all messages exchanged with its neighbours, as limits of its
 * correction. A message sent by the host is a limit from above, a message it received a limit from
 * below. Values are relative to the straight part of the correction.
 */
#ifndef NETSYNC_CURVE_OBSERVATIONS_H
#define NETSYNC_CURVE_OBSERVATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "curve/correction.h"
#include "message/message.h"

/* Least number of messages in a group, whose lowest message represents it. Chosen. */
#define GROUP_MESSAGES 16
/*
 * A fit has diverged if it is further from the observations than a line by this factor. A line is
 * no further than itself. If a step of the clock was missed, a curve swings to either side of it,
 * by less than the error of the line. Chosen.
 */
#define STRAYED 2.0

/* Side of the correction on which a limit lies. */
enum { ABOVE, BELOW };

/* Messages between the host and a host whose correction is known. */
struct link {
	const struct pair *pair;
	const struct correction *other;
	bool first;    /* the host is the pair's host[0] */
	bool straight; /* some straight line satisfies all messages */
	/*
	 * The link has few messages. Thin links come last, and their messages are merged as the
	 * observations of one link.
	 */
	bool thin;
	/*
	 * The host has so few bins on all its links that the spline may have a knot interval for
	 * each: each observation is then its own bin.
	 */
	bool few_bins;
	bool idle; /* a link whose messages are ignored */
};

struct observation {
	double t;	 /* host's time since the start of its span, ns */
	double y;	 /* limit of the correction, ns */
	double residual; /* y - the curve given last, ns */
};

/*
 * Return the residual, outward positive: the distance that the observation leaves to the curve, ns.
 */
static inline double observation_outward(const struct observation *o, int side)
{
	return side == BELOW ? -o->residual : o->residual;
}

/* A bin of time of one direction. */
struct obs_bin {
	double t; /* mean time of its messages, ns */
	uint32_t messages;
	uint32_t from;	   /* its first observation */
	uint32_t num;	   /* observations kept; 0: all were rejected */
	uint32_t gathered; /* observations before any was rejected */
	uint32_t link;	   /* link of its messages, when gathered */
	/* If the minimum delay is larger than at other times (delays.h): */
	double excess;	     /* by how much, ns */
	double excess_error; /* standard deviation of the excess, ns per message */
};

/* One direction of one link: ABOVE if the host sent, BELOW if it received. */
struct obs_direction {
	struct obs_bin *bin; /* in order of time */
	size_t bins;
	double width; /* of a bin, ns */
	uint64_t messages;
	double mean;	    /* delay beyond the minimum, ns */
	double other_error; /* expected error of the other host's correction, ns */
};

struct observations {
	double span;			 /* ns */
	size_t links;			 /* thin ones are merged into the last */
	bool pooled;			 /* there are thin ones */
	struct obs_direction *direction; /* 2 for each link: ABOVE, BELOW */
	struct observation *obs;
	size_t num;
	uint64_t messages[2]; /* ABOVE, BELOW */
	double resolution;    /* resolution of the coarsest stamps, ns; 0: whole ns */
	double softness;      /* of the edge of delays, see delays_soften() */
};

/* Neighbouring bins with enough messages for their lowest message to be meaningful. */
struct bin_group {
	double t; /* of the innermost observation, ns */
	double y; /* its residual, outward positive, ns */
	double messages;
	size_t from; /* first bin */
	size_t to;   /* after the last bin */
};

/* A curve of the host, relative to its straight correction: t, value in ns. */
typedef double (*curve_fn)(void *arg, double t);

/*
 * Return the offset of a correction through a message of the link. Values relative to this offset
 * do not depend on origins, not even in the last digits.
 */
int64_t observations_level(const struct link *l);

/* Return the index of @links[i] among the links of the observations. */
size_t observations_link(const struct observations *p, const struct link *links, size_t i);

/* Gather the messages of all links into @p: 0 or -ENOMEM; release it in any case. */
int observations_gather(struct observations *p, const struct correction *c,
			const struct link *links, size_t num_links);
void observations_release(struct observations *p);

/* Subtract a line from all observations: y -= offset + slope * t. */
void observations_detrend(struct observations *p, double offset, double slope);

/* Set all residuals relative to a curve; NULL: relative to zero. */
void observations_set_residuals(struct observations *p, curve_fn curve, void *arg);

/*
 * Is the curve, which residuals are relative to, on average further from the observations than
 * STRAYED times the straight line? Such a fit has diverged.
 */
bool observations_strayed(const struct observations *p);

/*
 * Return the residual of the innermost observation of a bin that has some, outward positive. *t:
 * its time.
 */
double observations_innermost(const struct observations *p, const struct obs_bin *bin, int side,
			      double *t);

/*
 * Divide a direction into groups of bins, in order of time, of at least @messages each. Return
 * their number; @group has space for one for each bin.
 */
size_t observations_group(const struct observations *p, const struct obs_direction *dir, int side,
			  double messages, struct bin_group *group);

/*
 * Compute the margins that messages leave: at each of @num groups of one direction, half of the gap
 * to the next group of the other, ns. Return their number, or 0 if either direction has too few
 * groups.
 */
size_t bin_group_margins(const struct bin_group *group, size_t num, const struct bin_group *other,
			 size_t num_other, double *margin);

/* Return how many of all observations were rejected. */
size_t observations_rejected(const struct observations *p);

/* Return the largest number of bins of any direction. */
size_t observations_most_bins(const struct observations *p);

#endif
