/* SPDX-License-Identifier: GPL-2.0-only */
/* Corrected copies of traces that stay on their hosts. The hosts write these copies themselves. */
#ifndef NETSYNC_APPLY_REMOTE_H
#define NETSYNC_APPLY_REMOTE_H

#include <stdbool.h>

#include "apply.h"

struct apply_remote {
	const char *netsync; /* program to run there; NULL to search PATH */
	const char *model;   /* the result file, here */
	const char *output;  /* a directory there; NULL means next to each trace */
	bool metadata_only, extrapolate;
	unsigned int jobs; /* 0 if not given */
	struct apply_part part;
};

/*
 * Copy traces on other hosts. Their arguments are [NAME=][USER@]HOST:PATH; others among the
 * @num arguments are ignored. Return the exit status; problems were reported with the name of
 * the host.
 */
int apply_remotely(const struct apply_remote *how, char *const *traces, int num);

#endif
