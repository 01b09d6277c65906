/* SPDX-License-Identifier: GPL-2.0-only */
/* Make the calls of a script, or of some of its parts. */
#ifndef SELFTESTS_FUZZ_PLAY_H
#define SELFTESTS_FUZZ_PLAY_H

#include "script.h"

struct player {
	const struct script *script;
	struct netsync *ns;
	bool solves;		      /* also solve between calls if the script requests this */
	uint32_t added[SCRIPT_HOSTS]; /* number of the host + 1; 0 if the host was not added yet */
	/*
	 * Digest of refused calls and their errors. Two objects that refuse the same calls have
	 * equal digests.
	 */
	uint64_t refused;
	/* Number of accepted readings of each host's clock before and after its step. */
	uint32_t readings[SCRIPT_HOSTS][2];
	uint64_t seen_packets;
	uint64_t seen_messages;
};

/* Print the failure, and call abort(). */
void play_fail(const char *what, ...) __attribute__((format(printf, 1, 2), noreturn));

/* Create an object. */
void play_begin(struct player *p, const struct script *s);

/* Make the calls of one part. */
void play_part(struct player *p, uint32_t part);

/* Make the calls of all parts, in order. */
void play_all(struct player *p);

/* Solve with the options of the script, which may name an unknown host. */
void play_solve(struct player *p);

#endif
