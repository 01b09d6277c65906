/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Dumps of PyTorch's flight recorder, one for each rank, as a pickle or in JSON
 * (torch/csrc/distributed/c10d/FlightRecorderDetail.hpp). Each entry is an operation of the rank:
 *
 *	time_created_ns			the host enqueued it: before its start
 *	time_discovered_started_ns	a thread noticed that it had started: says nothing
 *	time_discovered_completed_ns	a thread noticed that it had ended: after its end
 *
 * All are CLOCK_REALTIME of the host.
 */
#ifndef NETSYNC_IO_SPANS_FLIGHT_H
#define NETSYNC_IO_SPANS_FLIGHT_H

#include "io/spans/operations.h"
#include "io/spans/pickle.h"

/* An entry of the dump, until the ranks of its group are known. */
struct flight_entry {
	int64_t created_ns;
	int64_t completed_ns; /* 0 if unknown */
	uint64_t group;	      /* hash of the group's name */
	uint64_t sequence;    /* number of the collective operation in the group */
	uint64_t check;
	const struct name *group_name, *what;
	bool is_used; /* whether each rank waits for all others */
};

/* A process group. */
struct flight_group {
	uint64_t name; /* hash */
	uint64_t id;   /* hash of name and ranks */
	uint32_t members;
};

struct flight {
	struct flight_entry *entry;
	size_t num, room;
	struct flight_group *group;
	size_t num_groups, group_room;
	struct rank_operations operations;
	int64_t rank;
};

/*
 * flight-entry.c: use a dictionary of the dump, which may be an entry, a process group, or something
 * else. @data is a struct flight. Return as pickle_dict_func.
 */
int flight_use_dict(void *data, const struct pickle_value *pairs, size_t num);
/* Make operations of all entries, whose groups are known now. Return 0 or -ENOMEM. */
int flight_make_operations(struct flight *flight);

#endif
