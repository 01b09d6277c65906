/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Make corrected copies of traces that stay on their hosts. The hosts themselves write the copies.
 */
#ifndef NETSYNC_APPLY_REMOTE_H
#define NETSYNC_APPLY_REMOTE_H

#include <stdbool.h>

#include "apply.h"

struct apply_remote {
	const char *netsync; /* program to run on the hosts; NULL to search PATH */
	const char *model;   /* path of the result file on this machine */
	const char *output;  /* output directory on the hosts; NULL to write next to each trace */
	bool metadata_only, extrapolate;
	unsigned int jobs; /* number of jobs; 0 if not given */
	struct apply_part part;
};

/*
 * Copy traces on other hosts. The arguments for these traces have the form [NAME=][USER@]HOST:PATH.
 * Arguments in @traces of any other form are ignored. Return the exit status. Messages name the
 * host.
 */
int apply_remotely(const struct apply_remote *how, char *const *traces, int num);

#endif
