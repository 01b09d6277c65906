/* SPDX-License-Identifier: GPL-2.0-only */
/* Convert random bytes to a script: clocks, and library calls about them. */
#ifndef SELFTESTS_FUZZ_SCRIPT_H
#define SELFTESTS_FUZZ_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <netsync.h>

#define EPOCH INT64_C(1700000000000000000)
#define US INT64_C(1000)
#define MS INT64_C(1000000)
#define SEC INT64_C(1000000000)

/* Chosen: enough for several links, islands, and parts with hosts of their own. */
#define SCRIPT_HOSTS 5
#define SCRIPT_PARTS 3
/* Calls of one script: enough for all kinds, few enough for hundreds of scripts a second. */
#define SCRIPT_CALLS 48

/* A host's clock: an oscillator, a daemon that steers it, and one setting. */
struct true_clock {
	int64_t offset;	 /* ns */
	int64_t raw;	 /* what the raw clock shows at time 0, ns */
	double skew;	 /* of the oscillator: raw time per true time, less 1 */
	double steering; /* the clock's time per raw time, less 1 */
	int64_t set_at;	 /* true time, ns */
	int64_t set_by;	 /* ns; 0: never */
};

enum call_kind {
	CALL_MESSAGES,
	CALL_PACKETS,
	CALL_READINGS,
	CALL_SPAN,
	CALL_ADVANCE,
	CALL_SOLVE,
	CALL_WATCH,
	CALL_LIMIT,
};

/* A call, or several similar ones. */
struct call {
	enum call_kind kind;
	uint32_t part;
	uint32_t host[2];
	int64_t at;    /* true time of the first call, ns */
	int64_t apart; /* interval between calls, ns */
	uint32_t num;
	uint32_t flags; /* depend on the kind, see play.c */
};

struct script {
	struct true_clock clock[SCRIPT_HOSTS];
	struct call call[SCRIPT_CALLS];
	uint32_t num;
	/* Times are arbitrary; otherwise those of the clocks. */
	bool is_wild;
	bool adds_hosts_late; /* each host when it is first used */
	bool solves_parts;    /* before they are saved */
	bool has_readings;
	struct netsync_options options;
};

/*
 * Return true if no part pushes messages of a host before readings of its clock. The
 * order changes how messages count, and another part may have had the readings before.
 */
bool script_reads_first(const struct script *s);

void script_make(struct script *s, const uint8_t *data, size_t size);

/* Return what a host's clock, and its raw clock, show at a true time. */
int64_t script_shown(const struct true_clock *c, int64_t t);
int64_t script_raw(const struct true_clock *c, int64_t t);

/* Return random numbers that depend on @state only (splitmix64). */
uint64_t script_random(uint64_t *state);

#endif
