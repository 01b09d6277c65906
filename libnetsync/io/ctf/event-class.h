/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The fields of a CTF event class, and their values in an event of this class. */
#ifndef NETSYNC_CTF_EVENT_CLASS_H
#define NETSYNC_CTF_EVENT_CLASS_H

#include <babeltrace2/babeltrace.h>

#include "io/ctf/direct/reader.h"
#include "io/events.h"

enum event_scope { SCOPE_SPECIFIC, SCOPE_COMMON, SCOPE_PAYLOAD, NUM_SCOPES };

/* A field: a member of one of the structures of an event. */
struct ctf_field_place {
	enum event_scope scope;
	size_t member;
	const bt_field_class *class;
};

struct ctf_event_class {
	const bt_event_class *bt;
	const char *name;
	const char **names; /* names of the fields */
	struct ctf_field_place *places;
	uint32_t num, num_context;
};

/* The event classes of a stream class. A class is added when its first event is read. */
struct event_classes {
	const bt_stream_class *stream;
	struct ctf_event_class **list;
	size_t num;
	struct ctf_event_class **by_id; /* NULL if no event with this id has been read */
	size_t num_ids;
};

/*
 * Find an event class, or add it. @bt must not be released before event_classes_release(). Return
 * NULL if out of memory.
 */
const struct ctf_event_class *event_classes_find(struct event_classes *classes,
						 const bt_event_class *bt);
/*
 * Find the class of an event that direct/ has read by the event's id. Return NULL if out of memory.
 */
const struct ctf_event_class *event_classes_find_by_id(struct event_classes *classes, uint64_t id);
void event_classes_release(struct event_classes *classes);

/*
 * Copies of values whose bytes are not next to each other in the event. The copies are valid until
 * the event's callback returns.
 */
struct value_copies {
	void **list;
	size_t num;
};

void value_copies_free(struct value_copies *copies);

/* The object to which netsync_io_event.reserved points for a CTF event. */
struct ctf_raw {
	struct event_raw raw;
	const struct ctf_event_class *class;
	const bt_event *bt; /* the event, or NULL if direct/ has read it as @direct */
	const struct direct_event *direct;
	struct value_copies *copies;
};

/* Implement event_raw.value() for struct ctf_raw. */
int ctf_get_value(const struct event_raw *raw, uint32_t field, struct netsync_io_value *value);

#endif
