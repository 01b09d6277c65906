/* SPDX-License-Identifier: GPL-2.0-only */
/* The objects of a host that are in a state now. */
#ifndef NETSYNC_STATES_OBJECT_H
#define NETSYNC_STATES_OBJECT_H

#include "spans.h"
#include "value.h"

struct object {
	char *key;		/* what tells it from others of its definition */
	uint64_t hash;
	struct object *next;	/* in its bucket */
	uint32_t definition;
	uint64_t number;
	uint64_t seen;		/* the event that a rule was last used for */
	struct object *next_left;	/* of those that are in no state any more */
	struct kept *kept;	/* NULL: the definition keeps nothing */

	/* Its state, if it is in one. */
	char *state;		/* NULL: it is in none */
	uint32_t name, label, shared;	/* texts of the spans */
	struct lanes *lanes;	/* of objects of its name */
	uint32_t lane;
	int64_t begin_ns, begin_host_ns;
};

struct objects {
	struct object **buckets;
	size_t room;		/* a power of two */
	size_t num;
	uint64_t last;		/* number */
	struct lanes **lanes;	/* by number of the name's text */
	size_t num_lanes;
};

/* NULL: there is not enough memory. It is made if it is new. */
struct object *object_get(struct objects *objects, uint32_t definition,
			  const char *key, size_t num_kept);
/* NULL: there is none. */
struct object *object_find(const struct objects *objects, uint32_t definition,
			   const char *key);
void object_forget(struct objects *objects, struct object *object, size_t num_kept);

/* A place beside others of this name, until it is left. False: not enough memory. */
bool object_enter_lane(struct objects *objects, struct object *object,
		       uint32_t name);
void object_leave_lane(struct object *object);

#endif
