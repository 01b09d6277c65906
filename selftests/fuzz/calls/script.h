/* SPDX-License-Identifier: GPL-2.0-only */
/* Convert random bytes to a script, which consists of clocks and of library calls about them. */
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

/*
 * Maximum number of hosts. Chosen to allow several links, groups of hosts without links to each
 * other, and parts with different hosts.
 */
#define SCRIPT_HOSTS 5
#define SCRIPT_PARTS 3
/*
 * Maximum number of calls in a script. Chosen to allow calls of all kinds, and to play hundreds of
 * scripts per second.
 */
#define SCRIPT_CALLS 48

/* A host's clock, which consists of an oscillator, a daemon that steers the clock, and one step. */
struct true_clock {
	int64_t offset;	 /* offset at time 0, ns */
	int64_t raw;	 /* reading of the raw clock at time 0, ns */
	double skew;	 /* skew of the oscillator, which is raw time per true time, minus 1 */
	double steering; /* skew by steering, which is the clock's time per raw time, minus 1 */
	int64_t set_at;	 /* true time of the step, ns */
	int64_t set_by;	 /* size of the step, ns; 0 if there is none */
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

/* A call, or several similar calls. */
struct call {
	enum call_kind kind;
	uint32_t part;
	uint32_t host[2];
	int64_t at;    /* true time of the first call, ns */
	int64_t apart; /* interval between calls, ns */
	uint32_t num;
	uint32_t flags; /* flags, whose meaning depends on the kind of call; see play.c */
};

struct script {
	struct true_clock clock[SCRIPT_HOSTS];
	struct call call[SCRIPT_CALLS];
	uint32_t num;
	/* If true, times are arbitrary. If false, times are readings of the simulated clocks. */
	bool is_wild;
	bool adds_hosts_late; /* each host is added when it is first used */
	bool solves_parts;    /* parts are solved before they are saved */
	bool has_readings;
	struct netsync_options options;
};

/*
 * Return true if no part pushes messages of a host before readings of its clock. Otherwise,
 * messages may be counted differently, because another part may already have had the readings.
 */
bool script_has_early_readings(const struct script *s);

void script_make(struct script *s, const uint8_t *data, size_t size);

/* Return the reading of a host's clock, or of its raw clock, at a true time. */
int64_t script_compute_shown(const struct true_clock *c, int64_t t);
int64_t script_compute_raw(const struct true_clock *c, int64_t t);

/* Return a random number that depends only on @state (splitmix64). */
uint64_t script_draw_random(uint64_t *state);

#endif
