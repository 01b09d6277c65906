/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * All messages of one host with its neighbours, as they bear on the host's
 * correction: each is a limit from above (messages that the host sent) or from
 * below (that it received), beyond a straight course.
 */
#ifndef NETSYNC_POINTS_H
#define NETSYNC_POINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "curve/correction.h"
#include "message/message.h"

enum { ABOVE, BELOW };

/* Messages between the host and one whose course is known. */
struct link {
	const struct pair *pair;
	const struct course *other;
	bool first;		/* the host is the pair's host[0] */
	bool straight;		/* there is a line that all messages allow */
};

struct sample {
	double t;		/* host's time from the start of its span, ns */
	double y;		/* beyond the straight course, ns */
	double beyond;		/* the curve that was last looked at, ns */
};

/* A bin of one direction of one link. */
struct heap {
	double t;		/* mean time of its messages */
	uint32_t messages;
	uint32_t first;		/* sample */
	uint32_t samples;	/* none: what there was has been dropped */
	/* Where all messages are slow: */
	double lift;		/* of the lowest around, above the smallest */
	double blur;		/* what that makes uncertain of each message */
};

/* One direction of one link. */
struct side {
	struct heap *heap;
	size_t heaps;
	double width;		/* of a heap, in time */
	uint64_t messages;
	double mean;		/* delay beyond the smallest, ns */
	double noise;		/* of the other host's course, ns */
};

struct points {
	double span;
	size_t links;
	struct side *side;	/* 2 * links: ABOVE, BELOW of each */
	struct sample *sample;
	size_t samples;
	uint64_t messages[2];
};

/* Enough messages for a statement about their lowest, as one. */
struct group {
	double t;		/* of the lowest point */
	double y;		/* its value, outward positive */
	double messages;
	size_t from;		/* heaps */
	size_t to;
};

/* A curve of the host, beyond its straight course. */
typedef double (*curve_fn)(void *arg, double t);

/*
 * The offset of a course that leads through a message of the link: beyond it
 * nothing depends on origins, not even in the last digits.
 */
int64_t points_level(const struct link *l);

/* 0 or -ENOMEM; release in any case. */
int points_gather(struct points *p, const struct course *c,
		  const struct link *links, size_t num_links);
void points_release(struct points *p);

/* Move all points by a line: y -= offset + slope * t. */
void points_tilt(struct points *p, double offset, double slope);

/* From now on, look at what is beyond a curve; NULL: beyond zero. */
void points_look(struct points *p, curve_fn curve, void *arg);

/*
 * The innermost point of a heap that has some, beyond the curve, outward
 * positive; *t: where it is.
 */
double points_inner(const struct points *p, const struct heap *h, int side,
		    double *t);

/*
 * Sum a side up, beyond the curve, in groups of at least @messages. Groups are
 * in order of time; room for as many as there are heaps. Returns their number.
 */
size_t points_group(const struct points *p, const struct side *side, int dir,
		    double messages, struct group *group);

/* The most heaps of any side. */
size_t points_most(const struct points *p);

/*
 * The value that is at a place once all are sorted; at the middle. Values move;
 * 0 of none.
 */
double nth(double *v, size_t n, size_t place);
double median(double *v, size_t n);

#endif
