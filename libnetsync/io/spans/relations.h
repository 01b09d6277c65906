/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parts of relations between spans of all hosts -> messages. */
#ifndef NETSYNC_IO_SPANS_RELATIONS_H
#define NETSYNC_IO_SPANS_RELATIONS_H

#include "io/io.h"

/* A relation, of which some parts were read. */
struct relation {
	struct relation *next;		/* in its slot of the hash table */
	struct relation *older, *newer; /* in order of the first part */
	uint64_t key[2], check, group_id[2];
	struct netsync_io_span *part; /* by host when the relation is used */
	size_t num, room;
	uint32_t members;
	int32_t step;
	uint32_t kind;
	bool is_mismatched; /* its parts differ in what must be equal */
	bool is_repeated;   /* a member has two parts */
	bool is_unordered;  /* parts on one host, which has one clock, violate their conditions */
	bool is_paired;	    /* a call has its client and its server */
	bool is_apart;	    /* parts are further apart than clocks usually differ */
	uint32_t unordered; /* host whose times are impossible */
	const struct name *group, *what;
};

/* Add a part of the host @host. Return 0, or a negative value after io_fail(). */
int relations_add(struct netsync_io *io, uint32_t host, const struct span_part *part);
/* Use the relations whose other parts were not found, and warn of them. Return as above. */
int relations_end(struct netsync_io *io);
void relations_free(struct relations *relations);

/* Return the name of a host, for messages. */
const char *relation_get_host_name(const struct netsync_io *io, uint32_t host);

/*
 * star.c: find relations whose parts are of different runs of a program, and store the host that shows
 * it; push the messages of a relation, and note in it which times are impossible or unlikely.
 * Return 0, or a negative value after io_fail(). The caller provides the work space @sides, with
 * capacity for all hosts of the relation.
 */
struct host_side {
	uint32_t host;
	bool has_start, has_end; /* whether the following times are set */
	int64_t start_ns; /* latest time on this host that precedes the others, such as a start */
	int64_t end_ns;	  /* earliest time on this host that follows them, such as an end */
};

bool relation_mixes_runs(struct relation *relation, struct host_side *sides);
int relation_push_messages(struct netsync_io *io, struct relation *relation,
			   struct host_side *sides);

#endif
