/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Between the files of matching. The calls form a tree:
 *
 *	match.c		what is kept, and when it is decided
 *	  second.c	by the second key (address translation)
 *	  segment.c	what was cut or put together, by bytes or ids
 *	    whole.c	whole packets, by the first key
 *	      emit.c	what becomes of them
 *	      candidates.c	records that hold one byte
 *	        compare.c	two records
 *	          protocol.c	what is one protocol's
 *	ring.c		the packet ring, which all of these look into
 *	peers.c		clocks and addresses of hosts: when nothing more can come
 */
#ifndef NETSYNC_MATCH_INTERNAL_H
#define NETSYNC_MATCH_INTERNAL_H

#include "match/match.h"
#include "match/protocol.h"

/*
 * Records of one key at most: more are a storm of repetitions, from which no
 * message can be had; this keeps the cost of a key constant. Chosen.
 */
#define MATCH_MAX_RECORDS 256

/* Records that hold one byte at most; more are a storm, too. Chosen. */
#define MATCH_MAX_CANDIDATES 32

/* Records that hold the first byte of one. */
struct candidates {
	struct packet_record *s[MATCH_MAX_CANDIDATES];
	int n;
	bool too_many;
};

/*
 * Do two records agree in what both know, and what neither segmentation nor
 * (if @nat) translation of addresses changes? Translated ones must, beyond
 * that, both know enough to leave no doubt.
 */
bool match_headers(const struct packet_record *a, const struct packet_record *b,
		   bool nat);

/*
 * May one packet have caused two records on one host, if they agree? True
 * for different hosts.
 */
bool match_may_be_one_packet(const struct packet_record *a,
			     const struct packet_record *b);

/* Of one host, on their way in or both on their way out: at other places? */
bool match_other_place(const struct packet_record *a,
		       const struct packet_record *b);

void match_mark_ambiguous(struct matcher *m, struct packet_record *s);
void match_mark_matched(struct packet_record *s, uint32_t peer, bool nat);

/* Learn from a message how far clocks are apart. */
int match_learn(struct matcher *m, const struct packet_record *from,
		const struct packet_record *to);

/* The same, and hand it out. */
int match_emit(struct matcher *m, const struct packet_record *from,
	       const struct packet_record *to);

/* Are two records of one packet, as far as can be said? */
bool match_agree(const struct packet_record *a, const struct packet_record *b,
		 bool nat);

/* Divide records into packets, and decide each. They may move. */
int match_sort_out(struct matcher *m, struct packet_record **s, int n,
		   bool nat);

/* Decide all records of one's key. */
int match_whole(struct matcher *m, struct packet_record *s);

/* Must all that can be of the same packet as a record have been pushed? */
bool match_is_ready(const struct matcher *m, const struct packet_record *s);

/* Decide one that was not found by its key, by the second one. */
int match_second(struct matcher *m, struct packet_record *s);

/* Decide one by its first key, or by the parts of packets. */
int match_first(struct matcher *m, struct packet_record *s);

/* Learn how far clocks are apart from one's key, if there is no doubt about it. */
int match_learn_offset(struct matcher *m, struct packet_record *s);

/* Decide a segment by the bytes that it carries, datagrams by their ids. */
int match_segments(struct matcher *m, struct packet_record *s);

/* Bytes, or datagrams, from the beginning of a to that of b; both wrap. */
int32_t match_lead(const struct packet_record *a,
		   const struct packet_record *b);

/* How many of these a record holds. */
uint32_t match_span(const struct packet_record *s);

/* Is the beginning of a in b? */
bool match_begins_in(const struct packet_record *a,
		     const struct packet_record *b);

/* The records that begin with it, and longer ones that have it inside. */
void match_find_candidates(const struct matcher *m,
			   const struct packet_record *s, struct candidates *o);

/* Did the host of t receive its first byte before t left? */
bool match_is_forwarded(const struct packet_record *t,
			const struct candidates *all);

/* Can two segments, or bundles of datagrams, be of the same transmission? */
bool match_same_transmission(const struct packet_record *a,
			     const struct packet_record *b, bool nat);

/*
 * Are two of one host that hold the same bytes, or datagrams, of one
 * transmission, seen at different places, such as a socket and a device, cut or
 * put together in between or not?
 */
bool match_same_transit(const struct packet_record *a,
			const struct packet_record *b);

/*
 * The same; or are they of two hosts that can be clocks of one machine, which
 * both saw the transmission?
 */
bool match_same_side(const struct packet_record *a,
		     const struct packet_record *b);

/* Did a host that sends a segment receive its first byte before? */
bool match_forwarded(const struct matcher *m, const struct packet_record *s);

/* Is the first byte of a segment in another, longer one that was sent? */
bool match_inside_other(const struct matcher *m, const struct packet_record *s,
			const struct packet_record *received);

#endif
