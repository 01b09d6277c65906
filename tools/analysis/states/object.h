/* SPDX-License-Identifier: GPL-2.0-only */
/* The objects of a host that are currently in a state. */
#ifndef NETSYNC_STATES_OBJECT_H
#define NETSYNC_STATES_OBJECT_H

#include "spans.h"
#include "value.h"

struct object {
	char *key; /* key that is unique in the object's definition */
	uint64_t hash;
	struct object *next; /* next object in the hash bucket */
	uint32_t definition;
	uint64_t number;
	uint64_t seen;		  /* number of the last event whose rule changed it */
	struct object *next_left; /* next in the list of objects without a state */
	struct kept *kept;	  /* values that it keeps, or NULL if none */

	char *state;		      /* or NULL if none; the members below are then invalid */
	uint32_t name, label, shared; /* numbers of texts */
	struct lanes *lanes;	      /* lanes of all objects with the same name */
	uint32_t lane;
	int64_t begin_ns, begin_host_ns;
};

struct objects {
	struct object **buckets;
	size_t room; /* number of buckets, a power of two */
	size_t num;
	uint64_t last;	      /* number given to the last object that was added */
	struct lanes **lanes; /* lanes of each name, indexed by the number of its text */
	size_t num_lanes;
};

/* Find an object, or add it. Return NULL if out of memory. */
struct object *object_find_or_add(struct objects *objects, uint32_t definition, const char *key,
				  size_t num_kept);
/* Find an object. Return NULL if no object has this key. */
struct object *object_find(const struct objects *objects, uint32_t definition, const char *key);
void object_forget(struct objects *objects, struct object *object, size_t num_kept);

/*
 * Assign the lowest free lane of a name to an object until the object leaves its state. Return
 * false if out of memory.
 */
bool object_enter_lane(struct objects *objects, struct object *object, uint32_t name);
void object_leave_lane(struct object *object);

#endif
