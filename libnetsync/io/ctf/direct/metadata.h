/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The types in CTF 1.8 (TSDL) or CTF 2 metadata as LTTng writes it. */
#ifndef NETSYNC_CTF_METADATA_H
#define NETSYNC_CTF_METADATA_H

#include "io/ctf/direct/type.h"
#include "io/io.h"

/* The type of all events that have a certain id in a stream class. */
struct ctf_event_type {
	uint64_t stream_id;
	uint64_t id;
	char *name;
	const struct ctf_type *context; /* or NULL */
	const struct ctf_type *fields;	/* or NULL */
};

struct stream_type {
	uint64_t id;
	const struct ctf_type *packet_context;
	const struct ctf_type *event_header;
	const struct ctf_type *event_context; /* or NULL */
	/* Indexed by id. NULL if no event has this id. */
	const struct ctf_event_type **events;
	uint64_t num_events;
};

/* A named type (typealias, struct). */
struct type_alias {
	char *name; /* "struct NAME" for a structure */
	const struct ctf_type *type;
};

struct metadata {
	struct ctf_type *types; /* list of all types, linked by type.older */
	struct type_alias *aliases;
	size_t num_aliases;
	int num_slots;
	bool has_uuid;
	uint8_t uuid[UUID_SIZE];
	const struct ctf_type *packet_header;
	struct stream_type *streams;
	size_t num_streams;
	struct ctf_event_type *events;
	size_t num_events;
};

/*
 * Parse metadata. Return 0 or a negative errno value. -ENOTSUP means that the metadata has a
 * feature that LTTng does not use. Call metadata_release() even on failure.
 */
int metadata_parse(struct metadata *metadata, const char *text);

void metadata_release(struct metadata *metadata);

const struct stream_type *metadata_find_stream(const struct metadata *metadata, uint64_t id);

#endif
