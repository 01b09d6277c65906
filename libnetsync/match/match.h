/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Match packet events to find messages: determine which records of different hosts belong to one
 * packet, or carry the same bytes. internal.h lists the files.
 *
 * Batches of records go to the shards that match them. Each batch is matched in two steps. First,
 * every shard adds its records and finds outcomes. Then the state of the pairs is updated, one part
 * of the pairs after the other. Threads divide the shards among them in the first step, and the
 * parts in the second step. The result depends only on the order of events, and not on the threads.
 */
#ifndef NETSYNC_MATCH_MATCH_H
#define NETSYNC_MATCH_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "netsync.h"
#include "match/shard.h"
#include "util/parallel.h"

/* Callbacks of a matcher. Each callback gets the argument that was given to matcher_init(). */
struct match_calls {
	/*
	 * Called for each message. Returns 0 or -errno. Unless one_thread is set, several threads
	 * may call this function at the same time, for pairs of different parts (get_pair_part()).
	 */
	int (*found)(void *arg, uint32_t from, uint32_t to, int64_t send, int64_t recv);
	/*
	 * Called in the caller's thread for each message if matcher_set_watched() has requested it.
	 * May be NULL.
	 */
	void (*tell)(void *arg, const struct netsync_message *msg);
	/*
	 * Called in the caller's thread when all messages of a batch have been found. May be NULL.
	 */
	void (*done)(void *arg);
};

struct matcher {
	struct shard shard[NETSYNC_SHARDS];
	struct peers peers;
	struct address_owners owners;
	struct match_calls calls;
	void *arg;
	uint64_t seed;	  /* seed for the digests of addresses */
	uint32_t limit;	  /* maximum number of records in all rings; at most RING_MAX */
	uint32_t kept;	  /* bit mask of the shards that this matcher matches */
	uint32_t threads; /* number of threads, including the caller's */
	bool one_thread;  /* whether only the caller's thread finds messages, in order */
	bool watched;	  /* whether to call tell() for each message */
	struct record_batch batch[2];
	uint32_t filling; /* index of the batch to which events are added */
	uint32_t number;  /* number of the next record */
	uint32_t begun;	  /* value of @number when filling of the batch began */
	uint32_t oldest;  /* number of the oldest record to settle */
	uint32_t since;	  /* number of records since limits were updated */
	bool promised;	  /* whether progress was promised since limits were updated */
	/* A batch covers at most one lifetime (PEER_LIFETIME) of one host's events. */
	struct pace {
		uint32_t host; /* NO_PEER if no progress has been promised yet */
		int64_t end;   /* end of the lifetime, ns */
		bool over;
	} pace;
	/* Owners of addresses. Owners are learned while a batch is matched. */
	struct owned_address {
		uint32_t host;
		uint32_t address;
	} * owned;
	size_t num_owned;
	size_t owned_room;
	/* For each shard and each part of the pairs, the number of outcomes that were applied. */
	struct applied {
		size_t done[NETSYNC_SHARDS];
		uint32_t round;
		uint8_t apart[CACHE_LINE];
	} applied[PAIR_PARTS];
	/* Work of the threads, which match a batch or settle records. */
	uint32_t round; /* number of the work; a failed step is retried with the same number */
	struct parallel *parallel;
	enum { MATCH_IDLE, MATCH_BUSY, MATCH_FAILED } work;
	bool settling;
	struct match_counts other; /* counts of packets that were matched elsewhere */
	uint64_t other_evicted;
	struct match_counts past; /* sums over all shards, updated at each settling */
	struct match_counts live;
	uint64_t evicted;
};

/* Initialize a matcher. The threads of @parallel share its work. */
void matcher_init(struct matcher *m, const struct match_calls *calls, void *arg,
		  struct parallel *parallel);

/* Wait until no thread is working, and release everything. Do nothing if the matcher is lost. */
void matcher_release(struct matcher *m);

/*
 * Return whether threads were working when this process was forked. If so, the state that they were
 * changing is undefined and cannot be used any more.
 */
bool matcher_is_lost(const struct matcher *m);

/* Add a host. It gets the next number. Return 0 or -ENOMEM. */
int matcher_add_host(struct matcher *m);

/* Return whether packets of this kind are matched. */
bool matcher_supports(const struct netsync_packet *p);

/*
 * Return the shards of a packet event. If packets of this kind are not matched, return
 * any one shard.
 */
struct shards matcher_find_shards(const struct netsync_packet *p);

/*
 * Add a packet event that belongs to one of the matcher's shards. Return 0 or a negative errno
 * value. -ENOMEM means that nothing was changed, and -EOWNERDEAD that the matcher is lost. An error
 * of found() for a message of earlier events is also returned.
 */
int matcher_add_packet(struct matcher *m, const struct netsync_packet *p);

/*
 * Record that all events of a host before @time have been added. INT64_MAX means all events so far.
 */
void matcher_advance(struct matcher *m, uint32_t host, int64_t time);

/* Do not wait for a host, which may still add events of any time, until it advances again. */
void matcher_pause(struct matcher *m, uint32_t host);

/*
 * Wait until no thread is working. Call this before you change data that callbacks use. Return 0 or
 * a negative errno value. -EOWNERDEAD means that the matcher is lost. If the work fails, its error
 * is returned, and the next call tries again.
 */
int matcher_wait(struct matcher *m);

/*
 * If @watched, report messages from now on. Messages of events that are added from now on have
 * addresses.
 */
void matcher_set_watched(struct matcher *m, bool watched);

/* Add counts of packets that were matched elsewhere. */
void matcher_add_counts(struct matcher *m, const struct match_counts *counts, uint64_t evicted);

/* Report the messages that can be found so far, and update the counts. */
int matcher_settle(struct matcher *m);

#endif
