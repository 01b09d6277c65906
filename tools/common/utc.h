/* SPDX-License-Identifier: GPL-2.0-only */
/* How far the common time is from UTC, computed from what is known of some hosts' clocks. */
#ifndef NETSYNC_TOOLS_UTC_H
#define NETSYNC_TOOLS_UTC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <netsync-io.h>
#include <netsync.h>

#include "options.h"

/* A bound that the user gives for a host's clock. */
struct utc_argument {
	const char *text; /* HOST=BOUND, as given */
	size_t length;	  /* length of the host's name */
	int64_t within_ns;
};

struct utc_arguments {
	struct utc_argument *argument;
	size_t num;
};

/* The option --utc, which adds to a struct utc_arguments. */
extern const struct option_row utc_options[];

/* The clock that converts the common time to UTC, and what is known of its error. */
struct utc_result {
	struct netsync_clock *clock; /* NULL if UTC is not known */
	const char **hosts;	     /* names of the hosts whose clocks bound UTC */
	size_t num_hosts;
	int64_t offset_ns; /* UTC - common time, in the middle of the reference's traced time */
	/* Bound over the reference's traced time; NETSYNC_UNKNOWN if unknown at a time. */
	int64_t bound_median_ns;
	int64_t bound_max_ns;
};

/*
 * Compute UTC from the arguments, and from the bounds that @io found in files. If an argument cannot be used, print a message and return
 * EXIT_BAD. If UTC cannot be computed, print a warning and return EXIT_PARTIAL. Otherwise, return
 * EXIT_DONE. utc_release() releases the result in all cases.
 */
int utc_compute(struct utc_result *utc, const struct utc_arguments *arguments, struct netsync *ns,
		const struct netsync_io *io);
void utc_release(struct utc_result *utc);

/* Print the line of a table. Print nothing if UTC is not known. */
void utc_print(FILE *out, const struct utc_result *utc, const struct netsync *ns);

#endif
