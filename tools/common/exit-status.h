/* SPDX-License-Identifier: GPL-2.0-only */
/* Exit statuses of netsync. */
#ifndef NETSYNC_EXIT_STATUS_H
#define NETSYNC_EXIT_STATUS_H

enum {
	EXIT_DONE = 0,
	EXIT_BAD = 1,	  /* usage or input is invalid; nothing was printed */
	EXIT_PARTIAL = 2, /* at least one host could not be corrected */
};

#endif
