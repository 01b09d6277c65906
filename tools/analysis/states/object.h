/* SPDX-License-Identifier: GPL-2.0-only */
/* The objects of a host that are currently in a state. */
#ifndef NETSYNC_STATES_OBJECT_H
#define NETSYNC_STATES_OBJECT_H

#include "spans.h"
#include "value.h"

struct object {
	char *key; /* unique in its definition */
	uint64_t hash;
	struct object *next; /* in its bucket */
	uint32_t definition;
	uint64_t number;
	uint64_t seen;		  /* the last event that used a rule for it */
	struct object *next_left; /* in the list of objects left without a state */
	struct kept *kept;	  /* NULL if the definition keeps nothing */

	char *state;		      /* NULL if none; the members below are then invalid */
	uint32_t name, label, shared; /* numbers of texts */
	struct lanes *lanes;	      /* of all objects of its name */
	uint32_t lane;
	int64_t begin_ns, begin_host_ns;
};

struct objects {
	struct object **buckets;
	size_t room; /* a power of two */
	size_t num;
	uint64_t last;	      /* the last number given to an object */
	struct lanes **lanes; /* by the text number of the name */
	size_t num_lanes;
};

/* Find an object, or add it. Return NULL if out of memory. */
struct object *object_get(struct objects *objects, uint32_t definition, const char *key,
			  size_t num_kept);
/* Return NULL if there is no such object. */
struct object *object_find(const struct objects *objects, uint32_t definition, const char *key);
void object_forget(struct objects *objects, struct object *object, size_t num_kept);

/* Take the lowest free lane of a name, until the state is left. Return false if out of memory. */
bool object_enter_lane(struct objects *objects, struct object *object, uint32_t name);
void object_leave_lane(struct object *object);

#endif
