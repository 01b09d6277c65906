/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Traces of PyTorch's profiler, Kineto: one JSON file for each rank, in the format of Chrome's
 * tracing (libkineto/src/output_json.cpp). The times "ts" and "dur" are us with decimals, since
 * baseTimeNanoseconds, which follows the events.
 */
#ifndef NETSYNC_IO_SPANS_KINETO_H
#define NETSYNC_IO_SPANS_KINETO_H

#include "io/spans/decimal.h"
#include "io/spans/json.h"

/* Number of decimal digits from us to ns. */
#define KINETO_DIGITS 3
/* Name of the list of events. */
#define KINETO_LIST "traceEvents"

/*
 * Maximum number of collectives of a rank that are kept, of operations that launched them, and of
 * steps. Chosen: a profile of some steps has thousands of collectives, and each needs 120 bytes with
 * its launch.
 */
#define KINETO_MAX_COLLECTIVES (4 << 20)

/* A collective operation of this rank: a kernel on its GPU. */
struct kineto_collective {
	int64_t start_ns, end_ns; /* relative to base_ns until the file was read, then absolute */
	uint64_t key[2];
	uint64_t check;
	uint64_t group_id;	 /* hash of the group's name and ranks */
	uint64_t group;		 /* the same; for a message, hash of the pair of ranks as well */
	int64_t launch;		 /* "External id", which the launching operation has as well */
	int64_t sequence;	 /* number in the group; -1 if unknown */
	const struct name *name; /* name of the group, in kineto.names */
	const struct name *what; /* name of the operation, in kineto.names */
	uint32_t members;
	uint32_t role; /* as in struct span_part; 0 if it relates to no other rank */
	int32_t step;  /* -1 if unknown */
};

/* The operation on the CPU that launched a collective. */
struct kineto_launch {
	int64_t id;
	int64_t time_ns;
};

/* A step of the program, by the annotation "ProfilerStep#N". */
struct kineto_step {
	int64_t start_ns, end_ns;
	int32_t number;
};

/* Kinds of operations that are not used. */
enum kineto_unused {
	KINETO_UNKNOWN_KIND,
	KINETO_NO_GROUP,
	KINETO_EMPTY_PARTS,
	KINETO_NO_ROOT,
	KINETO_BAD_TIME,
	KINETO_NUM_UNUSED,
};

struct kineto {
	struct kineto_collective *collective; /* sorted by start after the file was read */
	size_t num, room;
	struct kineto_launch *launch;
	size_t num_launches, launch_room;
	struct kineto_step *step;
	size_t num_steps, step_room;
	struct name_table names;
	int64_t base_ns;
	bool has_base;
	int64_t rank; /* -1 if unknown */
	char *host_name;
	struct range range; /* time range of all spans, relative to base_ns */
	/* Numbers that were not kept because of KINETO_MAX_COLLECTIVES. */
	uint64_t omitted_collectives, omitted_launches, omitted_steps;
	uint64_t unused[KINETO_NUM_UNUSED];
	char example[KINETO_NUM_UNUSED][SPAN_NAME_SIZE]; /* name of the first unused operation */
	size_t next; /* index of the next collective that read() passes on */
};

void kineto_init(struct kineto *kineto);
void kineto_release(struct kineto *kineto);
/*
 * Read a whole file. Set *@is_damaged, and warn, if only its beginning can be read. Return 0, or a
 * negative value after io_fail().
 */
int kineto_read_file(struct netsync_io *io, const char *path, struct kineto *kineto,
		     bool *is_damaged);
/* Is it unknown to which time the file's times refer, because its end is missing? */
bool kineto_lacks_base(const struct kineto *kineto);

/*
 * kineto-event.c: read an event of the trace. Return 0 or -ENOMEM. The rank must be known, so
 * distributedInfo must precede the events, as Kineto writes it.
 */
int kineto_read_event(struct kineto *kineto, struct json_object *event);

/* kineto-key.c: sort all collectives, and give them steps and keys. Free launches and steps. */
void kineto_make_keys(struct kineto *kineto);

#endif
