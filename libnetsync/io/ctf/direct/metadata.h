/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Metadata of CTF 1.8 (TSDL), as LTTng writes it -> types. */
#ifndef NETSYNC_CTF_METADATA_H
#define NETSYNC_CTF_METADATA_H

#include "io/ctf/direct/type.h"

/* All of events with one id in one kind of stream. */
struct event_type {
	uint64_t stream_id;
	uint64_t id;
	char *name;
	const struct type *context; /* NULL: none */
	const struct type *fields;  /* NULL: none */
};

struct stream_type {
	uint64_t id;
	const struct type *packet_context;
	const struct type *event_header;
	const struct type *event_context; /* NULL: none */
	const struct event_type **events; /* by id; NULL: there is none */
	uint64_t num_events;
};

/* A name that a type was given. */
struct type_alias {
	char *name; /* of a structure with "struct " before it */
	const struct type *type;
};

struct metadata {
	struct type *types; /* the list of all */
	struct type_alias *aliases;
	size_t num_aliases;
	int num_slots;
	char *uuid; /* as text */
	const struct type *packet_header;
	struct stream_type *streams;
	size_t num_streams;
	struct event_type *events;
	size_t num_events;
};

/*
 * Read it. 0; -ENOTSUP: it has something that LTTng does not write; -ENOMEM.
 * metadata_release() is needed in every case.
 */
int metadata_parse(struct metadata *metadata, const char *text);

void metadata_release(struct metadata *metadata);

const struct stream_type *metadata_stream(const struct metadata *metadata,
					  uint64_t id);

#endif
