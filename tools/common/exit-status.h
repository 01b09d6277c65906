/* SPDX-License-Identifier: GPL-2.0-only */
/* Exit status of the command. */
#ifndef NETSYNC_EXIT_STATUS_H
#define NETSYNC_EXIT_STATUS_H

enum {
	EXIT_DONE = 0,
	EXIT_BAD = 1,	  /* bad usage or input; nothing was printed */
	EXIT_PARTIAL = 2, /* some host could not be corrected */
};

#endif
