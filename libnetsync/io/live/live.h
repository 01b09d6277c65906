/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The interface for io.c to sessions that are still being recorded. */
#ifndef NETSYNC_LIVE_H
#define NETSYNC_LIVE_H

struct live_input;

void live_free(struct live_input *live);

#endif
