/* SPDX-License-Identifier: GPL-2.0-only */
/* Make the calls of a script, or of some of its parts. */
#ifndef SELFTESTS_FUZZ_PLAY_H
#define SELFTESTS_FUZZ_PLAY_H

#include "script.h"

struct player {
	const struct script *script;
	struct netsync *ns;
	bool solves; /* also where the script says so in between */
	uint32_t added[SCRIPT_HOSTS]; /* one more than a host's number; 0: not yet */
	/* Of what was refused, with which errors: the same if two objects refused the same. */
	uint64_t refused;
	/* Readings of each host's clock that were taken: before, and since, it was set. */
	uint32_t readings[SCRIPT_HOSTS][2];
	uint64_t seen_packets;
	uint64_t seen_messages;
};

/* Say what is wrong, and abort(). */
void play_fail(const char *what, ...) __attribute__((format(printf, 1, 2), noreturn));

/* Make an object. */
void play_begin(struct player *p, const struct script *s);

/* Make the calls of a part. */
void play_part(struct player *p, uint32_t part);

/* Make those of all parts, one part after the other. */
void play_all(struct player *p);

/* Solve with the options of the script; they may name a host that is not there. */
void play_solve(struct player *p);

#endif
