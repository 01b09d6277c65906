/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Functions that the files of matching share. The calls form a tree:
 *
 *	match.c		all shards, batches of records, and threads
 *	shard.c		the records that a shard keeps, and when each is decided
 *	  second.c	matching by the second key (address translation)
 *	  segment.c	matching of segments by bytes, of datagrams by IP ids
 *	    whole.c	matching of whole packets by the first key
 *	      emit.c	states of records, and outcomes
 *	      candidates.c	records that hold a given byte
 *	        compare.c	comparing two records
 *	          protocol.c	code that differs by protocol
 *	ring.c		the packet ring, which all of these files read
 *	peers.c		clock offsets of hosts, which determine what records are complete
 */
#ifndef NETSYNC_MATCH_INTERNAL_H
#define NETSYNC_MATCH_INTERNAL_H

#include "match/shard.h"
#include "match/protocol.h"

/*
 * Maximum number of records with one key. If there are more, they count as a storm of repetitions
 * and give no message. The limit keeps the cost per key constant. Chosen.
 */
#define MATCH_MAX_RECORDS 256

/*
 * Maximum number of records that contain a certain byte. If there are more, they count as a storm,
 * too. Chosen.
 */
#define MATCH_MAX_CANDIDATES 32

/* Records that contain the first byte of a given record. */
struct candidates {
	struct packet_record *s[MATCH_MAX_CANDIDATES];
	int n;
	bool too_many;
};

/*
 * Return whether two records agree in all header fields that both have, except for fields that
 * segmentation changes or (with @nat) address translation changes. With @nat, both must also have
 * enough fields to be unambiguous.
 */
bool match_have_same_headers(const struct packet_record *a, const struct packet_record *b,
			     bool nat);

/*
 * Return whether two records that agree may belong to one packet. For different hosts, the result
 * is always true.
 */
bool match_may_be_one_packet(const struct packet_record *a, const struct packet_record *b);

/*
 * Return whether two records of one host and direction come from different places in the host's
 * stack.
 */
bool match_is_other_place(const struct packet_record *a, const struct packet_record *b);

void match_mark_ambiguous(struct shard *m, struct packet_record *s);

/* Mark a record as matched with a record of host @peer, and count it. Return 0 or -ENOMEM. */
int match_mark_matched(struct shard *m, struct packet_record *s, uint32_t peer, bool nat);

/* Add the time that a packet spent in a host's stack, in ns. Return 0 or -ENOMEM. */
int match_add_passage(struct shard *m, uint32_t host, uint8_t dir, int64_t ns);

/* Learn the clock offset between two hosts from a message. */
int match_add_learned(struct shard *m, const struct packet_record *from,
		      const struct packet_record *to);

/* Mark two records as matched with each other, and report their message. */
int match_emit_both(struct shard *m, struct packet_record *from, struct packet_record *to);

/* Report a message, and learn the clock offset from it. */
int match_emit_message(struct shard *m, const struct packet_record *from,
		       const struct packet_record *to);

/*
 * Return whether two records agree in all properties that both have, so that they may belong to one
 * packet.
 */
bool match_is_same_packet(const struct packet_record *a, const struct packet_record *b, bool nat);

/* Divide records into packets, and decide each record. The array is reordered. */
int match_resolve_records(struct shard *m, struct packet_record **s, int n, bool nat);

/* Decide all records that have the same key as s. */
int match_whole_record(struct shard *m, struct packet_record *s);

/* Return whether all records that may belong to the same packet as s have been added. */
bool match_is_ready(const struct shard *m, const struct packet_record *s);

/* Decide a record by its second key, because its first key has found no counterpart. */
int match_by_second_key(struct shard *m, struct packet_record *s);

/* Decide a record by its first key, or as a part of other packets. */
int match_by_first_key(struct shard *m, struct packet_record *s);

/* Learn clock offsets from the records with the key of s if they match unambiguously. */
int match_learn_offset(struct shard *m, struct packet_record *s);

/* Decide a segment by its bytes, or datagrams by their IP ids. */
int match_segments(struct shard *m, struct packet_record *s);

/*
 * Return the number of bytes, or of datagrams, from the beginning of @a to the beginning of @b.
 * Both wrap around.
 */
int32_t match_compute_lead(const struct packet_record *a, const struct packet_record *b);

/* Return the number of bytes, or datagrams, in a record. */
uint32_t match_get_span(const struct packet_record *s);

/* Return whether b contains the first byte of a. */
bool match_begins_in(const struct packet_record *a, const struct packet_record *b);

/* Find the records that begin with the first byte of s, and longer records that contain it. */
void match_find_candidates(const struct shard *m, const struct packet_record *s,
			   struct candidates *o);

/* Return whether the host of t received t's first byte before t left. */
bool match_is_forwarded(const struct packet_record *t, const struct candidates *all);

/* Return whether two segments, or groups of datagrams, may belong to the same transmission. */
bool match_is_same_transmission(const struct packet_record *a, const struct packet_record *b,
				bool nat);

/*
 * Return whether two records of one host belong to one transmission and come from different places,
 * such as a socket and a device. The transmission may have been segmented or merged between these
 * places.
 */
bool match_is_same_transit(const struct packet_record *a, const struct packet_record *b);

/*
 * Return whether the records belong to one transmission according to match_is_same_transit(), or
 * come from two hosts that may be clocks of one machine.
 */
bool match_is_same_side(const struct packet_record *a, const struct packet_record *b);

/* Return whether the host that sends s received the first byte of s before it sent s. */
bool match_is_record_forwarded(const struct shard *m, const struct packet_record *s);

/*
 * Return whether another, longer segment contains the first byte of s. This segment must be a sent
 * one and must agree with @received.
 */
bool match_is_inside_other(const struct shard *m, const struct packet_record *s,
			   const struct packet_record *received);

#endif
