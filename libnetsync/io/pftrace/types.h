/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Events of ftrace in Perfetto's format -> packet events. Perfetto has two forms for events that it
 * does not know. In the older one, each event contains the names of its fields
 * (GenericFtraceEvent). In the newer form, which is the default since v53, a description of the
 * type precedes or follows the first event.
 */
#ifndef NETSYNC_PFTRACE_TYPES_H
#define NETSYNC_PFTRACE_TYPES_H

#include "io/packet/event.h"
#include "util/bytes.h"

/* Maximum number of fields of a type that are used, which is the number of meanings. */
#define PFTRACE_MAX_FIELDS NUM_MEANINGS

/* A described type of packet or clock events. */
struct pftrace_type {
	uint32_t id; /* number of the field in FtraceEvent */
	const struct event_kind *kind;
	struct {
		uint32_t number;
		enum meaning meaning;
	} fields[PFTRACE_MAX_FIELDS];
	size_t num_fields;
};

struct pftrace_types {
	struct pftrace_type *list;
	size_t num;
};

/*
 * Add the type that a GenericEventDescriptor describes, unless its events are not used. Return 0 or
 * -ENOMEM.
 */
int pftrace_add_type(struct pftrace_types *types, struct bytes_take descriptor);
void pftrace_free_types(struct pftrace_types *types);

/* An event, as far as it is known. */
struct pftrace_event {
	int64_t time_ns;
	bool has_time;
	const struct event_kind *kind; /* NULL if the event is not used */
	struct event_values values;
};

/* Read an event. Return false if it is invalid. */
bool pftrace_read_event(const struct pftrace_types *types, struct bytes_take bytes,
			struct pftrace_event *event);

#endif
