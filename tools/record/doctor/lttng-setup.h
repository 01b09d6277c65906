/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What LTTng's kernel tracer and the probe of netsync for it need on this machine, and the
 * commands that bring the next missing part.
 */
#ifndef NETSYNC_LTTNG_SETUP_H
#define NETSYNC_LTTNG_SETUP_H

#include <stdbool.h>

#include "module.h"

/* Probes of LTTng that are left out at a time; make stops after the first errors. Chosen. */
#define MAX_FAILED_PROBES 4

struct lttng_setup {
	char kernel[65];		/* the running one */
	bool has_apt;			/* apt-get and dpkg are there */
	bool has_headers;		/* of the running kernel */
	bool has_daemon;		/* lttng-sessiond is there */
	struct module tracer;		/* lttng-tracer */
	struct module probe;		/* lttng-probe-netsync */
	/* Version of LTTng's modules whose source is in /usr/src; empty: there is none. */
	char source[32];
	/* dpkg has unpacked lttng-modules-dkms, but could not configure it. */
	bool is_unconfigured;
	/* The last build of LTTng's modules by dkms for the running kernel: */
	bool has_log;
	char error[160];		/* the first error; empty: there was none */
	char failed[MAX_FAILED_PROBES][48];	/* probes that did not compile */
	unsigned int num_failed;
	/* Version of the netsync modules of dkms for the running kernel; empty: none. */
	char netsync[32];
};

void lttng_setup_find(struct lttng_setup *setup);

/* Does the machine lack something that lttng_setup_plan() has commands for? */
bool lttng_setup_is_mendable(const struct lttng_setup *setup);

#define MAX_COMMANDS (2 * MAX_FAILED_PROBES + 2)

/* Commands for a shell of root, and why they are needed: a sentence. */
struct plan {
	char reason[512];
	char commands[MAX_COMMANDS][256];
	unsigned int num;		/* 0: nothing is missing, or nothing is known to help */
};

/* Plan the next step. More may be missing after it. */
void lttng_setup_plan(const struct lttng_setup *setup, struct plan *plan);

/* Where dkms writes what its last build of LTTng's modules printed. */
void lttng_setup_log_path(const struct lttng_setup *setup, char *path, int size);

#endif
