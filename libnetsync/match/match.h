/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From packet events to messages: which sightings on different hosts are of
 * one packet, or carry the same bytes?
 *
 *	match.c		the interface: what is kept, when it is decided
 *	match-key.c	whole packets, by a key that every source knows
 *	match-part.c	what was cut or put together, by bytes or ids
 *	sighting.c	the log of sightings
 *	peers.c		when nothing more can come; statistics of pairs
 */
#ifndef NETSYNC_MATCH_H
#define NETSYNC_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "netsync.h"
#include "match/peers.h"
#include "match/ring.h"

/*
 * Called for each message: where it was sent, and where it was received. 0 or
 * -errno.
 */
typedef int (*match_fn)(void *arg, const struct sighting *from,
			const struct sighting *to);

struct matcher {
	struct log log;
	struct peers peers;
	match_fn found;
	void *arg;
	uint32_t limit;		/* of what the log may hold; at most LOG_MAX */
	uint32_t since;		/* pushed since the limits were brought up */
	bool unclear;		/* what is decided now is not final */
	struct tally past;
	struct tally live;
	uint64_t evicted;	/* of past.unmatched: at the limit */
};

void matcher_init(struct matcher *m, match_fn found, void *arg);
void matcher_release(struct matcher *m);

/* Add a host, with the next number: 0 or -ENOMEM. */
int matcher_add_host(struct matcher *m);

/* Are packets of this kind matched? */
bool matcher_supports(const struct netsync_packet *p);

/*
 * Add a packet event: 0; -ENOMEM, and then nothing has changed; or what
 * found() failed with, called for what had to make room.
 */
int matcher_add(struct matcher *m, const struct netsync_packet *p);

/* All events of a host before a time were added; INT64_MAX: all, so far. */
int matcher_advance(struct matcher *m, uint32_t host, int64_t time);

/* Hand out the messages that are known by now, and count. */
int matcher_settle(struct matcher *m);

/* ---- between the files of matching ------------------------------------- */

/* Both know the field. */
static inline bool both(const struct sighting *a, const struct sighting *b,
			int field)
{
	return a->fields & b->fields & field;
}

/* A TCP segment that is known to carry data. */
static inline bool has_data(const struct sighting *s)
{
	return s->protocol == TCP && (s->fields & NETSYNC_HAS_LEN) && s->len;
}

/* Can it have been cut into parts, or put together of some? */
static inline bool has_parts(const struct sighting *s)
{
	return s->protocol == UDP || has_data(s);
}

/*
 * Do two sightings agree in what both know, and what neither segmentation nor
 * (if @nat) translation of addresses changes? Translated ones must, beyond
 * that, both know enough to leave no doubt.
 */
bool match_headers(const struct sighting *a, const struct sighting *b, bool nat);

/*
 * May one packet have caused two sightings on one host, if they agree? True
 * for different hosts.
 */
bool match_one_packet(const struct sighting *a, const struct sighting *b);

/* Of one host, on their way in or both on their way out: at other places? */
bool match_other_place(const struct sighting *a, const struct sighting *b);

/* Neither knows what tells a repetition from the first one. */
bool match_weak(const struct sighting *a, const struct sighting *b);

void match_ambiguous(struct matcher *m, struct sighting *s);
void match_used(struct sighting *s, uint32_t peer, bool nat);

/* Learn from a message how far clocks are apart. */
int match_learn(struct matcher *m, const struct sighting *from,
		const struct sighting *to);

/* The same, and hand it out. */
int match_emit(struct matcher *m, const struct sighting *from,
	       const struct sighting *to);

/* Decide all sightings of one's key. */
int match_key(struct matcher *m, struct sighting *s);

/* Must all that can be of the same packet as a sighting have been pushed? */
bool match_is_ready(const struct matcher *m, const struct sighting *s);

/* Decide one that was not found by its key, by the second one. */
int match_second(struct matcher *m, struct sighting *s);

/* Decide one by its first key, or by the parts of packets. */
int match_first(struct matcher *m, struct sighting *s);

/* Learn how far clocks are apart from one's key, if there is no doubt about it. */
int match_sample(struct matcher *m, struct sighting *s);

/* Decide a segment by the bytes that it carries, datagrams by their ids. */
int match_parts(struct matcher *m, struct sighting *s);

/* Can two segments, or bundles of datagrams, be of the same transmission? */
bool match_same_sending(const struct sighting *a, const struct sighting *b, bool nat);

/*
 * Are two of one host that hold the same bytes, or datagrams, of one
 * transmission, seen at different places, such as a socket and a device, cut or
 * put together in between or not?
 */
bool match_same_passage(const struct sighting *a, const struct sighting *b);

/*
 * The same; or are they of two hosts that can be clocks of one machine, which
 * both saw the transmission?
 */
bool match_seen_again(const struct sighting *a, const struct sighting *b);

/* Did a host that sends a segment receive its first byte before? */
bool match_forwarded(const struct matcher *m, const struct sighting *s);

/* Is the first byte of a segment in another, longer one that was sent? */
bool match_inside_other(const struct matcher *m, const struct sighting *s,
			const struct sighting *received);

#endif
