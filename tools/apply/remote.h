/* SPDX-License-Identifier: GPL-2.0-only */
/* Corrected copies of traces that stay on their hosts, which make these themselves. */
#ifndef NETSYNC_APPLY_REMOTE_H
#define NETSYNC_APPLY_REMOTE_H

#include <stdbool.h>

#include "apply.h"

struct apply_remote {
	const char *netsync;	/* what to run there; NULL: as in their PATH */
	const char *model;	/* the result file, here */
	const char *output;	/* a folder there; NULL: beside each trace */
	bool metadata_only, extrapolate;
	unsigned int jobs;	/* 0: not given */
	struct apply_part part;
};

/*
 * Of @num arguments, those of other hosts are [NAME=][USER@]HOST:PATH; all others are not
 * looked at. Return: exit status; what is wrong was said, with the name of the host.
 */
int apply_remotely(const struct apply_remote *how, char *const *traces, int num);

#endif
