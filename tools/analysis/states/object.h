/* SPDX-License-Identifier: GPL-2.0-only */
/* The objects of a host that are in a state now. */
#ifndef NETSYNC_STATES_OBJECT_H
#define NETSYNC_STATES_OBJECT_H

#include "spans.h"
#include "value.h"

struct object {
	char *key;		/* unique in its definition */
	uint64_t hash;
	struct object *next;	/* in its bucket */
	uint32_t definition;
	uint64_t number;
	uint64_t seen;		/* the event that a rule was last used for */
	struct object *next_left;	/* in the list of those left without a state */
	struct kept *kept;	/* NULL: the definition keeps nothing */

	char *state;		/* NULL: the object is in none, and what follows is void */
	uint32_t name, label, shared;	/* numbers of texts */
	struct lanes *lanes;	/* of all objects of its name */
	uint32_t lane;
	int64_t begin_ns, begin_host_ns;
};

struct objects {
	struct object **buckets;
	size_t room;		/* a power of two */
	size_t num;
	uint64_t last;		/* number that was given to an object */
	struct lanes **lanes;	/* by number of the name's text */
	size_t num_lanes;
};

/* Find an object, or make it. NULL: there is not enough memory. */
struct object *object_get(struct objects *objects, uint32_t definition,
			  const char *key, size_t num_kept);
/* NULL: there is no such object. */
struct object *object_find(const struct objects *objects, uint32_t definition,
			   const char *key);
void object_forget(struct objects *objects, struct object *object, size_t num_kept);

/* Take the lowest free lane of a name, until it is left. False: not enough memory. */
bool object_enter_lane(struct objects *objects, struct object *object,
		       uint32_t name);
void object_leave_lane(struct object *object);

#endif
