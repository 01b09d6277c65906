/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The requirements of LTTng's kernel tracer and of netsync's probe for it on this
 * machine, and the commands that install the next missing part.
 */
#ifndef NETSYNC_LTTNG_SETUP_H
#define NETSYNC_LTTNG_SETUP_H

#include <stdbool.h>

#include "module.h"

/*
 * Maximum number of LTTng's probes that are removed at a time. Chosen; make stops after the
 * first errors.
 */
#define MAX_FAILED_PROBES 4

struct lttng_setup {
	char kernel[65];      /* the running kernel */
	bool has_apt;	      /* apt-get and dpkg are installed */
	bool has_headers;     /* headers of the running kernel are installed */
	bool has_daemon;      /* lttng-sessiond is installed */
	struct module tracer; /* lttng-tracer */
	struct module probe;  /* lttng-probe-netsync */
	/* Version of LTTng's modules whose source is in /usr/src; empty if none. */
	char source[32];
	/* lttng-modules-dkms is unpacked, but dpkg could not configure it. */
	bool is_unconfigured;
	/* The last build of LTTng's modules by dkms for the running kernel. */
	bool has_log;
	char error[160];		    /* the first error; empty if there was none */
	char failed[MAX_FAILED_PROBES][48]; /* probes that did not compile */
	unsigned int num_failed;
	/* Version of dkms's netsync modules for the running kernel; empty if none. */
	char netsync[32];
};

void lttng_setup_find(struct lttng_setup *setup);

/* Does the machine lack something that lttng_setup_plan() can install? */
bool lttng_setup_is_mendable(const struct lttng_setup *setup);

#define MAX_COMMANDS (2 * MAX_FAILED_PROBES + 2)

/* Commands for a root shell, and the reason as a sentence. */
struct plan {
	char reason[512];
	char commands[MAX_COMMANDS][256];
	unsigned int num; /* 0 if nothing is missing, or if no command helps */
};

/* Plan the next step. Further parts may be missing after this step. */
void lttng_setup_plan(const struct lttng_setup *setup, struct plan *plan);

/* Get the path of the log of dkms's last build of LTTng's modules. */
void lttng_setup_log_path(const struct lttng_setup *setup, char *path, int size);

#endif
